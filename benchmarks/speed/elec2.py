"""The jobs of the target table on ELEC2: one cloud with the paper's settings, the default bank, and its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.quality.problems import Problem, Unavailable, problem
from benchmarks.speed.measured import Effort, Measured
from benchmarks.speed.timing import best_of
from sapwood import DynamicTreeClassifier
from sapwood._core import Model
from sapwood._fitted import native, new_model
from sapwood.stream import evaluate

_SEED = 0


def elec2_jobs(effort: Effort) -> Iterator[Measured]:
    """All jobs; none, with a message, if the data are missing."""
    try:
        stream = problem("elec2_paper", effort.n_rows)
    except Unavailable as reason:
        print(f"ELEC2: skipped. {reason}")
        return
    yield _paper_cloud(stream, effort.n_runs)
    yield from _default_bank(stream, effort.n_runs)


def _rate(
    name: str, n_rows: int, goals: tuple[float, float, float | None], n_runs: int, work: Callable[[], object]
) -> Measured:
    timing = best_of(n_runs, lambda: None, lambda _: work(), warm_up=False)
    detail = {**timing.as_record(), "rows": n_rows}
    return Measured(name, n_rows / timing.cpu_seconds, "rows/s", *goals, detail)


def _paper_cloud(stream: Problem, n_runs: int) -> Measured:
    def work() -> None:
        model = DynamicTreeClassifier(n_particles=1000, max_active=100, forgetting=0.8, random_state=_SEED)
        new_model(model, stream.X.shape[1], 2, 2).forecast_then_learn(stream.X, stream.y, stream.X, stream.y)

    name = "ELEC2, w=100, lambda=.8, forecast then learn"
    return _rate(name, len(stream), (8_000.0, 20_000.0, 205.0), n_runs, work)


def _default_bank(stream: Problem, n_runs: int) -> Iterator[Measured]:
    labels = stream.y.astype(np.int64)
    learned = DynamicTreeClassifier(random_state=_SEED)

    def work() -> None:
        nonlocal learned
        learned = DynamicTreeClassifier(random_state=_SEED)
        evaluate(learned, (stream.X, labels))

    name = "ELEC2, all defaults, through evaluate"
    yield _rate(name, len(stream), (4_000.0, 12_000.0, None), n_runs, work)
    model = native(learned)
    data = model.save(b"")
    saving = best_of(max(n_runs, 3), lambda: None, lambda _: model.save(b""))
    loading = best_of(max(n_runs, 3), lambda: None, lambda _: Model.load(data))
    yield Measured("ELEC2 default model: save", saving.cpu_seconds, "s", 0.020, None, None, saving.as_record())
    yield Measured("ELEC2 default model: load", loading.cpu_seconds, "s", 0.020, None, None, loading.as_record())
    yield Measured("ELEC2 default model: file", len(data) / 1e6, "MB", 2.0, None, None, {"bytes": len(data)})
