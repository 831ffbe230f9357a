"""What is already done: a file of finished jobs, so that an interrupted run continues where it stopped."""

from __future__ import annotations

import json
from pathlib import Path

from sapwood.reproduce._experiment import Record


class Journal:
    """One line a finished job, after a first line that says what they belong to.

    The file exists only while a run is unfinished. Jobs of another version, other settings or another scale are
    dropped: they do not belong to this run.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "journal.jsonl"
    ...     Journal(path, {"seed": 1}).add("job", {"rmse": 2.0})
    ...     Journal(path, {"seed": 1}).records, Journal(path, {"seed": 2}).records
    ({'job': {'rmse': 2.0}}, {})
    """

    def __init__(self, path: Path, identity: Record) -> None:
        self._path = path
        self.records: dict[str, Record] = {}
        lines = _whole_lines(path)
        if lines and json.loads(lines[0]) == identity:
            self.records = dict(json.loads(line) for line in lines[1:])
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written anew, so that a line cut short by an interruption does not stay in the middle.
        entries = [identity, *self.records.items()]
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")

    def add(self, key: str, record: Record) -> None:
        """Note a finished job."""
        self.records[key] = record
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, record]) + "\n")

    def close(self) -> None:
        """Remove the file: the run is complete and its results are written elsewhere."""
        self._path.unlink()


def _whole_lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
