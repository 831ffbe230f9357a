"""River's learners with their own defaults."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from river import ensemble, forest, linear_model, neighbors, tree

from benchmarks.machine import version_of
from benchmarks.quality.methods.method import SEED, Floats, Method, Peer, peer
from benchmarks.quality.problems import Problem


class RiverPeer(Peer):
    """A river estimator: rows are dicts."""

    def __init__(self, model: Any, n_classes: int) -> None:
        self._model = model
        self._n_classes = n_classes
        self.settings = {"version": version_of("river"), "model": " ".join(repr(model).split())}

    def rows(self, x: Floats, y: Floats) -> list[dict[int, float]]:
        return [dict(enumerate(row)) for row in x.tolist()]

    def forecast(self, row: dict[int, float]) -> Any:
        if self._n_classes == 0:
            return self._model.predict_one(row)
        proba = self._model.predict_proba_one(row)
        return [proba.get(label, 0.0) for label in range(self._n_classes)]

    def learn(self, row: dict[int, float], target: float) -> None:
        self._model.learn_one(row, target if self._n_classes == 0 else int(target))

    def n_bytes(self) -> int:
        return len(pickle.dumps(self._model))


def _start(make: Callable[[], Any]) -> Callable[[Problem, int], Peer]:
    return lambda problem, n_inputs: RiverPeer(make(), problem.n_classes)


def _window(size: int) -> neighbors.LazySearch:
    return neighbors.LazySearch(window_size=size)


def _logistic(problem: Problem, n_inputs: int) -> Peer:
    two = problem.n_classes == 2
    return RiverPeer(linear_model.LogisticRegression() if two else linear_model.SoftmaxRegression(), problem.n_classes)


RIVER: list[Method] = [
    peer("river linear", "river", regression=_start(linear_model.LinearRegression), scale_matters=True),
    peer("river logistic", "river", classification=_logistic, scale_matters=True),
    peer(
        "river HAT",
        "river",
        regression=_start(lambda: tree.HoeffdingAdaptiveTreeRegressor(seed=SEED)),
        classification=_start(lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=SEED)),
    ),
    peer(
        "river kNN(20, last 100)",
        "river",
        regression=_start(lambda: neighbors.KNNRegressor(n_neighbors=20, engine=_window(100))),
        classification=_start(lambda: neighbors.KNNClassifier(n_neighbors=20, engine=_window(100))),
        scale_matters=True,
    ),
    peer(
        "river ARF(10)",
        "river",
        regression=_start(lambda: forest.ARFRegressor(n_models=10, seed=SEED)),
        classification=_start(lambda: forest.ARFClassifier(n_models=10, seed=SEED)),
    ),
    peer(
        "river AMF(10)",
        "river",
        regression=_start(lambda: forest.AMFRegressor(n_estimators=10, seed=SEED)),
        classification=_start(lambda: forest.AMFClassifier(n_estimators=10, seed=SEED)),
    ),
    peer(
        "river LeveragingBagging(10)",
        "river",
        classification=_start(
            lambda: ensemble.LeveragingBaggingClassifier(tree.HoeffdingTreeClassifier(), n_models=10, seed=SEED)
        ),
    ),
    peer(
        "river kNN(5, last 1000)",
        "river",
        regression=_start(lambda: neighbors.KNNRegressor(n_neighbors=5, engine=_window(1000))),
        classification=_start(lambda: neighbors.KNNClassifier(n_neighbors=5, engine=_window(1000))),
        scale_matters=True,
    ),
]
