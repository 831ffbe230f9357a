"""Each experiment in miniature, run once for all tests that look at it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sapwood.reproduce._report import draw_figures
from sapwood.reproduce._runner import run
from sapwood.reproduce.experiments import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
Results = dict[str, Any]


def data_home() -> Path:
    return Path(os.environ.get("SAPWOOD_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Results]:
    """``miniature(name)``: the results of an experiment at its smallest scale; skips if its data are not here."""
    folder = tmp_path_factory.mktemp("experiments")
    done: dict[str, Results] = {}

    def results(name: str) -> Results:
        if name not in done:
            absent = run([EXPERIMENTS[name]], "miniature", folder, n_processes=1, data_home=data_home(), say=_silent)
            if absent:
                pytest.skip(absent[name])
            draw_figures(folder)
            home = folder / name
            assert list(home.glob("*.png")), "an experiment draws at least one figure"
            done[name] = json.loads((home / "results-miniature.json").read_text(encoding="utf-8"))
        return done[name]

    return results


def _silent(line: str) -> None:
    """Progress is of no interest here."""
