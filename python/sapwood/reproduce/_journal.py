"""A file of finished jobs, from which an interrupted run continues."""

from __future__ import annotations

import json
from pathlib import Path

from sapwood.reproduce._experiment import Record


class Journal:
    """One line per finished job, after a first line that identifies the run.

    The file exists only while a run is unfinished. Jobs of another version, other settings or another scale do not
    belong to the run and are dropped.

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
        # Rewritten, so that a truncated line does not remain in the middle of the file.
        entries = [identity, *self.records.items()]
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")

    def add(self, key: str, record: Record) -> None:
        """Record a finished job."""
        self.records[key] = record
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, record]) + "\n")

    def close(self) -> None:
        """Remove the file: the run is complete and its results have been written."""
        self._path.unlink()


def _whole_lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
