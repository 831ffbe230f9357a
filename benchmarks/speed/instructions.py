"""Instructions per step of a cloud with a full pool: a measure of cost that does not depend on other load.

    python -m benchmarks.speed.instructions           count, and compare with benchmarks/speed/budget.json
    python -m benchmarks.speed.instructions --bless   count, and update the budget

Callgrind counts inside one function of crates/sapwood/examples/steady_step.rs, so start-up and filling the pool are
excluded. The exit code is 0 if no job exceeds its budget by more than 5 %. If valgrind is missing, or the budget is for
another kind of processor, nothing is counted and a message is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import REPOSITORY

BUDGET = Path(__file__).parent / "budget.json"
JOBS = {
    "friedman-orand": "Friedman, random discard, w=200, N=1000, linear leaves",
    "friedman-full": "Friedman, every point active, default prior, N=1000, linear leaves",
    "prices": "generated prices, w=100, lambda=.8, N=1000, multinomial leaves",
}
ALLOWED_GROWTH = 0.05
_PROGRAM = "steady_step"
_REGION = "*counted_region*"


class CannotCount(Exception):
    """Counting is impossible, or the counts could not be compared with the budget."""


@dataclass(frozen=True)
class Count:
    """The instructions of one job and its budget, which is None for a new job."""

    job: str
    instructions: int
    budget: int | None

    @property
    def ratio(self) -> float:
        return self.instructions / self.budget if self.budget else 1.0

    @property
    def verdict(self) -> str:
        """The comparison with the budget, as printed."""
        if self.budget is None:
            return "no budget"
        if self.ratio > 1 + ALLOWED_GROWTH:
            return "EXCEEDED"
        return "below: bless it" if self.ratio < 1 - ALLOWED_GROWTH else "kept"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.instructions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--bless", action="store_true", help="update the budget")
    options = parser.parse_args(arguments)
    budget = json.loads(BUDGET.read_text(encoding="utf-8")) if BUDGET.exists() else {}
    try:
        _require_valgrind()
        if not options.bless:
            _require_processor(budget.get("processor"))
    except CannotCount as reason:
        print(f"instructions were not counted: {reason}")
        return 0
    program = build()
    allowed = budget.get("instructions_per_step", {})
    counts = [Count(job, count(program, job), allowed.get(job)) for job in JOBS]
    for made in counts:
        beside = "" if made.budget is None else f"{made.ratio:6.3f} of {made.budget:>12,}"
        print(f"{made.verdict:16} {made.instructions:>12,} per step  {beside:24} {JOBS[made.job]}")
    if options.bless:
        bless(counts, {job: sizes(program, job) for job in JOBS})
        return 0
    return int(any(made.verdict in ("EXCEEDED", "no budget") for made in counts))


def build() -> Path:
    """Compile the program that takes the steps, with the release profile."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "sapwood", "--example", _PROGRAM]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    return target / "release" / "examples" / _PROGRAM


def count(program: Path, job: str) -> int:
    """Average instructions per step of a job."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "callgrind.out"
        output = run_callgrind(program, job, profile)
        return instructions_of(profile.read_text(encoding="utf-8"), output)


def run_callgrind(program: Path, job: str, profile: Path, *options: str) -> str:
    """Write the profile of a job's counted steps; return the output of the program."""
    command = [
        "valgrind",
        "--tool=callgrind",
        "--collect-atstart=no",
        f"--toggle-collect={_REGION}",
        f"--callgrind-out-file={profile}",
        *options,
        str(program),
        job,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def sizes(program: Path, job: str) -> dict[str, float]:
    """The average amount of work in one step of a job."""
    output = subprocess.run([str(program), job, "sizes"], capture_output=True, text=True, check=True).stdout
    return {what: float(number) for number, what in (line.split(maxsplit=1) for line in output.splitlines())}


def instructions_of(profile: str, output: str) -> int:
    """The total of a callgrind profile divided by the number of steps in the output of the program."""
    total = re.search(r"^(?:totals|summary): (\d+)$", profile, re.MULTILINE)
    steps = re.match(r"(\d+) steps", output)
    if total is None or steps is None or int(total[1]) == 0:
        raise RuntimeError(f"callgrind counted nothing inside {_REGION}; is it still a function of {_PROGRAM}.rs?")
    return round(int(total[1]) / int(steps[1]))


def bless(counts: list[Count], step_sizes: dict[str, dict[str, float]], path: Path = BUDGET) -> None:
    """Write the counts as the new budget, with the amount of work per step."""
    content = {
        "processor": processor(),
        "instructions_per_step": {made.job: made.instructions for made in counts},
        "sizes_of_a_step": step_sizes,
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path}")


def processor() -> str:
    """The kind of processor, as far as the engine selects its code by it (valgrind does not support AVX-512)."""
    info = Path("/proc/cpuinfo")
    flags = info.read_text(encoding="utf-8") if info.exists() else ""
    return f"{platform.machine()}{' with AVX2' if ' avx2 ' in flags else ''}"


def _require_valgrind() -> None:
    if shutil.which("valgrind") is None:
        raise CannotCount("valgrind is not installed (on Debian and Ubuntu: the package valgrind)")


def _require_processor(blessed: str | None) -> None:
    if blessed is not None and blessed != processor():
        raise CannotCount(f"the budget is for {blessed}, but this machine is {processor()}")


if __name__ == "__main__":
    sys.exit(main())
