"""Checkpoints made by an attacker: intact by their checksum, and still refused without running anything."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood._state import Fields, StateError, pack, unpack
from sapwood.prequential.files.checkpoint import Checkpoint
from sapwood.stream import SourceError, evaluate


class Attack:
    """Pickles to a call of ``os.mkdir``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (str(self._folder),)


@pytest.fixture
def resume(
    tmp_path: Path, labels: tuple[Any, Any], classifier_maker: Callable[..., Any], stop_after: Callable[..., Any]
) -> Callable[[], Any]:
    """Resumes a run that was stopped after 100 rows, from a checkpoint that the test may have changed."""
    given: dict[str, Any] = {"delay": 5, "window": 40, "keep": 30, "checkpoint": tmp_path / "run.checkpoint"}
    stop, progress = stop_after(100)
    evaluate(classifier_maker(n_particles=5), labels, stop=stop, progress=progress, **given)
    return lambda: evaluate(classifier_maker(n_particles=5), labels, resume=True, max_rows=120, **given)


def sealed(magic: bytes, body: bytes) -> bytes:
    return magic + hashlib.sha256(body).digest() + body


def test_a_pickle_is_not_opened(resume: Callable[[], Any], tmp_path: Path) -> None:
    """The crafted file that ran code with the format before this one, and the same pickle in the present format."""
    planted = tmp_path / "planted"
    payload = pickle.dumps(Attack(planted))
    dotted = b"csapwood.metrics._base\nnp.os.mkdir\n(S'" + str(planted).encode() + b"'\ntR."
    for state in (payload, dotted):
        header = {"version": "0.1.0", "blobs": {"model": 0, "state": len(state)}, "settings": {}}
        text = json.dumps(header).encode()
        body = struct.pack("<Q", len(text)) + text + state
        for magic in (b"SAPWOOD-CHECKPOINT-1\n", b"SAPWOOD-CHECKPOINT-2\n"):
            (tmp_path / "run.checkpoint").write_bytes(sealed(magic, body))
            (tmp_path / "run.checkpoint.previous").unlink(missing_ok=True)
            with pytest.raises(SourceError, match=r"has checkpoint format 1|holds something that no run writes"):
                resume()
    assert not planted.exists()


def test_no_module_reads_pickles() -> None:
    package = Path(__file__).parents[2] / "python" / "sapwood"
    guilty = [path.name for path in package.rglob("*.py") if "pickle" in path.read_text().split('"""')[-1]]
    assert guilty == []


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all entries, of containers too."""
    if at:
        yield at
    for name, entry in value.items() if isinstance(value, dict) else []:
        yield from leaves(entry, (*at, name))
    for i, entry in enumerate(value[:2] if isinstance(value, list) else []):
        yield from leaves(entry, (*at, i))


def with_entry(content: dict[str, Any], at: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(content)
    inside = changed
    for step in at[:-1]:
        inside = inside[step]
    inside[at[-1]] = value
    return changed


HOSTILE: list[Any] = [
    None,
    True,
    -1,
    2**62,
    0.5,
    float("nan"),
    "",
    b"\0" * 9,
    [],
    [[]],
    {},
    np.zeros(3),
    np.full((1, 1), np.inf),
    np.full(4, -1),
]


def test_every_entry_is_checked(resume: Callable[[], Any], tmp_path: Path) -> None:
    """Every entry, replaced by values of other types and shapes: either refused by name, or harmless.

    Fails if any exception other than a ValueError escapes, such as a KeyError or a panic of the engine.
    """
    path = tmp_path / "run.checkpoint"
    kept = Checkpoint.read(path)
    assert kept is not None
    rng = np.random.default_rng(0)
    n_refused = n_harmless = 0
    for at in leaves(kept.content):
        for i in rng.choice(len(HOSTILE), size=3, replace=False):
            Checkpoint(with_entry(kept.content, at, HOSTILE[i])).write(path)
            try:
                resume()
                n_harmless += 1
            except ValueError:
                n_refused += 1
    assert n_refused > 5 * n_harmless


def test_every_absent_entry_is_noticed(resume: Callable[[], Any], tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    kept = Checkpoint.read(path)
    assert kept is not None
    for at in leaves(kept.content):
        if isinstance(at[-1], str) and at[0] in ("loop", "held", "book", "source", "n_read", "model"):
            changed = copy.deepcopy(kept.content)
            inside = changed
            for step in at[:-1]:
                inside = inside[step]
            del inside[at[-1]]
            Checkpoint(changed).write(path)
            if at != ("loop", "recent", "row"):  # no rows are kept before the first
                with pytest.raises(ValueError, match=r"no run writes|cannot be used|has format"):
                    resume()


def test_packing_is_exact() -> None:
    state = {
        "empty": {},
        "list": [None, True, 1, 0.1, float("inf"), "é\ud800", [{"x": b"\0\1"}]],
        "floats": np.array([[np.nan, -0.0, 5e-324]]),
        "integers": np.arange(6).reshape(3, 2).T,
        "none": np.empty((0, 3)),
    }
    found = unpack(pack(state))
    assert pack(found) == pack(state)
    assert found["list"][:6] == state["list"][:6]
    assert found["list"][6] == [{"x": b"\0\1"}]
    np.testing.assert_array_equal(found["integers"], state["integers"])
    assert found["floats"].tobytes() == state["floats"].tobytes()
    assert found["none"].shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "blob", "what"),
    [
        ("[1]", b"", "not an object"),
        ('{"entries":{"x":{"bytes":9}}}', b"12345678", "truncated"),
        ('{"entries":{"x":{"bytes":-1}}}', b"", "truncated"),
        ('{"entries":{"x":{"array":["|O",1]}}}', b"12345678", "neither entries"),
        ('{"entries":{"x":{"array":["<f8",-1]}}}', b"12345678", "has shape"),
        ('{"entries":{"x":{"array":["<f8",4611686018427387904,4]}}}', b"12345678", "truncated"),
        ('{"entries":{"x":{"array":["<f8",1]}}}', b"123456789", "1 bytes are left over"),
        ('{"entries":{"x":' + "[" * 40 + "]" * 40 + "}}", b"", "nested too deeply"),
        ('{"entries":{"x":' + "[" * 100_000 + "]" * 100_000 + "}}", b"", "not JSON"),
        ('{"entries":{"x":' + "9" * 10_000 + "}}", b"", "not JSON"),
        ("{", b"", "not JSON"),
    ],
)
def test_malformed_state_is_refused(text: str, blob: bytes, what: str) -> None:
    with pytest.raises(StateError, match=what):
        unpack(struct.pack("<Q", len(text)) + text.encode() + blob)


def test_fields_name_the_entry() -> None:
    with pytest.raises(StateError, match=r"run\.inner\.n is True; it must be an integer from 0"):
        Fields({"inner": {"n": True}}, "run").part("inner").integer("n")
