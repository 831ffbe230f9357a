"""The bank that ``max_active="auto"`` and ``leaf="auto"`` stand for, as rules of the numbers of columns and classes.

Small pools follow fast drift; large ones are more accurate on stationary streams. Linear leaves extrapolate, constant
ones do not. Gaussian classes represent oblique boundaries, counts do not. Which of them a stream needs is not known in
advance, so the bank has some of each and weights them by their predictions. Many small clouds do better than a few
large ones with as many particles, since each cloud starts afresh. ``benchmarks/quality`` measures the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sapwood._options import Leaf, Task

PARTICLES: dict[Task, int] = {"regression": 30, "classification": 20}
POOLS: dict[Task, tuple[int, ...]] = {"regression": (25, 50, 200, 1000, 3000), "classification": (10, 100, 500)}

# Linear leaves of few points are cheap, and under fast drift nothing else helps.
_SMALL_POOL = 50
_PARTICLES_OF_A_SMALL_POOL = 2
# Large pools lose nothing with half of the particles.
_LARGE_POOL = 500
_LAGGED_NUMBERS: tuple[tuple[Leaf, int], ...] = (("linear", 1000), ("linear", 3000), ("constant", 3000))
# Classes with a common covariance, and with one each.
_DISCRIMINANT_POOLS = (25, 100, 500)
_QUADRATIC_POOLS = (100, 150)
# The largest numbers of class means per leaf for which clouds of Gaussian classes (with a common covariance, and with
# one each) can afford the usual number of particles. Beyond, that number is reduced in proportion, to at least a half
# and a quarter.
_FEW_MEANS = (6, 4)
_ACTIVE_POINTS_PER_CLASS = 50
_LARGEST_POOL = 10_000
# The cost of full covariances is quadratic in the number of columns, and with many columns they are poorly estimated.
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
        Whether it is meant for stationary streams: it forgets nothing, trees may be deep, a quarter of the columns are
        candidates for a split, and classes have a prior count of 1.
    particles : Fraction
        Its number of particles, as a multiple of the usual number.
    any_row_only : bool
        Whether it forecasts rows at any distance only: it stands there for clouds that see the last targets.
    """

    leaf: Leaf
    pool: int
    lagged: bool = False
    stationary: bool = False
    particles: Fraction = Fraction(1)
    any_row_only: bool = False


def regression(*, lagged: bool) -> list[Cloud]:
    """Return clouds with linear and constant leaves; with lags, also large clouds of both that see the last targets."""
    lines = [
        Cloud("linear", pool, particles=Fraction(_PARTICLES_OF_A_SMALL_POOL if pool <= _SMALL_POOL else 1))
        for pool in POOLS["regression"]
    ]
    if not lagged:
        return [*lines, Cloud("constant", 3000)]
    with_lags = (Cloud(leaf, pool, lagged=True) for leaf, pool in _LAGGED_NUMBERS)
    return [*lines, *with_lags, Cloud("constant", 3000, any_row_only=True)]


def classification(n_inputs: int, n_classes: int, *, lagged: bool) -> list[Cloud]:
    """Return clouds with multinomial leaves and, depending on the number of columns, with Gaussian classes."""
    if n_inputs <= _FEW_COLUMNS:
        clouds = [
            Cloud("multinomial", 10),
            Cloud("multinomial", 25 if lagged else 100, lagged=lagged),
            Cloud("multinomial", 500, lagged=lagged, particles=Fraction(1, 2)),
            Cloud("multinomial", 3000, lagged=lagged, particles=Fraction(1, 2)),
            *_gaussian_classes(n_inputs, n_classes),
        ]
        if lagged:
            clouds += [
                Cloud("multinomial", pool, particles=Fraction(1, 2), any_row_only=True) for pool in (_LARGE_POOL, 3000)
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
    """Return two clouds with half of the particles each: with many columns the first splits are decisive."""
    return [replace(cloud, particles=cloud.particles / 2)] * 2


def _gaussian_classes(n_inputs: int, n_classes: int) -> list[Cloud]:
    """Return clouds with fewer particles the more one costs, which depends on its class means and covariances."""
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
    """Scale the size of a pool so that one of 500 would have room for 50 points per class; at most 10,000."""
    largest = POOLS["classification"][-1]
    grown = math.ceil(Fraction(pool * max(largest, _ACTIVE_POINTS_PER_CLASS * n_classes), largest))
    return min(grown, max(pool, _LARGEST_POOL))
