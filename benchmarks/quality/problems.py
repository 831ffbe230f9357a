"""The streams of the suite, each as a problem that every method receives in the same form."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import REPOSITORY
from sapwood import datasets

Floats = NDArray[np.float64]

ROWS = 20_000
SCORED_FROM = 200


class Unavailable(Exception):
    """A stream cannot be created: its file or its generator is missing."""


@dataclass(frozen=True, eq=False)
class Problem:
    """One stream, ready for test-then-train.

    Attributes
    ----------
    name : str
    X : array of shape (n, p)
        Inputs; text columns are integer codes in order of first appearance.
    y : array of shape (n,)
        Standardised targets (mean 0, standard deviation 1), or class indices 0, 1, ...
    n_classes : int
        0 for regression. Every method knows the number of classes in advance.
    lagged : bool
        Whether rows are in time order, so that the last target may help to predict the next.
    """

    name: str
    X: Floats
    y: Floats
    n_classes: int
    lagged: bool

    @property
    def is_regression(self) -> bool:
        return self.n_classes == 0

    def __len__(self) -> int:
        return len(self.y)

    def first(self, n_rows: int) -> Problem:
        """The first rows of the same stream."""
        return replace(self, X=self.X[:n_rows], y=self.y[:n_rows])


def data_folder() -> Path:
    """``$SAPWOOD_DATA``, or the folder ``shared/data`` beside the repository."""
    named = os.environ.get("SAPWOOD_DATA")
    return Path(named) if named else REPOSITORY.parent / "shared" / "data"


def problem(name: str, n_rows: int | None = None) -> Problem:
    """The stream called ``name``, truncated to ``n_rows`` if given."""
    made = SUITE[name](name)
    return made if n_rows is None else made.first(n_rows)


def _prepared(name: str, stream: datasets.Stream, n_rows: int, *, lagged: bool) -> Problem:
    x = np.ascontiguousarray(stream.X[:n_rows], dtype=np.float64)
    target = stream.y[:n_rows]
    if stream.task == "regression":
        # Centred as well: several peers start at zero and would spend much of the stream finding the level.
        return Problem(name, x, (target - np.mean(target)) / np.std(target), 0, lagged)
    classes, codes = np.unique(target, return_inverse=True)
    return Problem(name, x, codes.astype(np.float64), len(classes), lagged)


def _file(*, lagged: bool, n_rows: int = ROWS) -> Callable[[str], Problem]:
    return lambda name: _prepared(name, _load(name), n_rows, lagged=lagged)


def _load(name: str) -> datasets.Stream:
    try:
        return datasets.load(name, data_folder())
    except FileNotFoundError as error:
        raise Unavailable(str(error)) from error


def _shuffled_spambase(name: str) -> Problem:
    stream = _load("spambase")
    order = np.random.default_rng(0).permutation(len(stream))
    return _prepared(name, replace(stream, X=stream.X[order], y=stream.y[order]), ROWS, lagged=False)


def _rotating_xor(name: str) -> Problem:
    return _prepared(name, datasets.moving_target(n=10_000, seed=3000), ROWS, lagged=False)


def _hyperplane(name: str) -> Problem:
    try:
        from river.datasets import synth
    except ModuleNotFoundError as error:
        raise Unavailable("the hyperplane stream needs river, which is not installed") from error
    generator = synth.Hyperplane(seed=42, n_features=10, n_drift_features=5, mag_change=0.001, noise_percentage=0.05)
    rows = list(generator.take(10_000))
    x = np.array([list(inputs.values()) for inputs, _ in rows], dtype=np.float64)
    return Problem(name, x, np.array([float(label) for _, label in rows]), 2, lagged=False)


def _drifting_friedman(k: float) -> Callable[[str], Problem]:
    return lambda name: _prepared(name, datasets.drifting_friedman(n=10_000, k=k, seed=0), ROWS, lagged=False)


SUITE: dict[str, Callable[[str], Problem]] = {
    "bike_hour": _file(lagged=True),
    "metro_traffic": _file(lagged=True),
    "ccpp": _file(lagged=False),
    "kin8nm": _file(lagged=False),
    "friedman_fast": _drifting_friedman(1.0),
    "friedman_slow": _drifting_friedman(0.1),
    "elec2_paper": _file(lagged=True, n_rows=27_552),
    "elec2_full": _file(lagged=True),
    "occupancy": _file(lagged=True),
    "powersupply": _file(lagged=True),
    "rotating_xor": _rotating_xor,
    "hyperplane": _hyperplane,
    "fraud_handbook_sim": _file(lagged=True),
    "spambase": _shuffled_spambase,
}
