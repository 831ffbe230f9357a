"""Runs experiments in shared processes, and writes the results of each as soon as its last job is done."""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter

from sapwood import __version__
from sapwood.reproduce._experiment import Experiment, Record, Scale
from sapwood.reproduce._journal import Journal
from sapwood.reproduce.experiments import EXPERIMENTS

Say = Callable[[str], None]


@dataclass
class _Run:
    """A running experiment."""

    experiment: Experiment
    scale: Scale
    folder: Path
    settings: Record = field(init=False)
    pending: dict[str, Record] = field(init=False)
    journal: Journal = field(init=False)
    n_jobs: int = field(init=False)

    def __post_init__(self) -> None:
        self.settings = self.experiment.scales[self.scale]
        identity = {"version": __version__, "scale": self.scale, "settings": self.settings}
        self.journal = Journal(self.folder / f"journal-{self.scale}.jsonl", json.loads(json.dumps(identity)))
        jobs = self.experiment.jobs(self.settings)
        self.pending = {key: arguments for key, arguments in jobs.items() if key not in self.journal.records}
        self.n_jobs = len(jobs)


def run(
    experiments: Iterable[Experiment],
    scale: Scale,
    folder: Path,
    *,
    n_processes: int = 2,
    data_home: Path | None = None,
    say: Say = print,
) -> dict[str, str]:
    """Run experiments and write ``folder/NAME/`` for each.

    Parameters
    ----------
    experiments : iterable of Experiment
    scale : {"miniature", "quick", "full"}
    folder : Path
        Each experiment gets a subfolder.
    n_processes : int
        1 runs the jobs in this process.
    data_home : Path, optional
        Folder of the real data sets (see :func:`sapwood.datasets.load`).
    say : callable
        Receives progress messages, one line at a time.

    Returns
    -------
    dict
        Experiments that could not run because data are missing, with the message.
    """
    runs = [_Run(experiment, scale, folder / experiment.name) for experiment in experiments]
    runs.sort(key=lambda run: -run.experiment.longest_job_seconds)
    n_jobs = sum(run.n_jobs for run in runs)
    n_done = n_jobs - sum(len(run.pending) for run in runs)
    say(f"{n_jobs} jobs" + (f", {n_done} of them already done by an interrupted run" if n_done else ""))
    for run in runs:
        if not run.pending:
            _write_up(run)
    absent: dict[str, str] = {}
    began = perf_counter()
    for run, key, outcome in _outcomes(runs, n_processes, data_home):
        n_done += 1
        if isinstance(outcome, FileNotFoundError):
            absent[run.experiment.name] = str(outcome)
            continue
        del run.pending[key]
        run.journal.add(key, outcome)
        say(f"[{n_done}/{n_jobs}, {perf_counter() - began:.0f} s] {run.experiment.name}: {key}")
        if not run.pending:
            _write_up(run)
    for run in runs:
        if run.experiment.name in absent:
            run.journal.close()
    return absent


Outcome = Record | FileNotFoundError


def _outcomes(runs: list[_Run], n_processes: int, data_home: Path | None) -> Iterator[tuple[_Run, str, Outcome]]:
    pending = [(run, key, arguments) for run in runs for key, arguments in run.pending.items()]
    if n_processes == 1:
        for run, key, arguments in pending:
            yield run, key, _outcome(run.experiment.name, arguments, data_home)
        return
    with _processes(n_processes) as pool:
        futures: dict[Future[Outcome], tuple[_Run, str]] = {
            pool.submit(_outcome, run.experiment.name, arguments, data_home): (run, key)
            for run, key, arguments in pending
        }
        for future in as_completed(futures):
            yield (*futures[future], future.result())


@contextmanager
def _processes(n: int) -> Iterator[ProcessPoolExecutor]:
    # Spawned rather than forked: a fork of a process with native threads may hang.
    pool = ProcessPoolExecutor(n, mp_context=multiprocessing.get_context("spawn"), initializer=_one_thread)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _one_thread() -> None:
    """Limit linear algebra to one thread: the matrices are small, and the processes would compete for cores."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threadpool_limits(1)


def _outcome(name: str, arguments: Record, data_home: Path | None) -> Outcome:
    try:
        return EXPERIMENTS[name].run(arguments, data_home)
    except FileNotFoundError as error:
        return error


def _write_up(run: _Run) -> None:
    """Write the results of an experiment, and remove its journal."""
    experiment, records = run.experiment, run.journal.records
    paper = experiment.paper()
    summary = experiment.summarise(run.settings, records)
    results = {
        "experiment": experiment.name,
        "command": f"sapwood reproduce {experiment.name} --{run.scale}",
        "date": datetime.now(timezone.utc).date().isoformat(),
        "version": __version__,
        "seed": run.settings["seed"],
        "settings": run.settings,
        "summary": summary,
        "runs": {key: _scalars(record) for key, record in sorted(records.items())},
    }
    write_json(run.folder / f"results-{run.scale}.json", results)
    write_json(run.folder / "paper.json", paper)
    run.journal.close()


def _scalars(record: Record) -> Record:
    """The scalars that a job measured; curves are in the summary."""
    return {name: value for name, value in record.items() if not isinstance(value, (list, dict))}


def write_json(path: Path, content: Record) -> None:
    """Write readable, diff-friendly JSON: lists of numbers stay on one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = re.sub(
        r"\[[^\[\]{}]*\]", lambda found: " ".join(found.group().split()), json.dumps(_rounded(content), indent=1)
    )
    path.write_text(text + "\n", encoding="utf-8")


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value
