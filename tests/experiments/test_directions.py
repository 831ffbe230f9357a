"""Every experiment in miniature shows what the paper says: directions, never exact numbers.

The runs are seeded, so a test can fail only when the engine's behaviour changes. Each names a fault it would catch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sapwood.reproduce.experiments.parabola import SNAPSHOTS

Miniature = Callable[[str], dict[str, Any]]


def test_retiring_changes_no_prediction(miniature: Miniature) -> None:
    """Catches retired mass that is lost or counted twice."""
    for case in miniature("retirement")["summary"]["cases"].values():
        # What is left is the rounding of sums of 100 terms: some 1e-14 of their size, with room for cancellation.
        assert case["difference"] < 1e-9
        assert case["difference_after_learning"] > 1e-6, "learning on must differ, or nothing was retired"


def test_points_kept_by_alc_gather_at_the_splits(miniature: Miniature) -> None:
    """Catches discarding the largest ALC instead of the smallest, and scores computed in the wrong leaf."""
    summary = miniature("parabola")["summary"]
    nearness = {kind: averages["nearness"] for kind, averages in summary["averages"].items()}
    assert nearness["alc"][-1] < nearness["alc"][0]
    assert nearness["alc"][-1] < nearness["random"][-1]
    assert [len(shot["x"]) for shot in summary["shown"]] == [25] * len(SNAPSHOTS)


def test_retiring_by_alc_beats_random_beats_subsetting(miniature: Miniature) -> None:
    """Catches retirement that forgets, and an active discarding that is no better than chance."""
    table = miniature("friedman")["summary"]["table"]
    for prior in ("paper", "ours"):
        rmse = {name: table[f"linear/{prior}/{name}"]["rmse"][0] for name in ("ORIG", "ORAND", "OALC", "FULL")}
        assert rmse["ORIG"] > rmse["ORAND"] > rmse["OALC"]
        assert rmse["FULL"] < rmse["ORAND"]


def test_more_spam_is_better_than_less(miniature: Miniature) -> None:
    """Catches classification leaves that lose their counts when points retire."""
    table = miniature("spam")["summary"]["table"]
    for prior in ("paper", "ours"):
        probability = {name: table[f"{prior}/{name}"]["probability"][0] for name in ("ORIG", "OENT", "FULL")}
        assert probability["ORIG"] < probability["FULL"]
        assert probability["ORIG"] < probability["OENT"]


def test_fast_drift_wants_more_forgetting_than_slow(miniature: Miniature) -> None:
    """Catches a forgetting factor that is not applied, or applied twice."""
    results = miniature("drift-regression")
    scores, best = results["summary"]["scores"], results["summary"]["best"]
    fast, slow = (best[f"{k}/w=100, 5 a step"] for k in ("1", "0.1"))
    assert fast["log_score"] < slow["log_score"] < 1.0
    assert fast["log_score"] > 0.0
    for k in ("1", "0.1"):
        fixed = max(found["log_score"] for group, found in scores.items() if group.startswith(f"{k}/w="))
        learned = scores[f"{k}/learned"]["log_score"]
        assert learned > fixed - 0.05 * abs(fixed)


def test_only_a_model_that_forgets_becomes_simple_again(miniature: Miniature) -> None:
    """Catches trees that cannot be pruned, and forgetting that never reaches the tree's structure."""
    paths = miniature("height")["summary"]["paths"]
    for setting in ("paper, constant", "ours"):
        for name in ("FULL", "lambda=1", "lambda=0.9"):
            first, middle, _ = paths[f"{setting}/{name}"]["levels"]
            assert middle > first
    _, middle, last = paths["ours/lambda=1"]["levels"]
    assert last > 0.8 * middle
    for group in ("ours/lambda=0.9", "defaults/defaults"):
        _, middle, last = paths[group]["levels"]
        assert last < 0.5 * middle


def test_forgetting_follows_the_rotation(miniature: Miniature) -> None:
    """Catches forgetting that does not act on class counts."""
    scores = miniature("moving-target")["summary"]["scores"]
    assert scores["lambda=0.8"]["auc"] > scores["lambda=1"]["auc"] + 0.02
    assert scores["lambda=0.8"]["auc"] > scores["OLDA-ALR"]["auc"] + 0.02
    assert scores["defaults"]["auc"] > scores["lambda=1"]["auc"] + 0.02


def test_forgetting_follows_the_market(miniature: Miniature) -> None:
    """Catches the positive class taken for the negative one, and forecasts made after the row was learned."""
    scores = miniature("elec2")["summary"]["scores"]
    assert scores["lambda=0.8"]["auc"] > scores["lambda=1"]["auc"] > 0.5
    assert scores["defaults"]["auc"] > scores["lambda=0.8"]["auc"]
    assert all(found["auc"] < 0.999 for found in scores.values())


def test_fraud_is_ranked_above_honesty(miniature: Miniature) -> None:
    """Catches rare classes whose probability is lost. (2000 rows hold too few frauds for anything finer.)"""
    scores = miniature("fraud")["summary"]["scores"]
    assert scores["defaults"]["auc"] > 0.6
    assert scores["OFFLINE"]["auc"] > 0.6
