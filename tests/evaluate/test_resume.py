"""Interrupted, killed and repaired runs end like uninterrupted ones, byte for byte."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood._files import to_bytes
from sapwood.prequential.files.checkpoint import Checkpoint, previous_of
from sapwood.stream import EvaluationResult, SourceError, evaluate

from .conftest import CHEAP

Maker = Callable[..., Any]


class Crash(Exception):
    """Stands for a killed process: the effect on the files is the same."""


@pytest.fixture
def path(tmp_path: Path, labels: tuple[Any, Any]) -> Path:
    """A CSV file in which a class and some categories appear late."""
    X, y = labels
    lines = [
        f"{a!r},{b!r},colour {i // 90},{label}" for i, ((a, b, _), label) in enumerate(zip(X.tolist(), y, strict=True))
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,colour,y", *lines]) + "\n")
    return path


@pytest.fixture
def run(path: Path, classifier_maker: Maker) -> Callable[..., EvaluationResult]:
    def make(folder: Path, ending: str, **given: Any) -> EvaluationResult:
        folder.mkdir(exist_ok=True)
        return evaluate(
            classifier_maker(),
            path,
            target="y",
            source_options={"batch_rows": 130},
            delay=11,
            window=40,
            keep=70,
            predictions=folder / f"out.{ending}",
            checkpoint=folder / "run.checkpoint",
            checkpoint_every=25,
            settings={"predictions": "the same"},
            **given,
        )

    return make


def same(one: EvaluationResult, other: EvaluationResult, ending: str, folders: tuple[Path, Path]) -> None:
    assert to_bytes(one.model) == to_bytes(other.model)
    files = [(folder / f"out.{ending}").read_bytes() for folder in folders]
    assert files[0] == files[1]
    for name, values in one.scores.items():
        np.testing.assert_array_equal(values, other.scores[name])
    for name, values in one.predictions.items():
        np.testing.assert_array_equal(values, other.predictions[name])
    assert (one.n_rows, one.n_scored, one.n_learned) == (other.n_rows, other.n_scored, other.n_learned)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("crash_at", [1, 24, 26, 130, 249, 262, 399])
def test_a_crash_loses_nothing(
    ending: str, crash_at: int, run: Callable[..., EvaluationResult], tmp_path: Path
) -> None:
    """The process dies between two checkpoints, with predictions written beyond the last one.

    Fails if predictions are not truncated, the column of a late class remains, the source continues from the wrong row,
    or a checkpoint omits state (pending labels, rows held, baselines, categories).
    """
    pytest.importorskip("pyarrow")

    def crash(progress: Any) -> None:
        if progress.n_rows >= crash_at:
            raise Crash

    with pytest.raises(Crash):
        run(tmp_path / "crashed", ending, progress=crash)
    resumed = run(tmp_path / "crashed", ending, resume=True)
    whole = run(tmp_path / "whole", ending)
    same(whole, resumed, ending, (tmp_path / "whole", tmp_path / "crashed"))


def test_a_regression_resumed_at_every_checkpoint(
    regressor_maker: Maker, numbers: tuple[Any, Any], stop_after: Callable[..., Any], tmp_path: Path
) -> None:
    """Fails if a model file loses the last bits of anything, which the following rows would amplify."""
    path = tmp_path / "run.checkpoint"
    for n_rows in range(20, 400, 20):
        stop, progress = stop_after(n_rows)
        evaluate(regressor_maker(), numbers, CHEAP, checkpoint=path, resume=True, stop=stop, progress=progress)
    resumed = evaluate(regressor_maker(), numbers, CHEAP, checkpoint=path, resume=True)
    whole = evaluate(regressor_maker(), numbers, CHEAP)
    assert to_bytes(whole.model) == to_bytes(resumed.model)
    assert whole.overall() == resumed.overall()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_stopped_run_can_be_resumed(
    ending: str, run: Callable[..., EvaluationResult], tmp_path: Path, stop_after: Callable[..., Any]
) -> None:
    """The run stops in the middle of a batch, leaves readable predictions, and is resumed several times."""
    pytest.importorskip("pyarrow")
    for n_rows in (60, 200, 301):
        stop, progress = stop_after(n_rows)
        result = run(tmp_path / "stopped", ending, resume=True, stop=stop, progress=progress)
        assert result.interrupted
        assert n_rows <= result.n_rows < 400
        assert (tmp_path / "stopped" / f"out.{ending}").exists()
    resumed = run(tmp_path / "stopped", ending, resume=True)
    whole = run(tmp_path / "whole", ending)
    same(whole, resumed, ending, (tmp_path / "whole", tmp_path / "stopped"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_finished_run_continues_when_its_source_has_grown(
    ending: str, run: Callable[..., EvaluationResult], path: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:301]))
    first = run(tmp_path / "grown", ending)
    again = run(tmp_path / "grown", ending, resume=True)
    assert first.n_rows == again.n_rows == 300
    assert to_bytes(first.model) == to_bytes(again.model)
    path.write_text("".join(lines))
    resumed = run(tmp_path / "grown", ending, resume=True)
    whole = run(tmp_path / "whole", ending)
    same(whole, resumed, ending, (tmp_path / "whole", tmp_path / "grown"))


def test_a_bad_row_loses_nothing_learned_before_it(
    run: Callable[..., EvaluationResult], path: Path, tmp_path: Path
) -> None:
    """Once the file is repaired, the run continues from the last good batch."""
    good = path.read_text()
    lines = good.splitlines(keepends=True)
    path.write_text("".join([*lines[:350], "1,2\n", *lines[351:]]))
    with pytest.raises(SourceError, match=r"rows.csv, line 351"):
        run(tmp_path / "repaired", "csv")
    path.write_text(good)
    resumed = run(tmp_path / "repaired", "csv", resume=True)
    whole = run(tmp_path / "whole", "csv")
    same(whole, resumed, "csv", (tmp_path / "whole", tmp_path / "repaired"))


def test_the_previous_checkpoint_is_used_if_the_newest_is_damaged(
    run: Callable[..., EvaluationResult], tmp_path: Path
) -> None:
    whole = run(tmp_path / "whole", "csv")
    shutil.copytree(tmp_path / "whole", tmp_path / "damaged")
    newest = tmp_path / "damaged" / "run.checkpoint"
    newest.write_bytes(newest.read_bytes()[:-1])
    resumed = run(tmp_path / "damaged", "csv", resume=True)
    same(whole, resumed, "csv", (tmp_path / "whole", tmp_path / "damaged"))


def test_other_settings_are_refused(run: Callable[..., EvaluationResult], tmp_path: Path) -> None:
    run(tmp_path / "run", "csv")
    with pytest.raises(SourceError, match=r"run.checkpoint: was made with warm up 0, but this run has 5; use the same"):
        run(tmp_path / "run", "csv", resume=True, warm_up=5)


def test_a_missing_predictions_file_is_named(run: Callable[..., EvaluationResult], tmp_path: Path) -> None:
    run(tmp_path / "run", "csv")
    (tmp_path / "run" / "out.csv").unlink()
    with pytest.raises(SourceError, match=r"out.csv: is missing or shorter than the checkpoint says"):
        run(tmp_path / "run", "csv", resume=True)


def test_every_truncation_of_a_checkpoint_is_detected(tmp_path: Path) -> None:
    whole = tmp_path / "run.checkpoint"
    Checkpoint({"settings": {}, "source": {}, "model": b"m" * 50}).write(whole)
    data = whole.read_bytes()
    for n_bytes in range(len(data)):
        whole.write_bytes(data[:n_bytes])
        with pytest.raises(SourceError, match="is not a checkpoint, or is damaged"):
            Checkpoint.read(whole)
    whole.write_bytes(data)
    kept = Checkpoint.read(whole)
    assert kept is not None
    assert kept.content["model"] == b"m" * 50


@pytest.mark.parametrize("change", ["a value in row 3", "fewer rows", "the first row is gone", "another file"])
def test_a_changed_source_is_refused(
    change: str, run: Callable[..., EvaluationResult], path: Path, tmp_path: Path, stop_after: Callable[..., Any]
) -> None:
    """Fails if one predictions file can come from two data sets. Nothing may be written before the refusal."""
    stop, progress = stop_after(200)
    run(tmp_path / "run", "csv", stop=stop, progress=progress)
    files = {name: (tmp_path / "run" / name).read_bytes() for name in ("out.csv", "run.checkpoint")}
    lines = path.read_text().splitlines(keepends=True)
    changed = {
        "a value in row 3": [*lines[:4], lines[4].replace("colour 0", "colour 9"), *lines[5:]],
        "fewer rows": lines[:100],
        "the first row is gone": [lines[0], *lines[2:]],
        "another file": [lines[0], *reversed(lines[1:])],
    }[change]
    path.write_text("".join(changed))
    what = r"ends after row 99, but" if change == "fewer rows" else r"its first 260 rows are not those that"
    with pytest.raises(SourceError, match=rf"rows.csv: {what} .*put back the data .* or start again without resuming"):
        run(tmp_path / "run", "csv", resume=True)
    assert {name: (tmp_path / "run" / name).read_bytes() for name in files} == files
    path.write_text("".join(lines))
    resumed = run(tmp_path / "run", "csv", resume=True)
    same(run(tmp_path / "whole", "csv"), resumed, "csv", (tmp_path / "whole", tmp_path / "run"))


def test_the_compression_of_a_source_may_change(
    classifier_maker: Maker, path: Path, tmp_path: Path, stop_after: Callable[..., Any]
) -> None:
    """The fingerprint is of the rows, not of the bytes of the file."""
    pytest.importorskip("pyarrow")
    stop, progress = stop_after(100)
    given: dict[str, Any] = {"target": "y", "checkpoint": tmp_path / "run.checkpoint"}
    evaluate(classifier_maker(), path, stop=stop, progress=progress, **given)
    text = path.read_bytes()
    path.write_bytes(gzip.compress(text))
    resumed = evaluate(classifier_maker(), path, resume=True, **given)
    path.write_bytes(text)
    assert to_bytes(resumed.model) == to_bytes(evaluate(classifier_maker(), path, target="y").model)


def test_checkpoints_leave_no_other_files(run: Callable[..., EvaluationResult], tmp_path: Path) -> None:
    run(tmp_path / "run", "csv")
    path = tmp_path / "run" / "run.checkpoint"
    assert sorted(p.name for p in path.parent.iterdir()) == ["out.csv", path.name, previous_of(path).name]
