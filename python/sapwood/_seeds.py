"""From scikit-learn's ``random_state`` and ``n_jobs`` to what the engine takes: a 64-bit seed, a number of threads."""

from __future__ import annotations

import os
from typing import TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from sapwood import errors
from sapwood._numbers import is_whole

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None

_SEED_LIMIT = 2**64


def seed_from(random_state: RandomState) -> int:
    """An integer is the seed itself; a generator is used to draw one, and None numpy's global state."""
    if is_whole(random_state):
        if not 0 <= random_state < _SEED_LIMIT:
            raise errors.make("out-of-range", name="random_state", value=random_state, allowed="from 0 to 2**64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, _SEED_LIMIT, dtype=np.uint64))
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(0, _SEED_LIMIT, dtype=np.uint64))
    raise errors.make(
        "out-of-range",
        name="random_state",
        value=random_state,
        allowed="None, a whole number, a numpy Generator or a numpy RandomState",
    )


def threads_from(n_jobs: int | None) -> int:
    """None is one thread, -1 all cores that this process may use, -2 all but one, and so on."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0:
        raise errors.make("out-of-range", name="n_jobs", value=n_jobs, allowed="None or a whole number other than 0")
    return int(n_jobs) if n_jobs > 0 else max(1, _cores() + 1 + int(n_jobs))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
