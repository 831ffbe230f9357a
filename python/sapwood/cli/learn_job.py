"""What ``sapwood learn`` does after parsing its options."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._base import DynamicTreeEstimator
from sapwood._options import Task
from sapwood._text import visible
from sapwood.cli import model_file, summary
from sapwood.cli.failures import SIGNALLED, usage_error
from sapwood.cli.progress import Watcher, watcher
from sapwood.prequential.files.checkpoint import Checkpoint
from sapwood.prequential.files.lock import locked
from sapwood.prequential.files.printed import PrintedPredictions
from sapwood.prequential.files.writing import WriteError, writing
from sapwood.prequential.run import LIVE_SECONDS
from sapwood.prequential.settings import FileSettings
from sapwood.reading.paths import check_paths
from sapwood.stream import EvaluationResult, Progress, Source, StopRequest, evaluate, open_source

_KEPT_PREDICTIONS = 10_000  # for the report's pictures
_CHECKPOINT_EVERY = 10_000


@dataclass(frozen=True)
class Job:
    """The parsed options of ``sapwood learn``, not yet checked against each other."""

    source: str
    target: str | None
    task: Task | None
    source_options: dict[str, Any]
    max_rows: int | None
    parameters: dict[str, Any]
    lags: Any
    label_delay: int
    labels: str | None
    key: str | None
    metrics: list[str] | None
    warm_up: int
    window: int
    save: Path | None
    predictions: Path | None
    printed: PrintedPredictions | None
    report: Path | None
    pictures: Path | None
    checkpoint: Path | None
    checkpoint_every: int | None
    resume: bool

    @property
    def checkpoint_path(self) -> Path | None:
        """Where checkpoints go: by default beside the model or the predictions, if either is written."""
        beside = self.save or self.predictions
        return self.checkpoint or (None if beside is None else beside.with_name(beside.name + ".checkpoint"))

    def written(self) -> dict[str, Path]:
        """Return the outputs of the job and their paths."""
        asked = {
            "model": self.save,
            "predictions": self.predictions,
            "report": self.report,
            "pictures": self.pictures,
        }
        return {what: path for what, path in asked.items() if path is not None}

    def check(self) -> None:
        """Refuse incompatible options, with exit code 2."""
        if self.target is None and not self.source.startswith("demo:"):
            raise usage_error("name the column to predict with --target.", "--target")
        if (self.resume or self.checkpoint_every is not None) and self.checkpoint_path is None:
            raise usage_error("say where with --checkpoint FILE, --save MODEL or --predictions FILE.", "--checkpoint")
        if self.labels is not None and self.task is None:
            raise usage_error("with --labels, say regression or classification.", "--task")

    def check_places(self) -> None:
        """Fail now, rather than after hours of learning, if an output cannot be written or would overwrite a file."""
        files = FileSettings(self.predictions, self.checkpoint_path, 1, self.resume)
        written = {"model": self.save, **files.written(), "report": self.report}
        quarantine = self.source_options["quarantine"]
        check_paths({"source": self.source, "labels": self.labels}, {**written, "quarantine file": quarantine})
        for path in (self.save, self.predictions, self.report, self.checkpoint_path):
            if path is not None and not path.absolute().parent.is_dir():
                raise FileNotFoundError(2, "the folder does not exist", os.fspath(path))
            if path is not None and path.is_dir():
                raise IsADirectoryError(21, "is a folder, not a file", os.fspath(path))
            if path is not None and not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
                raise WriteError(13, "permission denied", os.fspath(path))
        self._check_pictures()

    def _check_pictures(self) -> None:
        folder = self.pictures
        if folder is not None and not folder.is_dir():
            if folder.exists():
                raise NotADirectoryError(20, "is a file, not a folder", os.fspath(folder))
            if not folder.absolute().parent.is_dir():
                raise FileNotFoundError(2, "the folder that would contain it does not exist", os.fspath(folder))
        for option, wanted, packages in (
            ("--report", self.report, ("matplotlib", "jinja2")),
            ("--pictures", self.pictures, ("matplotlib",)),
        ):
            for package in packages:
                if wanted is not None and find_spec(package) is None:
                    raise ValueError(f"{option} needs {package}, which is not installed: pip install 'sapwood[plot]'")


def learn_stream(job: Job, *, json: bool, quiet: bool) -> None:
    """Run the job, write its outputs and print a summary."""
    job.check_places()
    # `evaluate` locks the other outputs.
    with StopRequest() as stop, locked([job.save, job.report, job.source_options["quarantine"]]):
        before = Checkpoint.read(job.checkpoint_path) if job.resume and job.checkpoint_path is not None else None
        if before is not None:
            _tell_of_resuming(before, quiet=quiet)
        with stop.reading():
            source = _open(job, before)
        with source:
            result = _run(job, source, stop, quiet=quiet)
            _write(job, result)
    if json:
        summary.print_json(result, job)
    elif not quiet:
        summary.print_table(result, job, stderr=job.printed is not None)
    if stop.signal is not None:
        summary.print_how_to_resume(result, job.checkpoint_path)
        raise typer.Exit(SIGNALLED + stop.signal)


def _open(job: Job, before: Checkpoint | None) -> Source:
    return open_source(
        job.source,
        target=job.key if job.labels is not None else job.target,
        task=None if job.labels is not None else job.task,
        max_rows=job.max_rows,
        resume=None if before is None else before.source,
        key=None if job.labels is not None else job.key,
        **job.source_options,
    )


def _run(job: Job, source: Source, stop: StopRequest, *, quiet: bool) -> EvaluationResult:
    task = job.task or source.task_hint
    if task is None and job.labels is None:
        raise ValueError(
            f"{job.source}: the first targets do not show whether they are classes or quantities; say which with "
            "task='classification' or 'regression'"
        )
    estimator = DynamicTreeRegressor if task == "regression" else DynamicTreeClassifier
    model = estimator(**job.parameters)
    with watcher(quiet=quiet) as watch:
        progress: Callable[[Progress], None] = watch
        if source.is_live:
            _tell(source.notes, quiet=quiet)
            progress = _Saving(job, model, watch)
        return evaluate(
            model,
            source,
            job.metrics,
            target=job.target,
            delay=job.label_delay,
            labels=job.labels,
            key=job.key,
            warm_up=job.warm_up,
            window=job.window,
            lags=job.lags,
            keep=_KEPT_PREDICTIONS,
            predictions=job.printed or job.predictions,
            checkpoint=job.checkpoint_path,
            checkpoint_every=job.checkpoint_every or _CHECKPOINT_EVERY,
            resume=job.resume,
            settings={"source": job.source, **job.source_options},
            progress=progress,
            stop=stop,
        )


class _Saving:
    """Saves the model of a feed at intervals, since the feed may never end, and passes progress on."""

    def __init__(self, job: Job, model: DynamicTreeEstimator, watch: Watcher) -> None:
        self._job, self._model, self._watch = job, model, watch
        self._n_rows, self._next = 0, 0.0

    def __call__(self, progress: Progress) -> None:
        if self._job.save is not None and progress.n_rows > self._n_rows and progress.seconds >= self._next:
            model_file.save(self._job.save, self._model)
            self._n_rows, self._next = progress.n_rows, progress.seconds + LIVE_SECONDS
        self._watch(progress)


def _tell_of_resuming(before: Checkpoint, *, quiet: bool) -> None:
    """Say why nothing is learned for a while: a large source takes minutes to be read again."""
    n_rows = before.source.get("position")
    if not quiet and isinstance(n_rows, int):
        text = f"resuming: the first {n_rows:,} rows are read again, to check that the source is the same"
        typer.echo(text, err=True)


def _tell(notes: list[str], *, quiet: bool) -> None:
    for note in [] if quiet else notes:
        typer.echo(f"note: {visible(note)}", err=True)


def _write(job: Job, result: EvaluationResult) -> None:
    if job.save is not None:
        model_file.save(job.save, result.model)
    if job.report is not None:
        from sapwood.report import write_report

        with writing(job.report):
            write_report(job.report, result, model_path=job.save)
    if job.pictures is not None:
        from sapwood.report import write_pictures

        with writing(job.pictures):
            write_pictures(job.pictures, result)
