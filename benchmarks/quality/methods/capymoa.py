"""CapyMOA's learners (Java) with their own defaults, except for the ensemble sizes given in their names."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import jpype
from capymoa.classifier import AdaptiveRandomForestClassifier, LeveragingBagging, StreamingRandomPatches
from capymoa.core import LabeledInstance, RegressionInstance
from capymoa.core.io import save_model
from capymoa.regressor import AdaptiveRandomForestRegressor, StreamingGradientBoostedRegression
from capymoa.stream import Schema

from benchmarks.machine import version_of
from benchmarks.quality.methods.method import Floats, Method, Peer, peer
from benchmarks.quality.problems import Problem

_SEED = 1  # CapyMOA's own default


class CapyPeer(Peer):
    """A CapyMOA learner: rows are instances of a schema."""

    def __init__(self, make: Callable[..., Any], problem: Problem, n_inputs: int, **settings: Any) -> None:
        self._is_regression = problem.is_regression
        names = [f"x{j}" for j in range(n_inputs)]
        labels = None if self._is_regression else {"y": [str(label) for label in range(problem.n_classes)]}
        self._schema = Schema.from_custom([*names, "y"], target="y", categories=labels, name=problem.name)
        self._learner = make(self._schema, random_seed=_SEED, **settings)
        self.settings = {
            "version": version_of("capymoa"),
            "model": make.__name__,
            "random_seed": _SEED,
            **settings,
        }

    def rows(self, x: Floats, y: Floats) -> list[Any]:
        if self._is_regression:
            return [RegressionInstance.from_array(self._schema, row, target) for row, target in zip(x, y, strict=True)]
        return [LabeledInstance.from_array(self._schema, row, int(label)) for row, label in zip(x, y, strict=True)]

    def forecast(self, row: Any) -> Any:
        return self._learner.predict(row) if self._is_regression else self._learner.predict_proba(row)

    def learn(self, row: Any, target: float) -> None:
        self._learner.train(row)

    def n_bytes(self) -> int | None:
        saved = io.BytesIO()
        try:
            save_model(self._learner, saved)
        except jpype.JException as error:
            if "NotSerializable" in str(error):
                return None
            raise
        return len(saved.getvalue())


def _start(make: Callable[..., Any], **settings: Any) -> Callable[[Problem, int], Peer]:
    return lambda problem, n_inputs: CapyPeer(make, problem, n_inputs, **settings)


CAPYMOA: list[Method] = [
    peer(
        f"CapyMOA ARF({size})",
        "capymoa",
        regression=_start(AdaptiveRandomForestRegressor, ensemble_size=size),
        classification=_start(AdaptiveRandomForestClassifier, ensemble_size=size),
    )
    for size in (10, 100)
] + [
    peer("CapyMOA SGBR", "capymoa", regression=_start(StreamingGradientBoostedRegression)),
    peer("CapyMOA LeveragingBagging(10)", "capymoa", classification=_start(LeveragingBagging, ensemble_size=10)),
    peer("CapyMOA SRP(10)", "capymoa", classification=_start(StreamingRandomPatches, ensemble_size=10)),
    peer("CapyMOA SRP(100)", "capymoa", classification=_start(StreamingRandomPatches, ensemble_size=100)),
]
