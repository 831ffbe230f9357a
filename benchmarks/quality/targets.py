"""Targets of the defaults on each stream, and remarks where a peer leads."""

from __future__ import annotations

from benchmarks.quality.verdict import Target

COVERAGE = Target(0.88, 0.95)
RATE = Target(low=3000.0)  # rows per second on one thread, for at most MOST_INPUTS_FOR_RATE inputs
MOST_INPUTS_FOR_RATE = 10

TARGETS: dict[str, dict[str, Target]] = {
    "bike_hour": {"log_score": Target(low=0.42), "rmse": Target(high=0.26), "coverage90": COVERAGE},
    "metro_traffic": {"log_score": Target(low=0.48), "rmse": Target(high=0.23), "coverage90": COVERAGE},
    "ccpp": {"log_score": Target(low=0.12), "rmse": Target(high=0.230), "coverage90": COVERAGE},
    "kin8nm": {"log_score": Target(low=-0.79), "rmse": Target(high=0.55), "coverage90": COVERAGE},
    "friedman_fast": {"coverage90": COVERAGE},
    "friedman_slow": {"coverage90": COVERAGE},
    "elec2_paper": {
        "accuracy": Target(low=0.902),
        "auc": Target(low=0.954),
        "log_loss": Target(high=0.265),
        "rows_per_cpu_second": Target(low=4000.0),
    },
    "elec2_full": {"log_loss": Target(high=0.178)},
    "occupancy": {"log_loss": Target(high=0.031)},
    "powersupply": {"log_loss": Target(high=2.37)},
    "rotating_xor": {"log_loss": Target(high=0.395), "accuracy": Target(low=0.832)},
    "hyperplane": {"log_loss": Target(high=0.30)},
    "fraud_handbook_sim": {"auc": Target(low=0.81), "log_loss": Target(high=0.024)},
    "spambase": {"log_loss": Target(high=0.235), "accuracy": Target(low=0.92)},
}

# What was tried where a peer leads; printed below the table of the stream.
TRIED: dict[str, str] = {}
