"""Where the instructions go: what is read from a profile."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.speed.profile import PARTS, own_costs, part_of

# Names are spelled out once and numbered; the line after a call is what the called function took.
PROFILE = """\
version: 1
positions: instr line
ob=(1) /somewhere/steady_step
fl=(1) cloud.rs
fn=(1) step
0x10 12 5
calls=3 0x40 7
0x14 13 999
0x18 14 2
ob=(2) /lib/libc.so.6
fn=(2) memmove
0x90 0 70
ob=(1)
0x10 12 1
"""


def test_calls_are_left_out_and_objects_told_apart() -> None:
    costs = list(own_costs(PROFILE, "steady_step"))
    assert costs == [(True, "0x10", 5), (True, "0x18", 2), (False, "0x90", 70), (True, "0x10", 1)]


def test_a_name_may_be_spelled_out_where_it_is_called() -> None:
    """Fails if only the lines that begin an object are read: the program then passes for a stranger."""
    profile = (
        "ob=(1) /lib/ld.so\n0x1 0 3\ncob=(2) /somewhere/steady_step\ncalls=1 0x40 7\n0x2 0 999\nob=(2)\n0x10 12 5\n"
    )
    assert list(own_costs(profile, "steady_step")) == [(False, "0x1", 3), (True, "0x10", 5)]


def test_every_rule_is_about_a_source_that_there_is() -> None:
    sources = Path(__file__).parents[2] / "crates" / "sapwood" / "src"
    assert [path for path in PARTS if not (sources / path).exists()] == []


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("cloud/step/propose/keys.rs", "grow proposals: cuts, counts and sums"),
        ("cloud/mod.rs", "resampling and the rest of the step"),
        ("leaf/batch.rs", "gathering leaves into batches"),
        ("leaf/gaussian/mod.rs", "evidences and other leaf computations"),
        ("config.rs", "everything else"),
    ],
)
def test_the_first_rule_that_fits_decides(path: str, part: str) -> None:
    assert part_of(path) == part
