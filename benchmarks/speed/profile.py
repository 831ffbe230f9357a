"""The instructions of a step, by part of the engine.

    python -m benchmarks.speed.profile      count, print and store in benchmarks/speed/results/profile.json

Counted by callgrind like the budget (see ``instructions``), in a release build with line tables. Inlined code is
attributed to the file it was written in, code of the standard library to the file that uses it. Needs valgrind and
addr2line.
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

# A source file belongs to the first prefix that matches its path.
PARTS = {
    "cloud/step/propose/": "grow proposals: cuts, counts and sums",
    "cloud/step/propagate/": "prune proposals, move weights, moves",
    "cloud/step/look_up.rs": "trees and leaves: traversal, updates, copies",
    "cloud/step/weigh.rs": "visiting leaves, inserting the point",
    "cloud/step/insert.rs": "visiting leaves, inserting the point",
    "cloud/step/leaf_dedup.rs": "deduplicating leaves",
    "cloud/step/evidence.rs": "gathering leaves into batches",
    "leaf/batch.rs": "gathering leaves into batches",
    "cloud/step/retire.rs": "retiring a point",
    "leaf/": "evidences and other leaf computations",
    "num/": "logarithms, gammas, exponentials",
    "tree/": "trees and leaves: traversal, updates, copies",
    "pool/": "the pool and its sort orders",
    "rng.rs": "random numbers",
    "cloud/": "resampling and the rest of the step",
}


def main() -> int:
    os.environ["CARGO_PROFILE_RELEASE_DEBUG"] = "line-tables-only"
    program = build()
    profiles = {}
    for job in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            profile = Path(folder) / "callgrind.out"
            output = run_callgrind(program, job, profile, "--dump-instr=yes", "--compress-pos=no")
            n_steps = int(output.split()[0])
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
    """Own cost of every instruction of a callgrind profile: whether it is in the program, its address and its cost."""
    names: dict[str, str] = {}
    in_program = called = False
    for line in profile.splitlines():
        if line.startswith(("ob=", "cob=")):
            where, number, spelled = re.findall(r"(c?ob)=(\(\d+\))?\s*(.*)", line)[0]
            # A name is spelled out once, possibly at a call, and abbreviated by its number from then on.
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
    """For each address, the source file of the engine, the innermost if code was inlined."""
    command = ["addr2line", "--exe", str(program), "--inlines", "--addresses"]
    output = subprocess.run(command, input="\n".join(addresses), capture_output=True, text=True, check=True).stdout
    places = iter(re.split(r"^(0x[0-9a-f]+)\n", output, flags=re.MULTILINE)[1:])
    for address, (_, lines) in zip(addresses, zip(places, places, strict=True), strict=True):
        own = re.search(f"{_SOURCES}([^:\n]+)", lines)
        yield address, own and own[1]


def part_of(path: str | None) -> str:
    """The part of the engine that a source file belongs to.

    Examples
    --------
    >>> from benchmarks.speed.profile import part_of
    >>> part_of("cloud/step/propose/keys.rs")
    'grow proposals: cuts, counts and sums'
    >>> part_of(None)
    'everything else'
    """
    if path is None:
        return _OTHER
    return next((what for start, what in PARTS.items() if path.startswith(start)), _OTHER)


if __name__ == "__main__":
    sys.exit(main())
