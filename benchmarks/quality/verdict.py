"""A measured number beside its target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Target:
    """The range for a number: at least ``low`` and at most ``high``, where given."""

    low: float | None = None
    high: float | None = None

    def met(self, value: float) -> bool:
        """Whether a value reaches the target."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        return f">= {self.low:g}" if self.low is not None else f"<= {self.high:g}"


@dataclass(frozen=True)
class Verdict:
    """One line of a report: what was measured, the value for each seed, and the target."""

    what: str
    values: tuple[float, ...]
    target: Target

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def standard_error(self) -> float:
        n = len(self.values)
        return float(np.std(self.values, ddof=1) / np.sqrt(n)) if n > 1 else 0.0

    @property
    def passed(self) -> bool:
        return self.target.met(self.mean)

    def __str__(self) -> str:
        error = f" ± {self.standard_error:.3f}" if len(self.values) > 1 else ""
        mark = "pass" if self.passed else "FAIL"
        return f"{mark}  {self.what:62}{self.mean:8.3f}{error:9}  target {self.target}"

    def as_record(self) -> dict[str, Any]:
        """The verdict in the form in which it is stored."""
        return {
            "what": self.what,
            "mean": round(self.mean, 5),
            "standard_error": round(self.standard_error, 5),
            "values": [round(value, 5) for value in self.values],
            "target": asdict(self.target),
            "passed": self.passed,
        }


def verdict(what: str, values: Iterable[float], *, low: float | None = None, high: float | None = None) -> Verdict:
    """Compare the mean of values with a target."""
    return Verdict(what, tuple(float(value) for value in values), Target(low, high))
