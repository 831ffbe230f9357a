"""Rows without a target are forecast; a later row with the same key brings the label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood._files import to_bytes
from sapwood._fitted import fitted
from sapwood.stream import SourceError, evaluate

from .conftest import CHEAP

Maker = Callable[..., Any]

LATE = 7  # rows between a row and the row that brings its label


@pytest.fixture
def orders(tmp_path: Path, numbers: tuple[Any, Any]) -> str:
    """Of 300 orders, every third is labelled at once; the label of each other comes some rows later, without inputs."""
    X, y = numbers
    lines = ["id,x0,x1,x2,y"]
    waiting: dict[int, list[int]] = {}
    for i in range(300):
        lines += [f"order {j},,,,{y[j]}" for j in waiting.pop(i, [])]
        cells = ",".join(map(str, X[i]))
        lines.append(f"order {i},{cells},{y[i] if i % 3 == 0 else ''}")
        if i % 3:
            waiting.setdefault(i + LATE, []).append(i)
    path = tmp_path / "orders.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def learned_in_order() -> list[int]:
    order: list[int] = []
    for i in range(300):
        order += [j for j in [i - LATE] if j >= 0 and j % 3]
        order += [i] if i % 3 == 0 else []
    return order


@pytest.mark.parametrize("batch_rows", [1, 13, 1000])
def test_rows_are_learned_when_their_label_comes(
    batch_rows: int, orders: str, regressor_maker: Maker, numbers: tuple[Any, Any]
) -> None:
    X, y = numbers
    options = {"batch_rows": batch_rows}
    result = evaluate(regressor_maker(), orders, CHEAP, target="y", key="id", source_options=options, lags=None)
    order = learned_in_order()
    plain = regressor_maker().partial_fit(X[order], y[order])
    assert (result.n_rows, result.n_learned, result.n_scored) == (300, len(order), 100)
    assert result.feature_names == ("x0", "x1", "x2")
    np.testing.assert_array_equal(np.isnan(result.predictions["y"]), np.arange(300) % 3 != 0)
    assert np.isfinite(result.predictions["mean"]).all()
    fitted(result.model).encoder = fitted(result.model).target = None
    assert to_bytes(result.model) == to_bytes(plain)


def test_rows_that_wait_survive_an_interruption(
    orders: str, tmp_path: Path, regressor_maker: Maker, stop_after: Callable[..., Any]
) -> None:
    def run(name: str, **given: Any) -> Any:
        path = tmp_path / f"{name}.checkpoint"
        return evaluate(regressor_maker(), orders, CHEAP, target="y", key="id", checkpoint=path, **given)

    stop, progress = stop_after(150)
    assert run("stopped", stop=stop, progress=progress).n_rows < 300
    resumed, whole = run("stopped", resume=True), run("whole")
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    assert resumed.overall() == whole.overall()


def test_a_row_whose_label_is_too_late_is_given_up(orders: str, regressor_maker: Maker) -> None:
    """Its label row is then a row like any other; here it has no inputs, but a target."""
    result = evaluate(regressor_maker(), orders, CHEAP, target="y", key="id", label_wait=3, lags=None)
    assert result.n_rows > 300
    assert result.n_learned == result.n_scored == result.n_rows - 200


def test_a_row_that_comes_again_takes_the_place_of_its_earlier_form(regressor_maker: Maker) -> None:
    rows = [
        {"id": "a", "x": 1.0, "y": 2.0},
        {"id": "b", "x": 5.0, "y": None},
        {"id": "b", "x": 3.0, "y": None},
        {"id": "b", "x": None, "y": 4.0},
    ]
    result = evaluate(regressor_maker(), rows, CHEAP, target="y", key="id", lags=None)
    plain = regressor_maker().partial_fit([[1.0], [3.0]], [2.0, 4.0])
    fitted(result.model).encoder = fitted(result.model).target = None
    assert to_bytes(result.model) == to_bytes(plain)
    assert result.n_rows == 3


def test_classes_may_come_late(classifier_maker: Maker) -> None:
    rows = [{"id": i, "x": float(i), "y": None if i % 2 else "up"} for i in range(20)]
    late = [{"id": i, "x": None, "y": "down"} for i in range(1, 20, 2)]
    result = evaluate(classifier_maker(), [*rows, *late, {"id": 99, "x": 1.0, "y": None}], target="y", key="id")
    assert result.classes is not None
    assert set(result.classes.tolist()) == {"up", "down"}
    assert (result.n_rows, result.n_learned) == (21, 20)
    with pytest.raises(SourceError, match="none of its first rows has a label"):
        evaluate(classifier_maker(), rows[1:2], target="y", key="id")


def test_without_a_key_a_missing_target_is_a_bad_row(orders: str, regressor_maker: Maker) -> None:
    with pytest.raises(SourceError, match="line 3: the target 'y' is missing"):
        evaluate(regressor_maker(), orders, CHEAP, target="y")
    options = {"keep_unlabelled": True}
    result = evaluate(regressor_maker(), orders, CHEAP, target="y", source_options={**options, "drop": ["id"]})
    n_late = sum(1 for j in range(300) if j % 3 and j + LATE < 300)
    assert (result.n_rows, result.n_scored) == (300 + n_late, 100 + n_late)
