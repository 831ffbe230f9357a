"""Rate and log loss of Sapwood and its peers on ELEC2, measured in the same run."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.machine import version_of
from benchmarks.quality.inputs import RAW
from benchmarks.quality.methods import Method, available
from benchmarks.quality.methods.method import SEED, Floats, Peer, peer
from benchmarks.quality.problems import Problem, Unavailable, problem
from benchmarks.quality.scores import scores

NAMES = (
    "Sapwood",
    "scikit-learn SGD, logistic",
    "scikit-learn naive Bayes",
    "river ARF(10)",
    "river SRP(10)",
    "river LeveragingBagging(10)",
    "river AMF(10)",
    "CapyMOA ARF(100)",
)


def compare(n_rows: int, names: tuple[str, ...] = NAMES) -> list[dict[str, Any]]:
    """Run each method once over the first rows of ELEC2, test-then-train; ratios are relative to Sapwood's rate.

    Rates are per second of processor time, summed over all threads of a library; rates by wall-clock time are stored
    as well.
    """
    try:
        stream = problem("elec2_paper", n_rows)
    except Unavailable as reason:
        print(f"peers on ELEC2: skipped. {reason}")
        return []
    methods: dict[str, Method] = {method.name: method for method in [*available(), *_only_here()]}
    lines: list[dict[str, Any]] = []
    for name in names:
        if name not in methods:
            print(f"{name}: not installed, skipped")
            continue
        lines.append(_line(methods[name], stream, lines[0] if lines else None))
    return lines


def _line(method: Method, stream: Problem, ours: dict[str, Any] | None) -> dict[str, Any]:
    run = method.run(stream, RAW)
    rate = len(stream) / run.cpu_seconds
    ratio = 1.0 if ours is None else ours["rows_per_cpu_second"] / rate
    line = {
        "method": method.name,
        "sapwood_times_as_fast": round(ratio, 3),
        "rows_per_cpu_second": round(rate, 1),
        "rows_per_second": round(len(stream) / run.seconds, 1),
        "log_loss": round(scores(run.forecast)["log_loss"], 4),
        "rows": len(stream),
        "settings": run.settings,
    }
    print(
        f"{method.name:30} Sapwood is {ratio:7.2f} times as fast   {rate:8,.0f} rows/s   "
        f"log loss {line['log_loss']:.4f}   ({len(stream):,} rows)",
        flush=True,
    )
    return line


class PartialFitPeer(Peer):
    """A scikit-learn classifier, one row at a time."""

    def __init__(self, model: Any, n_classes: int) -> None:
        self._model = model
        self._classes = np.arange(n_classes)
        self._learned = False
        self.settings = {"version": version_of("scikit-learn"), "model": " ".join(repr(model).split())}

    def rows(self, x: Floats, y: Floats) -> list[Floats]:
        return list(x[:, np.newaxis, :])

    def forecast(self, row: Floats) -> Any:
        if not self._learned:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the variance of a single row is zero
            return self._model.predict_proba(row)[0]

    def learn(self, row: Floats, target: float) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            self._model.partial_fit(row, [int(target)], classes=self._classes)
        self._learned = True

    def n_bytes(self) -> int | None:
        return None


def _only_here() -> list[Method]:
    """Peers that the quality suite leaves out: river's SRP, which is slow, and scikit-learn's online classifiers."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB

    methods = [
        peer(
            "scikit-learn SGD, logistic",
            "scikit-learn",
            classification=lambda stream, n_inputs: PartialFitPeer(
                SGDClassifier(loss="log_loss", random_state=SEED), stream.n_classes
            ),
        ),
        peer(
            "scikit-learn naive Bayes",
            "scikit-learn",
            classification=lambda stream, n_inputs: PartialFitPeer(GaussianNB(), stream.n_classes),
        ),
    ]
    try:
        from river import ensemble
    except ModuleNotFoundError:
        return methods
    from benchmarks.quality.methods.river import RiverPeer

    srp = peer(
        "river SRP(10)",
        "river",
        classification=lambda stream, n_inputs: RiverPeer(
            ensemble.SRPClassifier(n_models=10, seed=SEED), stream.n_classes
        ),
    )
    return [*methods, srp]
