"""Writes that fail, are torn or reordered at every call: afterwards there is the old file or the new one."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, _disk
from sapwood.prequential.files.checkpoint import Checkpoint
from sapwood.prequential.files.writing import WriteError
from sapwood.stream import SourceError, evaluate

from .conftest import PowerCut, SimulatedDisk

pytest.importorskip("pyarrow")

N_STATES = 6
"""States of the disk that are tried after a power cut at each call."""

ROWS = 90
EVERY = 25


def at_call(number: int, error: Callable[[], BaseException]) -> Callable[[str], None]:
    """Raises an error at a call, counting from 0, and never again."""
    count = iter(range(10**9))

    def before(name: str) -> None:
        if next(count) == number:
            raise error()

    return before


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


class Write:
    """Something that replaces a file, and how to tell what is there."""

    def __init__(self, replace: Callable[[Path, int], None], read: Callable[[Path], Any]) -> None:
        self.replace = replace
        self.read = read


WRITES = {
    "file": Write(
        lambda path, version: _disk.write_atomically(path, bytes([version]) * 200_000), lambda path: path.read_bytes()
    ),
    "checkpoint": Write(
        lambda path, version: Checkpoint({"settings": {}, "source": {}, "data": bytes([version]) * 150_000}).write(
            path
        ),
        lambda path: (found := Checkpoint.read(path)) and found.content["data"],
    ),
}
KINDS = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())


def n_calls_of(action: Callable[[], Any], on_disk: Callable[..., SimulatedDisk], folder: Path) -> int:
    disk = on_disk(SimulatedDisk())
    disk.adopt(folder)
    action()
    return len(disk.calls)


@KINDS
@pytest.mark.parametrize("n_before", [1, 2])
def test_a_power_cut_leaves_the_old_or_the_new(
    write: Write, n_before: int, on_disk: Callable[..., SimulatedDisk], tmp_path: Path
) -> None:
    """Fails, for instance, if a file is renamed before it is synced, or the checkpoint before its predecessor."""
    path, rng = tmp_path / "run" / "file", np.random.default_rng(0)
    seen = set()
    number = 0
    while True:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        path.parent.mkdir()
        for version in range(n_before):
            write.replace(path, version)
        old = write.read(path)
        disk = on_disk(SimulatedDisk(at_call(number, PowerCut), largest_write=50_000))
        disk.adopt(path.parent)
        try:
            write.replace(path, 7)
            completed = True
        except PowerCut:
            completed = False
        on_disk(SimulatedDisk())
        for state in range(N_STATES):
            left = tmp_path / f"left-{number}-{state}"
            left.mkdir()
            disk.after_power_cut(rng, left)
            found = write.read(left / "file")
            is_new = found != old
            assert not is_new or len(set(found)) == 1
            assert not is_new or found[0] == 7
            assert is_new or not completed, "what was reported as written is lost"
            seen.add(is_new)
        if completed:
            break
        number += 1
    assert number > 5
    assert seen == {True, False}


@KINDS
def test_a_failed_call_leaves_the_old(write: Write, on_disk: Callable[..., SimulatedDisk], tmp_path: Path) -> None:
    path = tmp_path / "file"
    disk = on_disk(SimulatedDisk())
    disk.adopt(tmp_path)
    write.replace(path, 0)
    write.replace(path, 1)
    n_calls = len(disk.calls) // 2
    for number in range(n_calls):
        before = write.read(path)
        disk = on_disk(SimulatedDisk(at_call(number, full_disk)))
        disk.adopt(tmp_path)
        with pytest.raises(OSError, match="No space left"):
            write.replace(path, 2 + number)
        found = write.read(path)
        assert found == before or found[0] == 2 + number  # the folder could not be synced after the renames
        assert not list(tmp_path.glob(".*.new")), "a temporary file is left behind"


def source() -> list[tuple[dict[str, Any], Any]]:
    rng = np.random.default_rng(3)
    rows: list[tuple[dict[str, Any], Any]] = []
    for i, x in enumerate(rng.uniform(size=(ROWS, 2)).tolist()):
        label = "late" if i > ROWS // 2 and i % 5 == 0 else "ab"[x[0] > 0.5]
        rows.append(({"x": x[0], "z": x[1] if i % 9 else float("inf")}, label))
    return rows


def run(folder: Path, predictions: str, **given: Any) -> None:
    model = DynamicTreeClassifier(n_particles=4, max_active=15, leaf="multinomial", random_state=0)
    result = evaluate(
        model,
        source(),
        ["accuracy"],
        delay=3,
        window=20,
        source_options={"on_bad_row": "quarantine", "quarantine": folder / "bad.csv", "batch_rows": 10},
        predictions=folder / predictions,
        checkpoint=folder / "run.checkpoint",
        checkpoint_every=EVERY,
        settings={"fixed": True},
        resume=True,
        **given,
    )
    result.model.save(folder / "model.sap")


def outputs(folder: Path, predictions: str) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("model.sap", "bad.csv", predictions)}


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes the folder in which a run works, always under the same name: checkpoints record the paths of outputs."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        return folder

    return make


HERE = Path(".")


@pytest.mark.parametrize("predictions", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("fault", ["power cut", "full disk"])
def test_a_run_is_resumed_to_the_same_bytes(
    predictions: str, fault: str, on_disk: Callable[..., SimulatedDisk], in_folder: Callable[[str], Path]
) -> None:
    """At every call that the run makes. Fails if a byte of model, predictions or quarantined rows differs."""
    whole = in_folder("whole")
    disk = on_disk(SimulatedDisk())
    disk.adopt(whole)
    run(HERE, predictions)
    expected = outputs(whole, predictions)
    n_calls = len(disk.calls)
    assert n_calls > 40
    rng = np.random.default_rng(1)
    for number in range(n_calls):
        folder = in_folder(f"run-{number}")
        error: Callable[[], BaseException] = PowerCut if fault == "power cut" else full_disk
        disk = on_disk(SimulatedDisk(at_call(number, error), largest_write=300))
        disk.adopt(folder)
        with pytest.raises((PowerCut, SourceError, OSError)) as caught:
            run(HERE, predictions)
        if isinstance(caught.value, WriteError):
            assert "cannot be written (No space left on device); make room" in str(caught.value)
        if fault == "power cut":
            folder = in_folder(f"left-{number}")
            disk.after_power_cut(rng, folder)
        on_disk(SimulatedDisk()).adopt(folder)
        run(HERE, predictions)
        assert outputs(folder, predictions) == expected, f"call {number}"
