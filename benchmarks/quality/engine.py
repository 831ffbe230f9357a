"""The engine against its targets: the paper's comparison, drift, no drift, ELEC2."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine
from benchmarks.quality import results
from benchmarks.quality.methods.ours import forecast_then_learn, start
from benchmarks.quality.problems import SCORED_FROM, Problem, Unavailable, problem
from benchmarks.quality.scores import scores
from benchmarks.quality.verdict import Verdict, verdict
from sapwood import DynamicTreeRegressor
from sapwood.datasets import Stream, drifting_friedman, friedman
from sapwood.metrics import coverage90, log_score, rmse

Floats = NDArray[np.float64]

N_PARTICLES = 1000
N_TRAIN = 2000
POOL = 200

# The paper's four estimators (its figure 2): how many points each keeps active, and which it discards.
ESTIMATORS: dict[str, dict[str, Any]] = {
    "ORIG": {"max_active": None},  # only the first 200 rows
    "ORAND": {"max_active": POOL, "discard": "random", "forgetting": 1.0},
    "OALC": {"max_active": POOL, "discard": "alc", "forgetting": 1.0},
    "FULL": {"max_active": None},
}


def paper_comparison(seeds: Iterable[int]) -> Iterator[Verdict]:
    """RMSE against the truth on 1000 new rows, after learning 2000 (ORIG: 200) rows of Friedman's function."""
    error = {name: [_error(name, seed) for seed in seeds] for name in ESTIMATORS}
    for name, most in {"FULL": 0.60, "OALC": 0.72, "ORAND": 0.85}.items():
        yield verdict(f"Friedman, {name}: RMSE against the truth", error[name], high=most)
    for worse, better in (("ORIG", "ORAND"), ("ORAND", "OALC")):
        gap = np.subtract(error[worse], error[better])
        yield verdict(f"Friedman, {worse} worse than {better}: difference in RMSE", gap, low=0.0)


def _error(name: str, seed: int) -> float:
    stream = friedman(n=N_TRAIN + 1000, seed=seed)
    assert stream.truth is not None
    n_learned = POOL if name == "ORIG" else N_TRAIN
    model = DynamicTreeRegressor(leaf="linear", n_particles=N_PARTICLES, random_state=seed, **ESTIMATORS[name])
    model.fit(stream.X[:n_learned], stream.y[:n_learned])
    return rmse(stream.truth[N_TRAIN:], model.predict(stream.X[N_TRAIN:]))


def drift(seeds: Iterable[int]) -> Iterator[Verdict]:
    """All defaults on Friedman's function with a drifting interaction, 5000 rows, y not standardised."""
    for speed, k, least in (("fast", 1.0, -2.52), ("slow", 0.1, -2.10)):
        values = [_log_score(drifting_friedman(n=5000, k=k, seed=seed), seed) for seed in seeds]
        yield verdict(f"{speed} drift (k = {k:g}), all defaults: log score", values, low=least)


def no_drift(seeds: Iterable[int]) -> Iterator[Verdict]:
    """The cost of learning the forgetting factor where nothing drifts, and the coverage of the intervals there."""
    streams = {seed: friedman(n=N_TRAIN, seed=seed) for seed in seeds}
    learned = [_log_score(stream, seed) for seed, stream in streams.items()]
    # The discard rule is given because forgetting=1 alone would select another bank.
    fixed = [_log_score(stream, seed, forgetting=1.0, discard="oldest") for seed, stream in streams.items()]
    yield verdict(
        "no drift: log score of all defaults minus that of lambda = 1", np.subtract(learned, fixed), low=-0.03
    )
    yield verdict("no drift: coverage of 90 % intervals", map(_coverage, streams), low=0.88, high=0.92)


def _coverage(seed: int) -> float:
    stream = friedman(n=N_TRAIN + 1000, seed=seed)
    model = DynamicTreeRegressor(random_state=seed).fit(stream.X[:N_TRAIN], stream.y[:N_TRAIN])
    return coverage90(stream.y[N_TRAIN:], *model.predict_dist(stream.X[N_TRAIN:]).interval(0.9))


def _log_score(stream: Stream, seed: int, **parameters: Any) -> float:
    task = Problem(stream.description, stream.X, stream.y, 0, lagged=False)
    model = start(task, seed, **parameters)
    ln_density = model.forecast_then_learn(task.X, task.y, task.X, task.y).ln_density
    return log_score(ln_density[SCORED_FROM:])


def elec2(seeds: Iterable[int]) -> Iterator[Verdict]:
    """All defaults on the paper's ELEC2, test-then-train."""
    try:
        stream = problem("elec2_paper")
    except Unavailable as reason:
        print(f"ELEC2: skipped. {reason}")
        return
    settings: tuple[tuple[str, dict[str, Any]], ...] = (("all defaults", {}), ("lags=0", {"lags": 0}))
    for which, parameters in settings:
        got = scores(forecast_then_learn(stream, start(stream, **parameters)))
        yield verdict(f"ELEC2, {which}: accuracy", [got["accuracy"]], low=0.885)
        yield verdict(f"ELEC2, {which}: AUC", [got["auc"]], low=0.94)
        yield verdict(f"ELEC2, {which}: log loss", [got["log_loss"]], high=0.30)


PARTS: dict[str, Callable[[Iterable[int]], Iterator[Verdict]]] = {
    "paper": paper_comparison,
    "drift": drift,
    "no-drift": no_drift,
    "elec2": elec2,
}


def report(n_seeds: int, parts: Iterable[str]) -> bool:
    """Measure, print and store the given parts; return whether every target was reached."""
    path = results.FOLDER / "engine.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    passed = True
    for part in parts:
        verdicts = []
        for line in PARTS[part](range(n_seeds)):
            print(line, flush=True)
            verdicts.append(line.as_record())
            passed &= line.passed
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        content[part] = {"seeds": n_seeds, "verdicts": verdicts, "machine": machine.facts()}
        path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return passed
