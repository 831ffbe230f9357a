"""The bank that ``max_active="auto"`` and ``leaf="auto"`` stand for, as rules of the numbers of columns and classes.

Small pools follow fast drift, large ones know more where the world stands still; lines inside a leaf extrapolate where
constants do not; Gaussian classes find oblique boundaries that counts cannot. Nobody knows in advance which of them a
stream needs, so the bank has some of each and weighs them by how well they predict. Many small clouds do better than
few large ones: a fresh start is worth more than as many further particles. ``benchmarks/quality`` measures the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sapwood._options import Leaf, Task

PARTICLES: dict[Task, int] = {"regression": 30, "classification": 20}
POOLS: dict[Task, tuple[int, ...]] = {"regression": (25, 50, 200, 1000, 3000), "classification": (10, 100, 500)}

# Lines in trees of so few points cost little, and in fast drift they are all there is.
_SMALL_POOL = 50
_PARTICLES_OF_A_SMALL_POOL = 2
# In large pools half of the particles lose nothing.
_LARGE_POOL = 500
_LAGGED_NUMBERS: tuple[tuple[Leaf, int], ...] = (("linear", 1000), ("linear", 3000), ("constant", 3000))
# Classes with one covariance, and with one each.
_DISCRIMINANT_POOLS = (25, 100, 500)
_QUADRATIC_POOLS = (100, 150)
# Up to so many class means a leaf, Gaussian classes with one covariance, and with one each, can afford the usual number
# of particles. Beyond, a cloud has as many fewer, but not less than half and a quarter.
_FEW_MEANS = (6, 4)
_ACTIVE_POINTS_PER_CLASS = 50
_LARGEST_POOL = 10_000
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
    stationary : bool
        Whether it takes the world to stand still: nothing fades, trees may be deep, a split is sought in a quarter of
        the columns, and rare classes start with a whole count.
    particles : Fraction
        How many times the usual number of particles it has.
    """

    leaf: Leaf
    pool: int
    lagged: bool = False
    stationary: bool = False
    particles: Fraction = Fraction(1)


def regression(*, lagged: bool) -> list[Cloud]:
    """Lines and constants; with lags there are large clouds of both that see the last targets too."""
    lines = [
        Cloud("linear", pool, particles=Fraction(_PARTICLES_OF_A_SMALL_POOL if pool <= _SMALL_POOL else 1))
        for pool in POOLS["regression"]
    ]
    if not lagged:
        return [*lines, Cloud("constant", 3000)]
    return [*lines, *(Cloud(leaf, pool, lagged=True) for leaf, pool in _LAGGED_NUMBERS)]


def classification(n_inputs: int, n_classes: int, *, lagged: bool) -> list[Cloud]:
    """Counts, and Gaussian classes for as many columns as they can be afforded for."""
    if n_inputs <= _FEW_COLUMNS:
        clouds = [
            Cloud("multinomial", 10),
            Cloud("multinomial", 25 if lagged else 100, lagged=lagged),
            Cloud("multinomial", 500, lagged=lagged, particles=Fraction(1, 2)),
            Cloud("multinomial", 3000, lagged=lagged, particles=Fraction(1, 2)),
            *_gaussian_classes(n_inputs, n_classes),
        ]
    else:
        clouds = [
            Cloud("multinomial", 100),
            Cloud("multinomial", 500, lagged=lagged),
            Cloud("multinomial", 3000),
            *_twice(Cloud("multinomial", 3000, stationary=True)),
        ]
        if n_inputs > _MANY_COLUMNS:
            clouds += [*_twice(Cloud("discriminant", 3000)), *_twice(Cloud("discriminant", 3000, stationary=True))]
    return [replace(cloud, pool=scaled(cloud.pool, n_classes)) for cloud in clouds]


def _twice(cloud: Cloud) -> list[Cloud]:
    """Two clouds with half of the particles each: in so many columns the first splits decide, and each has its own."""
    return [replace(cloud, particles=cloud.particles / 2)] * 2


def _gaussian_classes(n_inputs: int, n_classes: int) -> list[Cloud]:
    """Clouds whose particles follow what a particle costs: the means of its classes, and covariances more than that."""
    n_means = n_inputs * max(n_classes, 2)
    one, each = (Fraction(few, n_means) for few in _FEW_MEANS)
    one, each = _between(0.5, one, 1), _between(0.25, each, 1)
    return [
        *(
            Cloud("discriminant", pool, particles=one / (2 if pool >= _LARGE_POOL else 1))
            for pool in _DISCRIMINANT_POOLS
        ),
        *(Cloud("quadratic", pool, particles=each) for pool in _QUADRATIC_POOLS),
    ]


def _between(low: float, share: Fraction, high: float) -> Fraction:
    return min(max(share, Fraction(low)), Fraction(high))


def scaled(pool: int, n_classes: int) -> int:
    """A pool grown in proportion until one of 500 would hold 50 points of every class: fewer starve the rare ones.

    None grows beyond 10,000.
    """
    largest = POOLS["classification"][-1]
    grown = math.ceil(Fraction(pool * max(largest, _ACTIVE_POINTS_PER_CLASS * n_classes), largest))
    return min(grown, max(pool, _LARGEST_POOL))
