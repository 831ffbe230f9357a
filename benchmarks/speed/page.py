"""Fills the tables of docs/performance.md, between the comments that name them, from the stored results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import REPOSITORY
from benchmarks.speed.instructions import BUDGET

PAGE = REPOSITORY / "docs" / "performance.md"
PICTURE = REPOSITORY / "docs" / "img" / "scaling.png"
RESULTS = Path(__file__).parent / "results"
_ABSENT = "–"


def write() -> Path:
    """Write the tables into the page, and return the path of the page."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return PAGE


def filled(text: str) -> str:
    """The text of a page with every table replaced.

    Raises
    ------
    ValueError
        If the page does not have exactly one place for a table.
    """
    tables = {
        "jobs": _jobs(_read("jobs"), _read("jobs-epyc")),
        "threads": _threads(_stored("threads")),
        "peers": _peers(_stored("peers")),
        "sizes": _sizes(json.loads(BUDGET.read_text(encoding="utf-8"))),
        "profile": _profile(_stored("profile")),
    }
    for name, lines in tables.items():
        table = "\n".join(lines)
        text, n_places = re.subn(
            f"(?<=<!-- {name} -->\n).*?(?=\n<!-- /{name} -->)", lambda _, table=table: table, text, flags=re.DOTALL
        )
        if n_places != 1:
            raise ValueError(f"the page has {n_places} places for the table of {name}; it must have exactly one")
    return text


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _stored(part: str) -> Any:
    return _read(part)[part]


def _jobs(now: dict[str, Any], elsewhere: dict[str, Any]) -> Iterator[str]:
    """The latest measurements, beside those of an earlier engine on another processor."""
    others = {job["job"]: job for job in elsewhere["jobs"]}
    yield f"| job | R package | target | stretch | {_where(now)} | | {_where(elsewhere)} | |"
    yield "|---|---|---|---|---|---|---|---|"
    for job in now["jobs"]:
        unit = job["unit"]
        goals = (_quantity(job[what], unit) for what in ("r_package", "target", "stretch"))
        measured = (f"{_measured(one)} | {_verdict(one)}" for one in (job, others[job["job"]]))
        yield f"| {job['job']} | {' | '.join(goals)} | {' | '.join(measured)} |"


def _where(results: dict[str, Any]) -> str:
    machine = results["machine"]
    n_runs = max(job["detail"].get("n_runs", 0) for job in results["jobs"])
    return f"{machine['processor'].replace('(R)', '')}, {machine['date'][:10]}, best of {n_runs}"


def _measured(job: dict[str, Any]) -> str:
    ratio = job["ratio_to_r_package"]
    times = "" if ratio is None else f"; {ratio:.0f} times R"
    return f"{_quantity(job['value'], job['unit'])}{_spread(job)}{times}"


def _spread(job: dict[str, Any]) -> str:
    seeds = job["detail"].get("seeds")
    if seeds is None:
        return ""
    times = [timing["cpu_seconds"] for timing in seeds.values()]
    return f" ({_quantity(min(times), 's')} to {_quantity(max(times), 's')})"


def _verdict(job: dict[str, Any]) -> str:
    return {True: "reached", False: "**missed**", None: ""}[job["reached"]]


def _threads(jobs: list[dict[str, Any]]) -> Iterator[str]:
    yield "| | target | measured | |"
    yield "|---|---|---|---|"
    for job in jobs:
        yield f"| {job['job']} | {job['target']:g} | {job['value']:.2f} | {_verdict(job)} |"


def _peers(methods: list[dict[str, Any]]) -> Iterator[str]:
    yield "| method | rows/s | Sapwood is | log loss |"
    yield "|---|---|---|---|"
    for method in methods:
        ratio = method["sapwood_times_as_fast"]
        faster = _ABSENT if method["method"] == "Sapwood" else f"{ratio:.1f} times as fast"
        yield f"| {method['method']} | {method['rows_per_cpu_second']:,.0f} | {faster} | {method['log_loss']:.3f} |"


def _sizes(budget: dict[str, Any]) -> Iterator[str]:
    sizes, instructions = budget["sizes_of_a_step"], budget["instructions_per_step"]
    yield f"| | {' | '.join(f'`{job}`' for job in sizes)} |"
    yield f"|---|{'---|' * len(sizes)}"
    for what in next(iter(sizes.values())):
        yield f"| {what} | {' | '.join(_count(own[what]) for own in sizes.values())} |"
    yield f"| instructions of a step | {' | '.join(f'{instructions[job]:,}' for job in sizes)} |"


def _profile(jobs: dict[str, dict[str, float]]) -> Iterator[str]:
    yield f"| share of the instructions of a step | {' | '.join(f'`{job}`' for job in jobs)} |"
    yield f"|---|{'---|' * len(jobs)}"
    parts = {part for costs in jobs.values() for part in costs}
    shares = {part: [costs.get(part, 0.0) / sum(costs.values()) for costs in jobs.values()] for part in parts}
    for part in sorted(parts, key=lambda part: sum(shares[part]), reverse=True):
        yield f"| {part} | {' | '.join(f'{100 * share:.0f} %' for share in shares[part])} |"


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _quantity(value: float | None, unit: str) -> str:
    """A number with its unit: times to two or three digits, rates in whole rows."""
    if value is None:
        return _ABSENT
    if unit == "s":
        milliseconds = 1000 * value
        if milliseconds < 10:
            return f"{milliseconds:.1f} ms"
        return f"{milliseconds:.0f} ms" if value < 1 else f"{value:.3g} s"
    if unit == "rows/s":
        return f"{value:,.0f} rows/s"
    return f"{value:.2g} {'µs' if unit == 'us' else unit}"
