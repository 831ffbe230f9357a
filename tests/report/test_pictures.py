"""The report's pictures as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.linear_model import SGDRegressor

from sapwood.plot import OverviewDisplay
from sapwood.report import write_pictures
from sapwood.report._charts import SECTIONS
from sapwood.stream import EvaluationResult, evaluate


def test_every_picture_of_the_report_becomes_a_file(regression_result: EvaluationResult, tmp_path: Path) -> None:
    files = write_pictures(tmp_path / "pictures", regression_result)
    names = [file.stem for file in files]
    assert names[0] == "overview"
    assert names[1:] == [picture.name for section in SECTIONS for picture in section(regression_result)]
    assert len(set(names)) == len(names)
    assert sorted(files) == sorted((tmp_path / "pictures").iterdir())
    for file in files:
        pixels = imread(file)
        assert min(pixels.shape[:2]) > 150
        assert pixels[..., :3].std() > 0.01, file.name
        assert pixels[..., :3].mean() > 0.5, f"{file.name}: paper is white"


def test_pictures_are_replaced(class_result: EvaluationResult, tmp_path: Path) -> None:
    (tmp_path / "overview.png").write_bytes(b"an older picture")
    assert write_pictures(tmp_path, class_result)[0].read_bytes().startswith(b"\x89PNG")


def test_the_pool_is_followed_through_the_stream(regression_result: EvaluationResult) -> None:
    pool = regression_result.pool
    assert pool.row[-1] == regression_result.n_rows
    assert pool.n_active[-1] == len(regression_result.model.active_)
    last = pool.places[-1, :, 0]
    held = regression_result.model.active_.X[:, 0]
    assert (last[0], last[-1]) == (held.min(), held.max())
    assert (np.diff(last) >= 0).all()
    assert np.isin(last, held).all()


def test_an_overview_has_what_the_run_has(
    regression_result: EvaluationResult, class_result: EvaluationResult, tmp_path: Path
) -> None:
    assert list(OverviewDisplay.from_result(regression_result).axes_) == [
        "rmse",
        "log_score",
        "rows",
        "bank",
        "forgetting",
    ]
    single = OverviewDisplay.from_result(class_result, title="three classes")
    assert list(single.axes_) == ["accuracy", "log_loss", "reliability", "forgetting"]
    assert single.figure_.get_suptitle() == "three classes"
    X = np.random.default_rng(0).uniform(size=(60, 2))
    other = evaluate(SGDRegressor(random_state=0), (X, X[:, 0]), window=20)
    assert list(OverviewDisplay.from_result(other).axes_) == ["rmse", "mae", "rows"]


@pytest.fixture(autouse=True)
def no_figures_left() -> object:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
