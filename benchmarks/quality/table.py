"""Stored results as tables: each method in its best form, sorted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.quality.inputs import LAST
from benchmarks.quality.methods.ours import POINT_SUFFIX
from benchmarks.quality.scores import MAIN
from sapwood.metrics._registry import METRIC_INFO

OURS = "Sapwood"

_COLUMNS = {
    True: ("log_score", "crps", "rmse", "coverage90", "width90"),
    False: ("log_loss", "accuracy", "auc", "brier", "ece"),
}
COLUMNS: dict[bool, dict[str, str]] = {
    is_regression: {name: METRIC_INFO[name].short for name in names} for is_regression, names in _COLUMNS.items()
}


@dataclass(frozen=True)
class StreamTable:
    """The results of one stream, best first. ``rows`` has one result per method, in its best form."""

    stream: str
    is_regression: bool
    rows: list[dict[str, Any]]
    failed: list[dict[str, Any]]

    @property
    def main(self) -> str:
        return MAIN[self.is_regression]

    @property
    def ours(self) -> dict[str, Any] | None:
        return next((row for row in self.rows if row["method"] == OURS), None)

    def best_peer(self, score: str) -> dict[str, Any] | None:
        """The best of the others by one score; our mean with its residual distribution counts as one of them."""
        others = [row for row in self.rows if not is_ours(row) and row["scores"][score] is not None]
        return min(others, key=lambda row: loss(row, score), default=None)


def is_ours(row: dict[str, Any]) -> bool:
    """Whether a result scores Sapwood's own predictive distribution."""
    return row["library"] == "sapwood" and not row["method"].endswith(POINT_SUFFIX)


def loss(row: dict[str, Any], score: str) -> float:
    """A score, negated if greater is better; infinite and undefined scores come last."""
    value = row["scores"][score]
    if value is None:
        return float("inf")
    return -float(value) if METRIC_INFO[score].metric.greater_is_better else float(value)


def tables(results: Iterable[dict[str, Any]], order: Iterable[str]) -> list[StreamTable]:
    """One table per stream that has results."""
    by_stream: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        by_stream.setdefault(result["stream"], []).append(result)
    return [_table(name, by_stream[name]) for name in order if name in by_stream]


def _table(stream: str, results: list[dict[str, Any]]) -> StreamTable:
    is_regression = results[0]["task"] == "regression"
    best: dict[str, dict[str, Any]] = {}
    done = [result for result in results if "failed" not in result]
    for result in done:
        standing = best.get(result["method"])
        if standing is None or _rank(result, MAIN[is_regression]) < _rank(standing, MAIN[is_regression]):
            best[result["method"]] = result
    rows = sorted(best.values(), key=lambda row: loss(row, MAIN[is_regression]))
    failed = [result for result in results if "failed" in result and result["method"] not in best]
    return StreamTable(stream, is_regression, rows, failed)


def _rank(result: dict[str, Any], score: str) -> tuple[float, bool]:
    """Orders the forms of one method: by loss, and the form with the last target first where two are equal."""
    return loss(result, score), not result["inputs"].endswith(LAST)
