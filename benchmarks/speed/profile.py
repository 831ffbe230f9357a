"""Where the instructions of a step go, by the part of the engine that they were written in.

    python -m benchmarks.speed.profile      count, print, and store in benchmarks/speed/results/profile.json

Counted by callgrind as the budget is (see ``instructions``), in a program that is compiled as it is shipped but for
its line tables. Code that was inlined counts where it was written; the standard library's, where it is used. Needs
valgrind and addr2line.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks import machine
from benchmarks.speed.instructions import JOBS, build, run_callgrind

RESULTS = Path(__file__).parent / "results" / "profile.json"
_SOURCES = "crates/sapwood/src/"
_OUTSIDE = "copying and clearing memory"
_OTHER = "everything else"

# The first that a source file's path begins with.
PARTS = {
    "cloud/propose/": "grow proposals: cuts, counts and sums",
    "cloud/propagate/": "prunes, weights of moves, moves",
    "cloud/landing.rs": "trees and leaves: walking, changing, copying",
    "cloud/weigh.rs": "visits to leaves, taking the point in",
    "cloud/alike.rs": "finding leaves that are alike",
    "cloud/evidence.rs": "putting leaves in line",
    "leaf/batch.rs": "putting leaves in line",
    "cloud/retire.rs": "retiring a point",
    "leaf/": "evidences, and what else a leaf computes",
    "num/": "logarithms, gammas, exponentials",
    "tree/": "trees and leaves: walking, changing, copying",
    "pool/": "the pool and its order",
    "rng.rs": "random numbers",
    "cloud/": "resampling and the frame of a step",
}


def main() -> int:
    os.environ["CARGO_PROFILE_RELEASE_DEBUG"] = "line-tables-only"
    program = build()
    profiles = {}
    for job in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            profile = Path(folder) / "callgrind.out"
            said = run_callgrind(program, job, profile, "--dump-instr=yes", "--compress-pos=no")
            n_steps = int(said.split()[0])
            costs = {what: cost / n_steps for what, cost in _by_part(profile, program).most_common()}
        profiles[job] = costs
        print(JOBS[job])
        for what, cost in costs.items():
            print(f"{cost:12,.0f} {cost / sum(costs.values()):6.1%}  {what}")
    record = {"machine": machine.facts(), "profile": profiles}
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def _by_part(profile: Path, program: Path) -> Counter[str]:
    costs: Counter[str] = Counter()
    by_address: Counter[str] = Counter()
    for in_program, address, cost in own_costs(profile.read_text(encoding="utf-8"), program.name):
        if in_program:
            by_address[address] += cost
        else:
            costs[_OUTSIDE] += cost
    for address, path in _written_in(program, list(by_address)):
        costs[part_of(path)] += by_address[address]
    return costs


def own_costs(profile: str, program: str) -> Iterator[tuple[bool, str, int]]:
    """Whether it is in the program, address and cost of every instruction in a callgrind profile, calls left out."""
    names: dict[str, str] = {}
    in_program = called = False
    for line in profile.splitlines():
        if line.startswith(("ob=", "cob=")):
            where, number, spelled = re.findall(r"(c?ob)=(\(\d+\))?\s*(.*)", line)[0]
            # Names are spelled out once, maybe where something in them is called, and then go by their number.
            full = names.setdefault(number, spelled) if number else spelled
            if where == "ob":
                in_program = full.endswith(program)
        elif line.startswith("calls="):
            called = True
        elif line.startswith("0x"):
            if not called:
                address, *_, cost = line.split()
                yield in_program, address, int(cost)
            called = False


def _written_in(program: Path, addresses: list[str]) -> Iterator[tuple[str, str | None]]:
    """By address, the file of the engine that the instruction was written in, the innermost of those inlined there."""
    command = ["addr2line", "--exe", str(program), "--inlines", "--addresses"]
    said = subprocess.run(command, input="\n".join(addresses), capture_output=True, text=True, check=True).stdout
    places = iter(re.split(r"^(0x[0-9a-f]+)\n", said, flags=re.MULTILINE)[1:])
    for address, (_, lines) in zip(addresses, zip(places, places, strict=True), strict=True):
        own = re.search(f"{_SOURCES}([^:\n]+)", lines)
        yield address, own and own[1]


def part_of(path: str | None) -> str:
    """What a source file of the engine is for.

    Examples
    --------
    >>> from benchmarks.speed.profile import part_of
    'grow proposals: cuts, counts and sums'
    >>> part_of(None)
    'everything else'
    """
    if path is None:
        return _OTHER
    return next((what for start, what in PARTS.items() if path.startswith(start)), _OTHER)


if __name__ == "__main__":
    sys.exit(main())
