"""Small runs to report on, each run once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood.report import write_report
from sapwood.stream import EvaluationResult, evaluate


@pytest.fixture(scope="session")
def regression_result() -> EvaluationResult:
    """200 rows with a kink, from a small bank, window 50."""
    rng = np.random.default_rng(0)
    rows = []
    for a, b in rng.uniform(size=(200, 2)).tolist():
        rows.append(({"width": a, "depth": b}, abs(a - 0.5) + 2 * b + float(rng.normal(scale=0.05))))
    model = DynamicTreeRegressor(max_active=[20, 60], n_particles=15, random_state=0)
    return evaluate(model, rows, window=50)


@pytest.fixture(scope="session")
def class_result() -> EvaluationResult:
    """200 rows of three classes, one of them with a name that is markup."""
    rng = np.random.default_rng(1)
    names = ["left", "<b>middle</b>", "right"]
    rows = [({"x": x}, names[int(np.digitize(x, [1 / 3, 2 / 3]))]) for x in rng.uniform(size=200).tolist()]
    model = DynamicTreeClassifier(max_active=60, n_particles=15, random_state=0)
    return evaluate(model, rows, window=50)


@pytest.fixture(scope="session")
def troubled_result(regression_result: EvaluationResult) -> EvaluationResult:
    """A run that was stopped, of a source with bad rows and a hostile name."""
    return replace(
        regression_result,
        interrupted=True,
        n_bad=3,
        bad_reasons={"not a number": 2, "<script>alert(1)</script>": 1},
        notes=("the column 'when' was read as a date", "a & b"),
        settings={**regression_result.settings, "source": "folder/'\"><script>alert(2)</script>.csv"},
        target="height <m>",
    )


def written(result: EvaluationResult, factory: pytest.TempPathFactory) -> Path:
    file = factory.mktemp("report") / "report.html"
    write_report(file, result)
    return file


@pytest.fixture(scope="session")
def regression_page(regression_result: EvaluationResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(regression_result, tmp_path_factory)


@pytest.fixture(scope="session")
def class_page(class_result: EvaluationResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(class_result, tmp_path_factory)


@pytest.fixture(scope="session")
def troubled_page(troubled_result: EvaluationResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(troubled_result, tmp_path_factory)


@pytest.fixture(params=["regression_page", "class_page", "troubled_page"])
def any_page(request: pytest.FixtureRequest) -> Path:
    page: Path = request.getfixturevalue(request.param)
    return page
