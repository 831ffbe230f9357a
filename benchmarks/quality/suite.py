"""Run methods over streams, skipping what is already stored."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from benchmarks.quality import results
from benchmarks.quality.methods import Method, available
from benchmarks.quality.methods.ours import POINT_SUFFIX, point_only
from benchmarks.quality.problems import SUITE, Problem, Unavailable, problem


def chosen(only: Collection[str]) -> list[Method]:
    """Methods whose group ("ours", "peers", a library) or name is in ``only``; all of them if it is empty."""
    return [method for method in available() if not only or _groups(method) & set(only)]


def _groups(method: Method) -> set[str]:
    return {"ours" if method.library == "sapwood" else "peers", method.library, method.name}


def run(streams: Collection[str], methods: list[Method], *, force: bool, n_rows: int | None) -> None:
    """Run and store what is missing, or everything with ``force``; with ``n_rows`` print only."""
    problems = dict(_problems(streams, n_rows))
    for method in methods:
        for stream in problems.values():
            if method.suits(stream):
                _run_one(stream, method, force=force, keep=n_rows is None)


def _problems(streams: Collection[str], n_rows: int | None) -> Iterator[tuple[str, Problem]]:
    for name in streams or SUITE:
        try:
            yield name, problem(name, n_rows)
        except Unavailable as reason:
            print(f"{name}: skipped. {reason}")


def _run_one(stream: Problem, method: Method, *, force: bool, keep: bool) -> None:
    for form in method.forms_for(stream):
        key = results.Key(stream.name, method.name, form)
        if keep and not force and key.is_stored():
            continue
        try:
            done = method.run(stream, form)
        except Exception as error:
            # A signal that Python survives shuts the Java virtual machine down: end the run, this is not a result.
            if method.library == "sapwood" or type(error).__name__ == "JVMNotRunning":
                raise
            # A peer that fails on a stream is a result, not a fault of the suite.
            print(f"{stream.name:20}{method.name:32}{form:18} FAILED: {error}", flush=True)
            if keep:
                results.store(key, results.failure(stream, method, form, error))
            continue
        runs = {method.name: done}
        if method.library == "sapwood" and stream.is_regression:
            runs[method.name + POINT_SUFFIX] = point_only(done)
        for name, result in runs.items():
            _print(stream, name, form, results.record(stream, method, name, form, result))
            if keep:
                key = results.Key(stream.name, name, form)
                results.store(key, results.record(stream, method, name, form, result))


def _print(stream: Problem, name: str, form: str, content: dict[str, object]) -> None:
    line = "  ".join(f"{score} {value}" for score, value in dict(content["scores"]).items())  # type: ignore[call-overload]
    print(f"{stream.name:20}{name:32}{form:18} {content['rows_per_cpu_second']:>7} rows/s  {line}", flush=True)
