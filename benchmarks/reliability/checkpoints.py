"""Checkpoints made by an attacker: changed at random, resealed, and resumed.

A resumed run either refuses the file with a ValueError, or runs to its end with finite forecasts. It never runs code,
panics, or writes a model that cannot be loaded.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reliability import store
from benchmarks.reliability.random_tables import Rng
from benchmarks.reliability.tables import CLASSES, BrokenPromiseError
from sapwood._files import from_bytes, to_bytes
from sapwood._state import pack
from sapwood.prequential.files.checkpoint import Checkpoint, sealed
from sapwood.stream import evaluate

NAME = "checkpoints"
DEFAULT_CASES = 100_000
N_ROWS = 60

HOSTILE: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        7,
        2**31,
        2**53,
        2**62,
        -(2**63),
        2**70,
        0.0,
        0.5,
        -1e300,
        float("nan"),
        float("inf"),
    ),
    *("", "x", "regression", "classification", "\ud800", b"", b"\0" * 9, [], [[]], [1, 2], {}, {"entries": 1}),
    *(
        np.zeros(0),
        np.zeros(3),
        np.full((1, 1), np.inf),
        np.full(4, -1),
        np.zeros((2, 0)),
        np.arange(3),
        np.ones((60, 2)),
    ),
)


class Setting:
    """A run that was stopped half way, and its checkpoint."""

    def __init__(self, task: str) -> None:
        rng = np.random.default_rng(5)
        x = rng.uniform(size=(N_ROWS, 2))
        y = x.sum(axis=1) if task == "regression" else np.where(x[:, 0] > 0.5, "a", "b")
        self.task = task
        self.source = (x, y)
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "run.checkpoint"
        self.run(resume=False, max_rows=40)
        found = Checkpoint.read(self.path)
        assert found is not None
        self.content = found.content
        self.places = list(_places(self.content))
        self.body = pack(self.content)

    def run(self, *, resume: bool, max_rows: int | None = None) -> Any:
        """Run, or go on from the checkpoint."""
        model = CLASSES[self.task](n_particles=3, max_active=10, random_state=0)
        scores = ["rmse", "coverage90"] if self.task == "regression" else ["accuracy", "log_loss"]
        given: dict[str, Any] = {"delay": 3, "window": 20, "keep": 10, "checkpoint_every": 20}
        return evaluate(model, self.source, scores, resume=resume, max_rows=max_rows, checkpoint=self.path, **given)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Any:
    """Yield the paths of all entries."""
    if at:
        yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in inside:
        yield from _places(entry, (*at, name))


_settings: dict[str, Setting] = {}


def one_case(case: int) -> str:
    """Change the checkpoint by the number of the case, reseal it, and resume."""
    rng = np.random.default_rng([303, case])
    task = ("regression", "classification")[case % 2]
    if task not in _settings:
        _settings[task] = Setting(task)
    setting = _settings[task]
    for path in setting.folder.iterdir():
        path.unlink()
    setting.path.write_bytes(sealed(_changed_body(setting, rng)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = setting.run(resume=True)
        except ValueError:
            return "refused"
    columns = [values for values in result.predictions.values() if values.dtype.kind == "f"]
    late = [values[-5:] for values in columns if len(values)]
    data = to_bytes(result.model)
    if to_bytes(from_bytes(data, CLASSES)) != data:
        raise BrokenPromiseError("the model is not the one that is loaded")
    if not all(np.isfinite(values).all() for values in late):
        raise BrokenPromiseError("a forecast after resuming is not finite")
    return "resumed"


def _changed_body(setting: Setting, rng: Rng) -> bytes:
    if rng.random() < 0.3:  # bytes
        body = bytearray(setting.body)
        for _ in range(int(rng.integers(1, 4))):
            # The first bytes and the JSON text more often than the arrays after them.
            top = len(body) if rng.random() < 0.5 else min(len(body), 6000)
            at = int(rng.integers(top))
            kind = int(rng.integers(3))
            if kind == 0:
                body[at] ^= 1 << int(rng.integers(8))
            elif kind == 1:
                del body[at : at + int(rng.integers(1, 9))]
            else:
                body[at:at] = rng.bytes(int(rng.integers(1, 9)))
        return bytes(body)
    content = copy.deepcopy(setting.content)
    for _ in range(int(rng.integers(1, 3))):
        place = setting.places[rng.integers(len(setting.places))]
        _change(content, place, rng)
    return pack(content)


def _change(content: Any, place: tuple[Any, ...], rng: Rng) -> None:
    """Replace, nudge or remove an entry, if it is still there."""
    inside = content
    for step in place[:-1]:
        if not isinstance(inside, dict | list) or (isinstance(inside, dict) and step not in inside):
            return
        if isinstance(inside, list) and not (isinstance(step, int) and step < len(inside)):
            return
        inside = inside[step]
    last = place[-1]
    present = isinstance(inside, dict) and last in inside
    present |= isinstance(inside, list) and isinstance(last, int) and last < len(inside)
    if not present:
        return
    value, kind = inside[last], rng.random()
    if kind < 0.1:
        del inside[last]
    elif kind < 0.5 and isinstance(value, np.ndarray) and value.size:
        changed = value.copy()
        flat = changed.reshape(-1)
        if changed.dtype.kind == "f":
            flat[rng.integers(flat.size)] = rng.choice([np.nan, np.inf, -1.0, 1e300, 1e101, 0.5, -0.0])
        else:
            flat[rng.integers(flat.size)] = rng.choice([-1, 0, 1, 10**6, 2**62, -(2**63)])
        inside[last] = changed
    elif kind < 0.5 and isinstance(value, bytes) and value:
        data = bytearray(value)
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        inside[last] = bytes(data)
    elif kind < 0.5 and isinstance(value, int):
        inside[last] = value + int(rng.choice([-1, 1, 100, 10**9]))
    else:
        inside[last] = HOSTILE[rng.integers(len(HOSTILE))]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    store.add_case_arguments(parser, DEFAULT_CASES)


def main(options: argparse.Namespace) -> int:
    """Run the cases that are not stored yet."""
    return store.run_command(options, NAME, (__doc__ or "").splitlines()[0], one_case)
