"""``sapwood learn``: its output, its files and its exit codes."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as package
from sapwood.stream import evaluate

from .conftest import COMMAND, NUMBERS, SMALL

Run = Callable[..., Any]


def last_json(ran: Any) -> dict[str, Any]:
    """The object on the last line of standard output."""
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return told


def test_the_json_line_holds_what_evaluate_gives(sapwood: Run, rows: Path) -> None:
    told = last_json(sapwood("learn", "rows.csv", "--target", "y", "--warm-up", "50", "--json", *SMALL))
    model = package.DynamicTreeRegressor(n_particles=10, max_active=20, random_state=0)
    result = evaluate(model, str(rows), target="y", warm_up=50)
    assert told["rows"] == 300
    assert told["rows_scored"] == 250
    assert told["rows_per_second"] > 0
    assert told["metrics"] == result.overall()["model"]
    assert told["baselines"] == {name: result.overall()[name] for name in ("no_change", "running_mean")}


def test_the_table_shows_the_baselines_beside_the_model(sapwood: Run, rows: Path) -> None:
    ran = sapwood("learn", "rows.csv", "-t", "y", "--save", "model.sap", *NUMBERS)
    assert ran.returncode == 0
    assert "300 rows" in ran.stdout
    assert "Sapwood" in ran.stdout
    assert "no change" in ran.stdout
    assert "running mean" in ran.stdout
    assert "coverage90" in ran.stdout
    assert "model: model.sap" in ran.stdout
    assert "\x1b" not in ran.stdout + ran.stderr


def test_quiet_says_nothing(sapwood: Run, rows: Path) -> None:
    ran = sapwood("learn", "rows.csv", "-t", "y", "--quiet", *NUMBERS)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_files_are_those_of_python(sapwood: Run, rows: Path) -> None:
    last_json(sapwood("learn", "rows.csv", "-t", "y", "--save", "m.sap", "--predictions", "p.csv", "--json", *NUMBERS))
    model = package.load(rows.with_name("m.sap"))
    assert model.n_seen_ == 300
    assert model.feature_names_in_.tolist() == ["a", "b", "colour"]
    with open(rows.with_name("p.csv"), newline="") as file:
        said = list(csv.DictReader(file))
    assert [int(row["row"]) for row in said] == list(range(300))
    assert list(said[0]) == ["row", "y", "mean", "std", "lower", "upper", "ln_density"]
    twin = package.DynamicTreeRegressor(n_particles=10, max_active=20, random_state=0)
    result = evaluate(twin, str(rows), ["rmse"], target="y")
    np.testing.assert_array_equal([float(row["mean"]) for row in said], result.predictions["mean"])


def test_pipe_file_and_parquet_give_the_same(sapwood: Run, real_data: Callable[[str], Path], tmp_path: Path) -> None:
    """The form of the source does not affect the result."""
    pandas = pytest.importorskip("pandas")
    text = gzip.decompress(real_data("elec2_paper").read_bytes())
    plain = b"\n".join(text.splitlines()[:2501]) + b"\n"
    (tmp_path / "elec2.csv.gz").write_bytes(gzip.compress(plain))
    pandas.read_csv(tmp_path / "elec2.csv.gz").to_parquet(tmp_path / "elec2.parquet")
    target = plain.split(b"\n", 1)[0].decode().split(",")[-1]
    told = []
    for name, stdin in (("-", plain), ("elec2.csv.gz", None), ("elec2.parquet", None)):
        arguments = ["--target", target, "--json", "--quiet", "--save", "m.sap", "--predictions", "p.csv", *SMALL]
        told.append(last_json(sapwood("learn", name, *arguments, stdin=stdin)))
        told[-1].pop("rows_per_second")
        told[-1]["predicted"] = (tmp_path / "p.csv").read_text()
        told[-1]["learned"] = package.load(tmp_path / "m.sap").log_evidence_
    assert told[0]["task"] == "classification"
    assert told[0] == told[1] == told[2]


def test_built_in_streams_need_no_target(sapwood: Run) -> None:
    told = last_json(sapwood("learn", "demo:drifting-friedman?n=200", "--json", *NUMBERS))
    assert told["rows"] == 200


def test_bad_rows_are_counted_or_set_aside(sapwood: Run, rows: Path) -> None:
    lines = rows.read_text().splitlines()
    lines[10] = "1,2"
    lines[20] = "1,2,red,"
    rows.write_text("\n".join(lines) + "\n")
    ran = sapwood("learn", "rows.csv", "-t", "y", *NUMBERS)
    assert ran.returncode == 1
    assert ran.stderr.startswith("error: rows.csv, line 11: ")
    told = last_json(sapwood("learn", "rows.csv", "-t", "y", "--on-bad-row", "skip", "--json", *NUMBERS))
    assert sum(told["bad_rows"].values()) == 2
    assert told["rows"] == 298
    arguments = ("--on-bad-row", "quarantine", "--quarantine", "bad.csv", "--json", *NUMBERS)
    last_json(sapwood("learn", "rows.csv", "-t", "y", *arguments))
    assert len(rows.with_name("bad.csv").read_text().splitlines()) == 3


def test_labels_of_a_second_file(sapwood: Run, rows: Path) -> None:
    table = [line.split(",") for line in rows.read_text().splitlines()]
    rows.with_name("x.csv").write_text(
        "\n".join(["id," + ",".join(row[:3]) if i == 0 else f"{i}," + ",".join(row[:3]) for i, row in enumerate(table)])
        + "\n"
    )
    rows.with_name("labels.csv").write_text(
        "\n".join(["id,y" if i == 0 else f"{i},{row[3]}" for i, row in enumerate(table)]) + "\n"
    )
    arguments = ("--labels", "labels.csv", "--key", "id", "--task", "regression", "--lags", "0", "--json", *NUMBERS)
    told = last_json(sapwood("learn", "x.csv", "-t", "y", *arguments))
    whole = last_json(sapwood("learn", "rows.csv", "-t", "y", "--lags", "0", "--json", *NUMBERS))
    assert told["metrics"] == whole["metrics"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_cleanly_and_resuming_completes_it(name: str, sapwood: Run, rows: Path) -> None:
    """Checkpoint, model and predictions so far are written; the resumed run ends as if it had not been interrupted."""
    folder, number = rows.parent, getattr(signal, name)
    arguments = ["learn", "demo:drifting-friedman?n=4000", "--save", "m.sap", "--predictions", "p.csv", *NUMBERS]
    run = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    predictions = folder / "p.csv"
    wait_for(predictions, 2000, run)
    run.send_signal(number)
    _, errors = run.communicate()
    if run.returncode == 0:
        pytest.skip("the machine was through before the signal came")
    assert run.returncode == 128 + number, errors
    assert "run the same command with --resume to continue" in errors
    assert (folder / "m.sap").exists()
    assert (folder / "m.sap.checkpoint").exists()
    said = predictions.read_text().splitlines()
    assert 1 < len(said) < 4001
    assert sapwood(*arguments, "--resume", "--quiet").returncode == 0
    killed = (folder / "m.sap").read_bytes(), predictions.read_bytes()
    assert sapwood(*arguments, "--quiet").returncode == 0
    assert killed == ((folder / "m.sap").read_bytes(), predictions.read_bytes())


def test_ctrl_c_ends_a_wait_for_a_silent_pipe(rows: Path) -> None:
    """The pipe delivers nothing more; the complete batch has been learned and is kept."""
    header, body = rows.read_bytes().split(b"\n", 1)
    command = [*COMMAND, "learn", "-", "-t", "y", "--save", "m.sap", "--predictions", "p.csv", *NUMBERS]
    run = subprocess.Popen(command, cwd=rows.parent, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=False)
    assert run.stdin is not None
    run.stdin.write(header + b"\n" + body * 4)
    run.stdin.flush()
    wait_for(rows.with_name("p.csv"), 90_000, run)  # nearly the whole batch; the rest takes a moment
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    assert run.wait() == 130
    n_learned = package.load(rows.with_name("m.sap")).n_seen_
    assert n_learned > 700
    assert len(rows.with_name("p.csv").read_bytes().splitlines()) == n_learned + 1


def wait_for(path: Path, n_bytes: int, run: subprocess.Popen[Any]) -> None:
    """Wait until a run has written this much, or has ended."""
    while run.poll() is None and (not path.exists() or path.stat().st_size < n_bytes):
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("learn", "rows.csv"), "--target"),
        (("learn",), "SOURCE"),
        (("learn", "rows.csv", "-t", "y", "--max-active", "many"), "'many' is not allowed"),
        (("learn", "rows.csv", "-t", "y", "--max-active", "25,0"), "a size of at least 1, 'all' or 'auto'"),
        (("learn", "rows.csv", "-t", "y", "--forgetting", "1.5"), "a number from 0 to 1, or 'auto'"),
        (("learn", "rows.csv", "-t", "y", "--lags", "-1"), "a whole number of at least 0, or 'auto'"),
        (("learn", "rows.csv", "-t", "y", "--jobs", "0"), "-1 for every core"),
        (("learn", "rows.csv", "-t", "y", "--task", "ranking"), "ranking"),
        (("learn", "rows.csv", "-t", "y", "--resume"), "--checkpoint FILE"),
        (("learn", "rows.csv", "-t", "y", "--labels", "l.csv"), "--task"),
        (("learn", "rows.csv", "-t", "y", "--nonsense"), "--nonsense"),
        (("predict", "m.sap", "rows.csv", "--quantiles", "0.5,2"), "levels lie between 0 and 1"),
        (("fly",), "fly"),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...], said: str, sapwood: Run, rows: Path) -> None:
    ran = sapwood(*arguments)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("command", [(), ("learn",), ("predict",), ("inspect",), ("bench",)])
def test_help_is_enough(command: tuple[str, ...], sapwood: Run) -> None:
    ran = sapwood(*command, "--help")
    assert ran.returncode == 0
    assert ("Examples" in ran.stdout) == bool(command)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-t", "y"), "leave such rows out with --on-bad-row skip or quarantine"),
        (("-t", "colour", "--task", "regression"), "choose another target, or --task classification"),
        (("-t", "y", "--on-bad-row", "skip", "--leaf", "multinomial"), "--leaf multinomial is not allowed; choose one"),
    ],
)
def test_hints_are_spelled_as_they_are_typed(arguments: tuple[str, ...], said: str, sapwood: Run, rows: Path) -> None:
    rows.write_text(rows.read_text() + "1,2,red,3,4\n")
    ran = sapwood("learn", "rows.csv", *arguments, *NUMBERS)
    assert ran.returncode == 1
    assert said in ran.stderr
    assert "='" not in ran.stderr


def test_pictures_are_left_in_the_folder_that_is_named(sapwood: Run, rows: Path) -> None:
    told = last_json(sapwood("learn", "rows.csv", "-t", "y", "--json", "--pictures", "seen", *NUMBERS))
    assert told["pictures"] == "seen"
    drawn = {file.name for file in rows.with_name("seen").iterdir()}
    assert {"overview.png", "score-rmse.png", "last-rows.png", "pool-history.png"} <= drawn
    ran = sapwood("learn", "rows.csv", "-t", "y", "--pictures", "nowhere/seen", *NUMBERS)
    assert ran.returncode == 1
    assert "nowhere/seen" in ran.stderr
    assert sapwood("learn", "rows.csv", "-t", "y", "--pictures", "rows.csv", *NUMBERS).returncode == 1


def test_the_shell_can_complete(process: Run) -> None:
    """The completion script for bash, and the commands that it offers."""
    asked = {**os.environ, "_SAPWOOD_COMPLETE": "complete_bash", "COMP_WORDS": "sapwood in", "COMP_CWORD": "1"}
    assert process(env=asked).stdout.split() == ["inspect"]


def test_the_package_can_be_run() -> None:
    ran = subprocess.run([sys.executable, "-m", "sapwood", "--version"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, f"sapwood {package.__version__}"), ran.stderr


def test_files_as_they_are(sapwood: Run, tmp_path: Path) -> None:
    """A file as a spreadsheet exports it; learning it and predicting it say how it was read."""
    lines = [f"{i % 7},5;{'n.a.' if i % 9 == 4 else f'{i % 11} %'};{i % 10},25" for i in range(200)]
    (tmp_path / "export.csv").write_bytes(("größe;anteil;preis\n" + "\n".join(lines) + "\n").encode("cp1252"))
    told = last_json(sapwood("learn", "export.csv", "-t", "preis", "--save", "m.sap", "--json", *NUMBERS))
    assert told["task"] == "regression"
    said = " ".join(told["notes"])
    assert "read as cp1252" in said
    assert "decimal commas" in said
    assert "per cent" in said
    assert "'n.a.'" in said
    ran = sapwood("predict", "m.sap", "export.csv")
    assert len(ran.stdout.splitlines()) == 201
    assert "decimal commas" in ran.stderr
    options = ("--decimal", ",", "--thousands", ".", "--encoding", "cp1252", "--na-values", "n.a.,0 %")
    assert sapwood("learn", "export.csv", "-t", "preis", "-q", *options, *NUMBERS).returncode == 0
    ran = sapwood("learn", "export.csv", "-t", "preis", "--encoding", "ascii", *NUMBERS)
    assert "name the right one with --encoding" in ran.stderr


def test_the_version(sapwood: Run) -> None:
    assert sapwood("--version").stdout.strip() == f"sapwood {package.__version__}"
