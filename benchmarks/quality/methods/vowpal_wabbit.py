"""Vowpal Wabbit: online linear learning with interactions of the inputs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import vowpalwabbit

from benchmarks.machine import version_of
from benchmarks.quality.methods.method import Floats, Method, Peer, peer
from benchmarks.quality.problems import Problem

_MOST_INPUTS_FOR_CUBES = 20  # more would give tens of thousands of triples per row


class VowpalPeer(Peer):
    """Rows are lines of text without the label."""

    def __init__(self, problem: Problem, n_inputs: int) -> None:
        self._n_classes = problem.n_classes
        options = ["--quiet", "--bit_precision 20", "--quadratic ::"]
        if n_inputs <= _MOST_INPUTS_FOR_CUBES:
            options.append("--cubic :::")
        if self._n_classes == 2:
            options.append("--loss_function logistic --link logistic")
        elif self._n_classes > 2:
            options.append(f"--oaa {self._n_classes} --loss_function logistic --probabilities")
        self._learner = vowpalwabbit.Workspace(" ".join(options))
        self.settings = {"version": version_of("vowpalwabbit"), "options": " ".join(options)}

    def rows(self, x: Floats, y: Floats) -> list[str]:
        return ["| " + " ".join(f"x{j}:{value!r}" for j, value in enumerate(row)) for row in x.tolist()]

    def forecast(self, row: str) -> Any:
        prediction = self._learner.predict(row)
        return [1.0 - prediction, prediction] if self._n_classes == 2 else prediction

    def learn(self, row: str, target: float) -> None:
        self._learner.learn(f"{self._label(target)} {row}")

    def _label(self, target: float) -> str:
        if self._n_classes == 0:
            return repr(target)
        if self._n_classes == 2:
            return "1" if target == 1.0 else "-1"
        return str(int(target) + 1)

    def n_bytes(self) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.vw"
            self._learner.save(str(path))
            return path.stat().st_size


VOWPAL: list[Method] = [
    peer(
        "Vowpal Wabbit, crosses",
        "vowpalwabbit",
        regression=VowpalPeer,
        classification=VowpalPeer,
        scale_matters=True,
    )
]
