"""One row of the table of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Effort:
    """How much to measure.

    Attributes
    ----------
    n_runs : int
        Number of runs, of which the best counts.
    n_rows : int
        Rows of ELEC2.
    n_long : int
        Rows of the curve over time.
    quick : bool
        Whether to check only that everything runs: few steps, few sizes.
    """

    n_runs: int
    n_rows: int
    n_long: int
    quick: bool = False

    def steps(self, n: int) -> int:
        """``n`` steps, or a few if quick."""
        return max(20, n // 50) if self.quick else n

    def some(self, sizes: list[int]) -> list[int]:
        """These sizes, or the smallest two if quick."""
        return sizes[:2] if self.quick else sizes


@dataclass(frozen=True)
class Measured:
    """One row of the table. ``value`` and the targets are in ``unit``.

    ``r_package`` is the value for the R package dynaTree 1.2-17 on the same work and the same kind of machine.
    """

    job: str
    value: float
    unit: str
    target: float | None
    stretch: float | None
    r_package: float | None
    detail: dict[str, Any]

    @property
    def more_is_better(self) -> bool:
        return self.unit in ("rows/s", "times")

    @property
    def ratio_to_r(self) -> float | None:
        """How many times faster than the R package."""
        if self.r_package is None:
            return None
        return self.value / self.r_package if self.more_is_better else self.r_package / self.value

    def reached(self, goal: float | None) -> bool | None:
        """Whether a goal was reached; None if there is no goal."""
        if goal is None:
            return None
        return self.value >= goal if self.more_is_better else self.value <= goal

    @property
    def verdict(self) -> str:
        """The highest goal that was reached; empty if there is no goal."""
        if self.target is None:
            return ""
        return "stretch" if self.reached(self.stretch) else "reached" if self.reached(self.target) else "missed"

    def as_record(self) -> dict[str, Any]:
        """The row in the form in which it is stored."""
        return {
            "job": self.job,
            "ratio_to_r_package": self.ratio_to_r,
            "value": self.value,
            "unit": self.unit,
            "target": self.target,
            "stretch": self.stretch,
            "r_package": self.r_package,
            "reached": self.reached(self.target),
            "detail": self.detail,
        }
