"""Feeds: a row in, its forecast out, by the order of events. Nothing here depends on how fast the machine is."""

from __future__ import annotations

import fcntl
import json
import os
import queue
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sapwood as package

from .conftest import COMMAND, NUMBERS, SMALL

Run = Callable[..., Any]

PATIENCE = 60  # seconds until a line that does not come is a failure; a busy machine needs a few


class Feed:
    """A running command: rows are written to it, and its answers read, one line at a time."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.run = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.run.stdout is not None
        for line in self.run.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def write(self, *lines: str) -> None:
        """Write lines to standard input."""
        assert self.run.stdin is not None
        self.run.stdin.write("".join(line + "\n" for line in lines))
        self.run.stdin.flush()

    def n_unread(self) -> int:
        """How many of the bytes written have not been read yet."""
        assert self.run.stdin is not None
        return int.from_bytes(fcntl.ioctl(self.run.stdin, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)

    def answer(self) -> str:
        """The next line of standard output."""
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError("no answer") from None
        if line is None:
            assert self.run.stderr is not None
            raise AssertionError(f"ended: {self.run.stderr.read()}")
        return line

    def end(self, number: int | None = None) -> tuple[int, str]:
        """Close standard input, or send a signal; return exit code and standard error."""
        assert self.run.stdin is not None
        assert self.run.stderr is not None
        if number is None:
            self.run.stdin.close()
        else:
            self.run.send_signal(number)
        code = self.run.wait(timeout=PATIENCE)
        return code, self.run.stderr.read()


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[Callable[..., Feed]]:
    """Starts commands in the test's folder, and ends those that the test has left running."""
    started: list[Feed] = []

    def start(*arguments: str) -> Feed:
        started.append(Feed(tmp_path, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.run.kill()
        one.run.wait()


@contextmanager
def patience(seconds: float = PATIENCE) -> Iterator[Callable[[], bool]]:
    """Yield a function to call while something has not happened yet; it fails once the patience is over."""
    deadline = time.monotonic() + seconds

    def still() -> bool:
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
        return True

    yield still


def table(path: Path) -> tuple[str, list[str]]:
    """The header and the rows of a CSV file."""
    header, *lines = path.read_text().splitlines()
    return header, lines


def test_predict_answers_each_row_of_a_pipe_before_the_next_is_written(feed: Any, sapwood: Run, rows: Path) -> None:
    assert sapwood("learn", "rows.csv", "-t", "y", "--save", "m.sap", "--quiet", *NUMBERS).returncode == 0
    whole = sapwood("predict", "m.sap", "rows.csv").stdout.splitlines()
    header, lines = table(rows)
    piped = feed("predict", "m.sap", "-")
    piped.write(header)
    for i, line in enumerate(lines[:20]):
        piped.write(line)
        if i == 0:
            assert piped.answer() == whole[0]
        assert piped.answer() == whole[i + 1]
    assert piped.end()[0] == 0


def test_learn_forecasts_each_row_of_a_pipe_before_the_next_is_written(feed: Any, sapwood: Run, rows: Path) -> None:
    """From the first row on, and with the forecasts that the file as a whole would get."""
    arguments = ["-t", "y", "--task", "regression", "--seed", "3", *NUMBERS]
    assert sapwood("learn", "rows.csv", "--predictions", "p.csv", "--quiet", *arguments).returncode == 0
    expected = rows.with_name("p.csv").read_text().splitlines()
    header, lines = table(rows)
    piped = feed("learn", "-", "--predictions", "-", *arguments)
    piped.write(header)
    for i, line in enumerate(lines[:50]):
        piped.write(line)
        if i == 0:
            assert piped.answer() == expected[0]
        assert piped.answer() == expected[i + 1]
    code, said = piped.end()
    assert code == 0
    assert "50 rows" in said, "the table goes to standard error, since standard output holds the forecasts"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_feed_that_is_stopped_after_one_row_leaves_what_was_asked_for(
    name: str, feed: Any, sapwood: Run, rows: Path
) -> None:
    """Model, checkpoint and predictions; and with the rows from the beginning, --resume goes on."""
    header, lines = table(rows)
    folder, number = rows.parent, getattr(signal, name)
    arguments = ["-t", "y", "--task", "regression", "--save", "m.sap", "--predictions", "p.csv", *NUMBERS]
    piped = feed("learn", "-", *arguments)
    piped.write(header, lines[0])
    with patience() as still:
        while not all((folder / name).exists() for name in ("m.sap", "m.sap.checkpoint")):
            assert still()
    code, _ = piped.end(number)
    assert code == (-number if name == "SIGKILL" else 128 + number)
    assert package.load(folder / "m.sap").n_seen_ == 1
    assert len((folder / "p.csv").read_text().splitlines()) == 2
    again = feed("learn", "-", "--resume", *arguments)
    again.write(header, *lines)
    assert again.end()[0] == 0
    resumed = package.load(folder / "m.sap").log_evidence_
    assert sapwood("learn", "rows.csv", "-t", "y", "--save", "whole.sap", "--quiet", *NUMBERS).returncode == 0
    assert resumed == package.load(folder / "whole.sap").log_evidence_


def test_a_signal_before_the_first_row_ends_the_wait(feed: Any, tmp_path: Path) -> None:
    piped = feed("learn", "-", "-t", "y", "--save", "m.sap", *NUMBERS)
    piped.write("x,y")
    with patience() as still:
        while piped.n_unread():
            assert still()
    code, said = piped.end(signal.SIGTERM)
    assert code == 128 + signal.SIGTERM
    assert "interrupted" in said
    assert not (tmp_path / "m.sap").exists(), "there is no row that a model could have learned"


def test_the_types_of_a_feed_are_told_at_once_and_then_fixed(feed: Any) -> None:
    piped = feed("learn", "-", "-t", "y", "--predictions", "-", "--on-bad-row", "skip", *NUMBERS)
    piped.write("colour,x,y", "red,1,0.5")
    assert piped.answer().startswith("row,y,mean")
    assert piped.answer().startswith("0,0.5,")
    piped.write("blue,text,0.7", "blue,2,0.25")
    assert piped.answer().startswith("2,0.25,")
    code, said = piped.end()
    assert code == 0
    assert "note: the types of the columns are those of the first row" in said
    assert "colour is a category, x is a number" in said
    assert "1 rows were left out: not a number" in said


def test_whole_numbers_at_the_beginning_of_a_feed_do_not_tell_the_task(feed: Any) -> None:
    piped = feed("learn", "-", "-t", "y", *NUMBERS)
    piped.write("x,y", "1,3", "2,4")
    assert piped.run.wait(timeout=PATIENCE) == 1
    assert piped.run.stderr is not None
    assert "say which with --task classification or regression" in piped.run.stderr.read()


def test_classes_of_a_feed_arrive_one_by_one(feed: Any) -> None:
    arguments = ["--task", "classification", "--predictions", "-", "--format", "jsonl", *SMALL]
    piped = feed("learn", "-", "-t", "y", *arguments)
    piped.write("x,y", "1,a")
    said = [json.loads(piped.answer())]
    for line in ("2,b", "1,a", "2,b", "1.5,c"):
        piped.write(line)
        said.append(json.loads(piped.answer()))
    assert [row["row"] for row in said] == [0, 1, 2, 3, 4]
    assert "p_b" not in said[1]
    assert said[2]["p_a"] + said[2]["p_b"] == pytest.approx(1.0)
    assert piped.end()[0] == 0
    plain = feed("learn", "-", "-t", "y", "--task", "classification", "--predictions", "-", *SMALL)
    plain.write("x,y", "1,a")
    assert [plain.answer().split(",")[0] for _ in range(2)] == ["row", "0"]
    plain.write("2,b", "1,a")
    assert [len(plain.answer().split(",")) for _ in range(2)] == [4, 4]
    assert "standard output lacks p_b" in plain.end()[1]


def test_rows_of_a_feed_need_no_target_and_labels_may_come_later(feed: Any, tmp_path: Path) -> None:
    """A forecast for each row without a target; the row that brings the label gets none, but is learned."""
    arguments = ["-t", "y", "--task", "regression", "--key", "id", "--predictions", "-", "--save", "m.sap", *NUMBERS]
    piped = feed("learn", "-", *arguments)
    piped.write("id,x,y", "a,1,")
    assert piped.answer().startswith("row,y,mean")
    assert piped.answer().startswith("0,,")
    piped.write("b,2,0.5")
    assert piped.answer().startswith("1,0.5,")
    piped.write("c,3,", "a,,0.25", "d,4,")
    assert [piped.answer()[:3] for _ in range(2)] == ["2,,", "4,,"]
    assert piped.end()[0] == 0
    assert package.load(tmp_path / "m.sap").n_seen_ == 2


class TestFollow:
    """A file that grows, and may be rotated, truncated or written anew."""

    @pytest.fixture
    def path(self, rows: Path) -> Path:
        return rows.with_name("feed.csv")

    @pytest.fixture
    def told(self, feed: Any, sapwood: Run, rows: Path, path: Path) -> tuple[Feed, list[str]]:
        """A command that follows the file, and the lines it is to print."""
        arguments = ["-t", "y", "--predictions"]
        assert sapwood("learn", "rows.csv", *arguments, "p.csv", "--quiet", *NUMBERS).returncode == 0
        path.write_text(table(rows)[0] + "\n")
        return feed("learn", "--follow", "feed.csv", *arguments, "-", *NUMBERS), rows.with_name(
            "p.csv"
        ).read_text().splitlines()

    @staticmethod
    def append(path: Path, *lines: str) -> None:
        with open(path, "a") as file:
            file.writelines(line + "\n" for line in lines)

    def check(
        self, path: Path, rows: Path, told: tuple[Feed, list[str]], replace: Callable[[str, list[str]], None]
    ) -> None:
        """Two rows, then whatever `replace` does with the next three, then another."""
        following, expected = told
        header, lines = table(rows)
        self.append(path, lines[0])
        assert [following.answer(), following.answer()] == expected[:2]
        with open(path, "a") as file:  # a row arrives in two parts
            file.write(lines[1][:5])
        time.sleep(0.2)
        self.append(path, lines[1][5:])
        assert following.answer() == expected[2]
        replace(header, lines[2:5])
        assert [following.answer() for _ in range(3)] == expected[3:6]
        self.append(path, lines[5])
        assert following.answer() == expected[6]
        code, said = following.end(signal.SIGINT)
        assert code == 130
        assert "6 rows" in said

    def test_it_grows(self, path: Path, rows: Path, told: Any) -> None:
        self.check(path, rows, told, lambda _, lines: self.append(path, *lines))

    def test_it_is_rotated(self, path: Path, rows: Path, told: Any) -> None:
        """The old file gets a last row after it was renamed; the new one takes a while to appear."""

        def rotate(header: str, lines: list[str]) -> None:
            old = path.with_name("feed.csv.1")
            path.rename(old)
            self.append(old, lines[0])
            time.sleep(0.2)
            self.append(path, header, *lines[1:])

        self.check(path, rows, told, rotate)

    def test_it_is_truncated_and_goes_on_without_a_header(self, path: Path, rows: Path, told: Any) -> None:
        def truncate(_: str, lines: list[str]) -> None:
            os.truncate(path, 0)
            self.append(path, *lines)

        self.check(path, rows, told, truncate)

    def test_it_is_written_anew_and_longer(self, path: Path, rows: Path, told: Any) -> None:
        def overwrite(header: str, lines: list[str]) -> None:
            path.write_text("".join(line + "\n" for line in (header, *lines)))

        self.check(path, rows, told, overwrite)

    def test_another_file_takes_its_place(self, path: Path, rows: Path, told: Any) -> None:
        """Its columns are in another order."""

        def replace(header: str, lines: list[str]) -> None:
            turned = [",".join(reversed(line.split(","))) for line in (header, *lines)]
            self.append(path.with_name("new.csv"), *turned)
            path.with_name("new.csv").replace(path)
            lines[:] = []

        following, expected = told
        header, lines = table(rows)
        self.append(path, lines[0])
        assert [following.answer(), following.answer()] == expected[:2]
        replace(header, lines[1:4])
        assert [following.answer() for _ in range(3)] == expected[2:5]

    def test_a_file_with_other_columns_is_refused(self, path: Path, rows: Path, told: Any) -> None:
        following, _ = told
        header, lines = table(rows)
        self.append(path, lines[0])
        following.answer()
        path.write_text(header.replace("colour", "color") + "\n" + lines[1] + "\n")
        assert following.run.wait(timeout=PATIENCE) == 1
        assert following.run.stderr is not None
        assert "column 'colour' is missing, which the file before it has" in following.run.stderr.read()

    def test_only_a_csv_file_can_be_followed(self, sapwood: Run, gzipped: Path, tmp_path: Path) -> None:
        for source, said in (
            ("nowhere.csv", "there is no such file"),
            ("rows.csv.gz", "holds gzip data, which cannot be read while it grows"),
            ("-", "cannot be followed with --follow; name one CSV file"),
            (".", "cannot be followed"),
        ):
            ran = sapwood("learn", "--follow", source, "-t", "y", *NUMBERS)
            assert ran.returncode == 1
            assert said in ran.stderr
