"""The settings of an evaluation: checked in one place, and recorded so that a checkpoint can compare them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sapwood._base import DynamicTreeEstimator
from sapwood._files import _plain_param
from sapwood._options import Task
from sapwood.metrics import CLASSIFICATION_METRICS, METRICS, REGRESSION_METRICS
from sapwood.prequential.files.checkpoint import checkpoint_paths
from sapwood.prequential.files.predictions import predictions_paths
from sapwood.prequential.files.printed import PrintedPredictions
from sapwood.reading.errors import SourceError
from sapwood.reading.paths import check_paths
from sapwood.reading.source import Source

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class SourceSettings:
    """What to read: a `Source`, or the arguments of `open_source`."""

    spec: Any
    options: Mapping[str, Any]
    max_rows: int | None


@dataclass(frozen=True)
class LabelSettings:
    """Which column is the target, which source holds it (None: the main source), and how late labels arrive."""

    target: str | None
    spec: Any
    key: str | None
    delay: int
    wait: int

    @property
    def are_late(self) -> bool:
        """Whether a row is forecast before the label of the row before it is known."""
        return self.delay > 0 or self.spec is not None or self.key is not None


@dataclass(frozen=True)
class ScoreSettings:
    """What to score, and how much of it the result keeps."""

    metrics: tuple[str, ...]
    warm_up: int
    window: int
    keep: int | None

    @property
    def need_crps(self) -> bool:
        """Whether a metric needs the CRPS of every row, which is expensive."""
        return any(METRICS[name].needs == "crps" for name in self.metrics)

    @property
    def spacing(self) -> int:
        """Rows between two entries of the run's history, until that is thinned."""
        return max(1, self.window // 2)


@dataclass(frozen=True)
class FileSettings:
    """What to write, and whether to resume from it."""

    predictions: FilePath | PrintedPredictions | None
    checkpoint: FilePath | None
    checkpoint_every: int
    resume: bool

    @property
    def predictions_path(self) -> FilePath | None:
        """The file of predictions; None if they are printed or not wanted."""
        return None if isinstance(self.predictions, PrintedPredictions) else self.predictions

    def written(self) -> dict[str, Path]:
        """Return the files that a run writes, by role, including those it makes itself beside them."""
        return {
            **({} if self.predictions_path is None else predictions_paths(Path(self.predictions_path))),
            **({} if self.checkpoint is None else checkpoint_paths(Path(self.checkpoint))),
        }


@dataclass(frozen=True)
class Settings:
    """The arguments of `evaluate` except the model, in groups. `extra` is what the caller wants recorded with them."""

    task: Task
    source: SourceSettings
    labels: LabelSettings
    scores: ScoreSettings
    files: FileSettings
    extra: Mapping[str, Any]

    def check(self, model: Any) -> None:
        """Raise ValueError if a setting is out of range or does not suit the model."""
        for name, given, minimum in (
            ("delay", self.labels.delay, 0),
            ("warm_up", self.scores.warm_up, 0),
            ("window", self.scores.window, 1),
            ("label_wait", self.labels.wait, 0),
            ("checkpoint_every", self.files.checkpoint_every, 1),
            ("keep", self.scores.keep, 0),
        ):
            if given is not None and given < minimum:
                raise ValueError(f"{name} is {given}; it must be at least {minimum}")
        if self.files.resume and self.files.checkpoint is None:
            raise ValueError("resume is True, but there is no checkpoint to resume from; name it with checkpoint=")
        spec = self.source.spec
        if isinstance(spec, Source) and self.labels.spec is None and self.labels.key != spec.key:
            raise ValueError(f"key is {self.labels.key!r}, but the source was opened with key={spec.key!r}; give both")
        if self.files.checkpoint is not None and not isinstance(model, DynamicTreeEstimator):
            raise ValueError("a checkpoint can only be made of a Sapwood model; leave checkpoint out")

    def check_paths(self) -> None:
        """Raise SourceError if a file would be written over another one of this run."""
        spec = self.source.spec
        sources = {"source": spec.files if isinstance(spec, Source) else spec, "labels": self.labels.spec}
        check_paths(sources, {**self.files.written(), "quarantine file": self.source.options.get("quarantine")})

    def locked_paths(self) -> list[FilePath | None]:
        """Return the files that no other run may write at the same time."""
        return [self.files.predictions_path, self.files.checkpoint, self.source.options.get("quarantine")]

    def record(self, model: Any) -> dict[str, Any]:
        """Return everything that must not change when a run is resumed, as JSON values."""
        return {
            "task": self.task,
            "model": _parameters_of(model),
            "source": _json_value(self.source.spec),
            "target": self.labels.target,
            "source_options": {name: _json_value(value) for name, value in self.source.options.items()},
            "labels": _json_value(self.labels.spec),
            "key": self.labels.key,
            "metrics": list(self.scores.metrics),
            "delay": self.labels.delay,
            "label_wait": self.labels.wait,
            "warm_up": self.scores.warm_up,
            "window": self.scores.window,
            "keep": self.scores.keep,
            "predictions": _json_value(self.files.predictions_path),
            **self.extra,
        }


def choose_metrics(names: Iterable[str] | None, task: Task, model: Any) -> tuple[str, ...]:
    """Return the requested metrics, checked; None means all that apply to the model."""
    of_task = CLASSIFICATION_METRICS if task == "classification" else REGRESSION_METRICS
    if names is None:
        has_mean_only = task == "regression" and not isinstance(model, DynamicTreeEstimator)
        return tuple(name for name, metric in of_task.items() if metric.needs == "mean" or not has_mean_only)
    chosen = tuple(names)
    for name in chosen:
        if name not in of_task:
            problem = "there is no such metric" if name not in METRICS else f"it does not apply to {task}"
            raise ValueError(f"metrics contains {name!r}: {problem}; choose from {', '.join(of_task)}")
    return chosen


def check_unchanged(recorded: Mapping[str, Any], now: Mapping[str, Any], path: str) -> None:
    """Refuse to resume with other settings: the result would match neither."""
    for name, new in now.items():
        old = recorded.get(name)
        pairs = (
            {f"{name} {inner}": (old.get(inner), new[inner]) for inner in new}
            if isinstance(old, dict) and isinstance(new, dict)
            else None
        )
        for what, (before, after) in (pairs or {name: (old, new)}).items():
            if before != after:
                raise SourceError(
                    f"{path}: was made with {what.replace('_', ' ')} {before!r}, but this run has {after!r}; use the "
                    "same settings, or start again without resuming",
                    file=path,
                )


def _parameters_of(model: Any) -> dict[str, Any]:
    """Return a model's parameters except ``n_jobs``, which does not affect results."""
    if not isinstance(model, DynamicTreeEstimator):
        return {"class": type(model).__name__}
    parameters = model.get_params(deep=False)
    return {name: _plain_param(value) for name, value in parameters.items() if name != "n_jobs"}


def _json_value(value: Any) -> Any:
    """Return a setting as JSON will give it back; other objects are recorded by type only."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return list(value)
    if isinstance(value, Mapping):
        return {str(name): _json_value(item) for name, item in value.items()}
    return f"<{type(value).__name__}>"  # cannot be confused with a file or column name
