"""Temporary files are private, modes are kept, and two runs do not write the same files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood import DynamicTreeRegressor, _disk
from sapwood.prequential.files.lock import LockedError, locked
from sapwood.stream import evaluate

posix = pytest.mark.skipif(os.name != "posix", reason="links and modes of POSIX")


@pytest.fixture
def rows() -> tuple[Any, Any]:
    x = np.random.default_rng(0).uniform(size=(60, 2))
    return x, x.sum(axis=1)


@pytest.fixture
def run(rows: tuple[Any, Any]) -> Callable[..., Any]:
    def make(**given: Any) -> Any:
        model = DynamicTreeRegressor(n_particles=5, max_active=20, random_state=0)
        return evaluate(model, rows, ["rmse"], checkpoint_every=20, **given)

    return make


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
@pytest.mark.parametrize(
    "planted",
    ["run.checkpoint.next", "run.checkpoint.previous", "out.parquet.part", "out.parquet.publish", "out.csv.rewrite"],
)
def test_planted_links_are_not_followed(planted: str, run: Callable[..., Any], tmp_path: Path) -> None:
    """Fails if a run writes through a link that somebody else put where it makes files of its own."""
    pytest.importorskip("pyarrow")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / planted).symlink_to(victim)
    for name in ("out.parquet", "out.csv"):
        run(predictions=folder / name, checkpoint=folder / "run.checkpoint")
        run(predictions=folder / name, checkpoint=folder / "run.checkpoint", resume=True)
    assert victim.read_text() == "precious"
    assert not (folder / "run.checkpoint").is_symlink()


@posix
def test_modes_are_kept(run: Callable[..., Any], tmp_path: Path) -> None:
    """A private model stays private, and a new file has the mode that the umask says."""
    pytest.importorskip("pyarrow")
    with umask(0o022):
        model = run(predictions=tmp_path / "out.parquet", checkpoint=tmp_path / "run.checkpoint").model
        model.save(tmp_path / "model.sap")
        files = [tmp_path / name for name in ("out.parquet", "run.checkpoint", "model.sap")]
        assert [mode_of(path) for path in files] == [0o644] * 3
        for path in files:
            path.chmod(0o600)
        run(predictions=tmp_path / "out.parquet", checkpoint=tmp_path / "run.checkpoint")
        model.save(tmp_path / "model.sap")
        assert [mode_of(path) for path in files] == [0o600] * 3
        assert mode_of(tmp_path / "run.checkpoint.previous") == 0o600


@posix
def test_a_replacement_is_never_more_readable_than_the_file(tmp_path: Path) -> None:
    """Not even for the moment in which it has its temporary name."""
    path = tmp_path / "model.sap"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with umask(0o000), _disk.replacing(path) as file:
        assert mode_of(file.path) == 0o600


@posix
def test_a_link_to_a_model_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "model.sap").symlink_to(tmp_path / "real" / "model.sap")
    _disk.write_atomically(tmp_path / "model.sap", b"new")
    assert (tmp_path / "model.sap").is_symlink()
    assert (tmp_path / "real" / "model.sap").read_bytes() == b"new"
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["model.sap"]


@pytest.mark.parametrize("option", ["predictions", "checkpoint"])
def test_two_runs_do_not_share_an_output(option: str, run: Callable[..., Any], tmp_path: Path) -> None:
    """Fails if a second run starts while the first is at work, or cannot start afterwards."""
    shared = tmp_path / "shared"

    def second(progress: Any) -> None:
        with pytest.raises(LockedError, match=rf"shared: it is being written by process {os.getpid()} on .*; wait"):
            run(**{option: shared})

    run(progress=second, **{option: shared})
    run(**{option: shared})
    assert not list(tmp_path.glob(".*"))


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    code = (
        "import os\nfrom sapwood.prequential.files.lock import locked\n"
        f"with locked([{str(path)!r}]):\n    print('locked', flush=True)\n    input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"locked\n"
        with pytest.raises(LockedError, match=f"process {owner.pid} on"), locked([path]):
            pass
        owner.kill()
        owner.wait()
    with locked([path]):
        assert (tmp_path / ".out.csv.lock").read_text().startswith(f"process {os.getpid()} on")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    read, write = os.pipe()
    with locked([path]):
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
    with locked([path]):
        pass
    os.close(write)
    os.close(read)
    os.waitpid(child, 0)


@posix
def test_a_planted_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".out.csv.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="cannot be written"), locked([tmp_path / "out.csv"]):
        pass
    assert (tmp_path / "victim").read_text() == "precious"


def test_leftovers_of_a_killed_run_are_removed(run: Callable[..., Any], tmp_path: Path) -> None:
    """Those of this run's files, and nothing else."""
    (tmp_path / ".run.checkpoint.0123456789abcdef.new").write_bytes(b"half")
    others = [".other.0123456789abcdef.new", ".run.checkpoint.zzz.new", "run.checkpoint.new"]
    for name in others:
        (tmp_path / name).write_bytes(b"not ours")
    run(checkpoint=tmp_path / "run.checkpoint")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted([*others, "run.checkpoint", "run.checkpoint.previous"])
