"""What is committed belongs together: settings, results, the paper's numbers, figures, and the page made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sapwood.reproduce._report import page_text, results_of, summary_of
from sapwood.reproduce.experiments import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "experiments"
PAGE = ROOT / "docs" / "paper.md"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="experiments/ is part of a checkout, not of the package")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_folder_is_complete(name: str) -> None:
    home = FOLDER / name
    assert (home / "README.md").is_file()
    assert list(home.glob("*.png"))
    assert EXPERIMENTS[name].paper()["stated"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_were_made_with_these_settings(name: str) -> None:
    experiment = EXPERIMENTS[name]
    results = results_of(experiment, FOLDER)
    assert results is not None
    scale = results["command"].rsplit("--", 1)[1]
    assert results["settings"] == json.loads(json.dumps(experiment.scales[scale]))
    assert {"command", "date", "seed", "version"} <= set(results)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_verdict_of_not_reproduced_has_a_reason(name: str) -> None:
    results = results_of(EXPERIMENTS[name], FOLDER)
    assert results is not None
    claims = EXPERIMENTS[name].claims(summary_of(results), EXPERIMENTS[name].paper())
    silent = [claim.what for claim in claims if claim.verdict.startswith("not") and not claim.why]
    assert silent == []


def test_the_page_is_made_of_the_committed_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_text(FOLDER, PAGE)
