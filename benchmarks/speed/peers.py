"""Peers beside Sapwood on ELEC2, in the same run: rate and log loss."""

from __future__ import annotations

from typing import Any

from benchmarks.quality.methods import Method, available
from benchmarks.quality.problems import Absent, problem
from benchmarks.quality.scores import scores

NAMES = (
    "Sapwood",
    "river ARF(10)",
    "river SRP(10)",
    "river LeveragingBagging(10)",
    "river AMF(10)",
    "CapyMOA ARF(100)",
)


def compare(n_rows: int) -> list[dict[str, Any]]:
    """Each method once over the first rows of ELEC2, forecast then learned; ratios are to Sapwood's rate."""
    try:
        stream = problem("elec2_paper", n_rows)
    except Absent as reason:
        print(f"peers on ELEC2: left out. {reason}")
        return []
    methods: dict[str, Method] = {method.name: method for method in [*available(), *_only_here()]}
    lines: list[dict[str, Any]] = []
    for name in NAMES:
        if name not in methods:
            print(f"{name}: not installed, left out")
            continue
        run = methods[name].run(stream, "raw")
        rate = len(stream) / run.cpu_seconds
        ours = lines[0]["rows_per_cpu_second"] if lines else rate
        lines.append(
            {
                "method": name,
                "sapwood_is_faster_by": round(ours / rate, 2),
                "rows_per_cpu_second": round(rate),
                "log_loss": round(scores(run.forecast)["log_loss"], 4),
                "settings": run.settings,
            }
        )
        print(
            f"{name:30} Sapwood is {ours / rate:7.2f} times as fast   {rate:8,.0f} rows/s   "
            f"log loss {lines[-1]['log_loss']:.4f}",
            flush=True,
        )
    return lines


def _only_here() -> list[Method]:
    """River's SRP is slow and was not asked for in the quality suite."""
    try:
        from river import ensemble
    except ModuleNotFoundError:
        return []
    from benchmarks.quality.methods.method import SEED, peer
    from benchmarks.quality.methods.rivers import RiverPeer

    return [
        peer(
            "river SRP(10)",
            "river",
            classification=lambda stream, n_inputs: RiverPeer(ensemble.SRPClassifier(n_models=10, seed=SEED), 2),
        )
    ]
