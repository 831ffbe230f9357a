"""The bank that ``max_active="auto"`` and ``leaf="auto"`` stand for, as rules of the numbers of columns and classes.

Small pools follow fast drift, large ones know more where the world stands still; lines inside a leaf extrapolate where
constants do not; Gaussian classes find oblique boundaries that counts cannot. Nobody knows in advance which of them a
stream needs, so the bank has some of each and weighs them by how well they predict. Many small clouds do better than
few large ones: a fresh start is worth more than as many further particles. ``benchmarks/quality`` measures the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Task: TypeAlias = Literal["regression", "classification"]
Leaf: TypeAlias = Literal["linear", "constant", "multinomial", "discriminant", "quadratic"]

PARTICLES: dict[Task, int] = {"regression": 30, "classification": 20}
POOLS: dict[Task, tuple[int, ...]] = {"regression": (25, 50, 200, 1000, 3000), "classification": (10, 100, 500)}

# Lines in trees of so few points cost little, and in fast drift they are all there is.
_SMALL_POOL = 50
_PARTICLES_OF_A_SMALL_POOL = Fraction(3)
# Gaussian classes in large pools cost the most, and half of the particles lose nothing.
_LARGE_POOL = 500
_PARTICLES_OF_LARGE_CLASSES = Fraction(1, 2)
_LAGGED_NUMBERS: tuple[tuple[Leaf, int], ...] = (("linear", 1000), ("linear", 3000), ("constant", 3000))
_ACTIVE_POINTS_PER_CLASS = 50
# Full covariances cost the square of the number of columns, and say little where there are many.
_FEW_COLUMNS = 10
_MANY_COLUMNS = 20


@dataclass(frozen=True)
class Cloud:
    """One cloud of the bank.

    Attributes
    ----------
    leaf : {"linear", "constant", "multinomial", "discriminant", "quadratic"}
    pool : int
        Size of the active pool.
    lagged : bool
        Whether it also sees the last targets.
    steady : bool
        Whether it takes the world to stand still: nothing fades, trees may be deep, a split is sought in a quarter of
        the columns, and rare classes start with a whole count.
    """

    leaf: Leaf
    pool: int
    lagged: bool = False
    steady: bool = False

    @property
    def particles(self) -> Fraction:
        """How many times the usual number of particles it has."""
        if self.leaf == "linear" and self.pool <= _SMALL_POOL:
            return _PARTICLES_OF_A_SMALL_POOL
        if self.leaf == "discriminant" and self.pool >= _LARGE_POOL:
            return _PARTICLES_OF_LARGE_CLASSES
        return Fraction(1)


def regression(*, lagged: bool) -> list[Cloud]:
    """Lines and constants; with lags there are large clouds of both that see the last targets too."""
    clouds = [*(Cloud("linear", pool) for pool in POOLS["regression"]), Cloud("constant", 3000)]
    if lagged:
        clouds += [Cloud(leaf, pool, lagged=True) for leaf, pool in _LAGGED_NUMBERS]
    return clouds


def classification(n_inputs: int, n_classes: int, *, lagged: bool) -> list[Cloud]:
    """Counts, and Gaussian classes for as many columns as they can be afforded for."""
    if n_inputs <= _FEW_COLUMNS:
        clouds = [
            Cloud("multinomial", 10),
            *(Cloud("multinomial", pool, lagged=lagged) for pool in ((25, 500) if lagged else (100, 500))),
            Cloud("discriminant", 25),
            Cloud("discriminant", 100),
            Cloud("discriminant", 500),
            Cloud("quadratic", 150),
        ]
    else:
        clouds = [
            Cloud("multinomial", 100),
            Cloud("multinomial", 500, lagged=lagged),
            Cloud("multinomial", 3000),
            Cloud("multinomial", 3000, steady=True),
        ]
        if n_inputs > _MANY_COLUMNS:
            clouds += [Cloud("discriminant", 3000), Cloud("discriminant", 3000, steady=True)]
    return [Cloud(cloud.leaf, scaled(cloud.pool, n_classes), cloud.lagged, cloud.steady) for cloud in clouds]


def scaled(pool: int, n_classes: int) -> int:
    """A pool grown in proportion until one of 500 would hold 50 points of every class: fewer starve the rare ones."""
    largest = POOLS["classification"][-1]
    return math.ceil(Fraction(pool * max(largest, _ACTIVE_POINTS_PER_CLASS * n_classes), largest))
