"""Results as data, and series of numbered cases that can be stopped and continued."""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import machine
from sapwood._disk import write_atomically

FOLDER = Path(__file__).parent / "results"
_STORE_SECONDS = 30.0
_MAX_FAILURES = 20


def read(name: str) -> dict[str, Any] | None:
    """Return a stored result, or None."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def write(name: str, result: dict[str, Any]) -> None:
    """Store a result."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
    write_atomically(FOLDER / f"{name}.json", text.encode("ascii"))


def run_cases(
    name: str, what: str, one_case: Callable[[int], str], n_cases: int, *, seconds: float = float("inf")
) -> dict[str, Any]:
    """Run the cases from the first one that is not stored yet up to `n_cases`, or until the time is over.

    A case is its number, from which it draws everything random, so that it can be repeated alone. `one_case` returns
    the outcome in a word or two; an exception is a failure.
    """
    result = read(name) or {"cases": 0, "outcomes": {}, "failures": [], "seconds": 0.0}
    outcomes, failures = Counter(result["outcomes"]), list(result["failures"])
    began = stored = time.monotonic()
    before, case = result["seconds"], result["cases"]

    def save() -> dict[str, Any]:
        found = {
            "what": what,
            "command": f"python -m benchmarks.reliability {name}",
            "cases": case,
            "outcomes": dict(sorted(outcomes.items())),
            "failures": failures,
            "seconds": round(before + time.monotonic() - began, 1),
            "machine": machine.facts(),
        }
        write(name, found)
        return found

    while case < n_cases and time.monotonic() - began < seconds:
        try:
            outcomes[one_case(case)] += 1
        except Exception as error:  # any exception that escapes is what is looked for
            outcomes["failed"] += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            if len(failures) < _MAX_FAILURES:
                at = f"{Path(where.filename).name}:{where.lineno}"
                failures.append({"case": case, "problem": f"{type(error).__name__} at {at}: {error}"[:500]})
        case += 1
        if time.monotonic() - stored > _STORE_SECONDS:
            save()
            stored = time.monotonic()
    return save()


def add_case_arguments(parser: argparse.ArgumentParser, default: int) -> None:
    """Describe a command that runs cases."""
    parser.add_argument("--cases", type=int, default=default, help="how many in all")
    parser.add_argument("--case", type=int, help="repeat one of them, and show its error")


def run_command(options: argparse.Namespace, name: str, what: str, one_case: Callable[[int], str]) -> int:
    """Run the cases that are not stored yet, or repeat a single one."""
    if options.case is not None:
        print(one_case(options.case))
        return 0
    result = run_cases(name, what, one_case, options.cases)
    print(f"{result['cases']} cases: {result['outcomes']}")
    return int(bool(result["failures"]))
