"""docs/reliability.md, from the stored results."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from benchmarks.machine import REPOSITORY
from benchmarks.reliability import store
from benchmarks.reliability.endurance import slope

PAGE = REPOSITORY / "docs" / "reliability.md"
BROKE = Path(__file__).parent / "broke.json"
_ENDURANCE = "endurance-"

_HEAD = """# Reliability

What was done to break Sapwood, how often, and what came of it. Every number comes from a stored result in
`benchmarks/reliability/results/`, and this page from `python -m benchmarks.reliability page`. A stopped attack goes on
from its stored result, so that the numbers can only grow.
"""

_INJECTION = """## Faults injected into writing

`tests/crash` puts a simulated disk in the place of the system calls that write. It cuts the power or reports a full
disk at **every** call of a run in turn. After a power cut, each write that was not synced is lost, kept or torn, and
each change of a name that was not synced is lost or kept, in order or in any order. The run is then resumed; model,
predictions and quarantined rows must be those of an undisturbed run, byte for byte. A single replaced file must be the
old one or the new one. Leaving out one sync, or renaming too early, makes these tests fail.
"""


def page() -> str:
    """The whole page."""
    results = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(store.FOLDER.glob("*.json"))}
    cases = {name: result for name, result in results.items() if "cases" in result and "outcomes" in result}
    parts = [_HEAD, _cases(cases), _kills(results.get("crash")), _INJECTION]
    parts.append(_endurance({name: r for name, r in results.items() if name.startswith(_ENDURANCE)}))
    parts.append(_broke(json.loads(BROKE.read_text(encoding="utf-8"))))
    return "\n".join(part for part in parts if part)


def _cases(results: dict[str, Any]) -> str:
    rows = []
    for name, result in results.items():
        outcomes = ", ".join(f"{count:,} {word}" for word, count in result["outcomes"].items() if word != "failed")
        n_failed = result["outcomes"].get("failed", 0)
        rows.append((f"`{name}`", result["what"], f"{result['cases']:,}", outcomes, f"{n_failed:,}"))
    table = _table(("attack", "what", "cases", "outcomes", "broken promises"), rows)
    commands = "\n".join(f"    {result['command']}" for result in results.values())
    note = "A case is a number, from which everything random in it is drawn:"
    return f"## Random and crafted input\n\n{table}\n{note}\n\n{commands}\n"


def _kills(result: dict[str, Any] | None) -> str:
    if result is None:
        return ""
    jobs = ", ".join(f"{name} ({kills:,})" for name, kills in result["by_job"].items())
    return (
        f"## Kills\n\n`sapwood learn` was killed {result['kills']:,} times with SIGKILL, at random moments, and\n"
        f"resumed until it completed, in {result['rounds']:,} runs: {jobs}.\n"
        f"**{result['lost']}** of the runs differ from an uninterrupted one in a byte of the model, the predictions\n"
        "or the quarantined rows.\n\n"
        f"    {result['command']}\n"
    )


def _endurance(results: dict[str, Any]) -> str:
    if not results:
        return ""
    rows = []
    for result in results.values():
        memory, cost = (
            slope(result["samples"], quantity, result["rows"] // 10)
            for quantity in ("megabytes", "microseconds_per_row")
        )
        last = result["samples"][-1]
        rows.append(
            (
                result["what"],
                f"{result['rows']:,} of {result['wanted_rows']:,}",
                f"{last['megabytes']:.1f} MB",
                _with_error(memory, 1000.0, "kB"),
                f"{last['microseconds_per_row']:.1f} µs",
                _with_error(cost, 1000.0, "ns"),
            )
        )
    head = ("model", "rows", "memory", "slope per 10⁶ rows", "processor time of a row", "slope per 10⁶ rows")
    commands = "\n".join(f"    {result['command']}" for result in results.values())
    return (
        f"## Long runs\n\n{_table(head, rows)}\nMemory is the resident set of the process. Slopes are least squares "
        "over the last nine\ntenths, ± two standard errors. The run keeps its samples in memory, which is part of the "
        "slope of a light model. Other\nwork on the machine slows a row down: unless it is idle, the slope of the cost "
        "tells more of that work than of the model.\n\n"
        f"{commands}\n"
    )


def _with_error(found: tuple[float, float], scale: float, unit: str) -> str:
    by, error = found
    if math.isnan(by):
        return "too few samples"
    return f"{scale * by:+.2f} ± {2 * scale * error:.2f} {unit}"


def _broke(entries: list[dict[str, str]]) -> str:
    rows = [(entry["attack"], entry["broke"], entry["now"], f"`{entry['test']}`") for entry in entries]
    table = _table(("attack", "what broke", "now", "test"), rows)
    return f"## What broke\n\nWhat is mended has a test; what is open says so, with the case that shows it.\n\n{table}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")


def main(options: argparse.Namespace) -> int:
    """Write the page, or compare it."""
    text = page()
    if options.check:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(REPOSITORY)}")
    return 0
