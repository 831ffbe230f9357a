"""Labels from a second source, by position or by key."""

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


def write(path: Path, columns: dict[str, Any]) -> str:
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join("" if v != v else str(v) for v in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def inputs(X: Any) -> dict[str, Any]:
    return {f"x{i}": X[:, i] for i in range(X.shape[1])}


@pytest.fixture
def one_source(tmp_path: Path, regressor_maker: Maker, numbers: tuple[Any, Any]) -> Callable[..., Any]:
    """Evaluates a single source with inputs and labels."""
    X, y = numbers
    path = write(tmp_path / "whole.csv", {**inputs(X), "y": y})
    return lambda delay: evaluate(regressor_maker(), path, CHEAP, target="y", delay=delay, lags=None)


@pytest.mark.parametrize("delay", [0, 20])
def test_labels_by_position_are_like_a_column(
    delay: int, tmp_path: Path, regressor_maker: Maker, numbers: tuple[Any, Any], one_source: Callable[..., Any]
) -> None:
    X, y = numbers
    rows = write(tmp_path / "rows.csv", inputs(X))
    labels = write(tmp_path / "labels.csv", {"y": y})
    result = evaluate(regressor_maker(), rows, CHEAP, target="y", labels=labels, delay=delay, lags=None)
    whole = one_source(delay)
    assert to_bytes(result.model) == to_bytes(whole.model)
    assert result.overall() == whole.overall()


def test_labels_by_key_may_arrive_in_any_order(
    tmp_path: Path, regressor_maker: Maker, numbers: tuple[Any, Any], rng: np.random.Generator
) -> None:
    """The model learns rows in the order of their labels, each once row and label have arrived."""
    X, y = numbers
    key = np.array([f"order {i}" for i in range(400)])
    # Labels are shuffled within blocks of 10 rows.
    order = np.concatenate([first + rng.permutation(10) for first in range(0, 400, 10)])
    rows = write(tmp_path / "rows.csv", {"id": key, **inputs(X)})
    labels = write(tmp_path / "labels.csv", {"id": key[order], "y": y[order]})
    result = evaluate(regressor_maker(), rows, CHEAP, target="y", labels=labels, key="id", lags=None)
    arrival = np.maximum(np.argsort(order), np.arange(400))
    # Two labels that become usable after the same row are learned in the order of the rows.
    learned = np.lexsort((np.arange(400), arrival))
    plain = regressor_maker().partial_fit(X[learned], y[learned])
    names = result.model.feature_names_in_
    fitted(result.model).encoder = fitted(result.model).target = None
    assert list(names) == ["x0", "x1", "x2"]
    assert to_bytes(result.model) == to_bytes(plain)
    assert result.n_scored == 400


def test_rows_whose_label_never_arrives_are_only_forecast(
    tmp_path: Path, classifier_maker: Maker, labels: tuple[Any, Any]
) -> None:
    X, y = labels
    y = np.where(y == "new", "up", y)
    has_label = np.arange(400) % 4 != 0
    rows = write(tmp_path / "rows.csv", {"id": np.arange(400), **inputs(X)})
    late = write(tmp_path / "labels.csv", {"id": np.arange(400)[has_label], "y": y[has_label]})
    result = evaluate(classifier_maker(), rows, target="y", labels=late, key="id", delay=30, warm_up=40)
    assert (result.n_rows, result.n_learned, result.n_scored) == (400, 300, 270)
    assert [label is None for label in result.predictions["y"]] == (~has_label).tolist()
    scored = [i for i in np.flatnonzero(has_label) if i >= 40]
    last = [max(j for j in range(i - 30) if has_label[j]) for i in scored]  # row j is learned after row j + 30
    assert result.overall()["no_change"]["accuracy"] == pytest.approx(np.mean(y[scored] == y[last]))


def test_pending_labels_survive_an_interruption(
    tmp_path: Path, regressor_maker: Maker, numbers: tuple[Any, Any], stop_after: Callable[..., Any]
) -> None:
    """The run stops while some labels have been read ahead and others are still to arrive."""
    X, y = numbers
    order = np.arange(400).reshape(-1, 20)[:, ::-1].ravel()
    rows = write(tmp_path / "rows.csv", {"id": np.arange(400), **inputs(X)})
    late = write(tmp_path / "labels.csv", {"id": order, "y": y[order]})

    def run(name: str, **given: Any) -> Any:
        path = tmp_path / f"{name}.checkpoint"
        return evaluate(
            regressor_maker(), rows, CHEAP, target="y", labels=late, key="id", delay=4, checkpoint=path, **given
        )

    stop, progress = stop_after(150)
    assert run("stopped", stop=stop, progress=progress).n_rows < 400
    resumed, whole = run("stopped", resume=True), run("whole")
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    assert resumed.overall() == whole.overall()


def test_arrays_with_a_target_of_their_own_can_have_other_labels(
    regressor_maker: Maker, numbers: tuple[Any, Any]
) -> None:
    X, y = numbers
    result = evaluate(regressor_maker(), (X, np.zeros(400)), CHEAP, labels=(X, y), lags=None)
    assert to_bytes(result.model) == to_bytes(regressor_maker().partial_fit(X, y))


def test_a_label_later_than_the_wait_is_given_up(
    tmp_path: Path, regressor_maker: Maker, numbers: tuple[Any, Any]
) -> None:
    X, y = numbers
    rows = write(tmp_path / "rows.csv", {"id": np.arange(400), **inputs(X)})
    order = np.roll(np.arange(400), -1)  # the label of row 0 comes last
    late = ({"id": float(i), "y": float(y[i])} for i in order)
    result = evaluate(regressor_maker(), rows, CHEAP, target="y", labels=late, key="id", label_wait=10, lags=None)
    # Entry j belongs to row j + 1. Without row 0 that is its turn, so all others are learned in order, without delay.
    plain = regressor_maker().partial_fit(X[1:], y[1:])
    fitted(result.model).encoder = fitted(result.model).target = None
    assert to_bytes(result.model) == to_bytes(plain)
    assert result.n_scored == 399


def test_a_missing_key_is_named(tmp_path: Path, regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    X, y = numbers
    rows = write(tmp_path / "rows.csv", {"id": np.arange(400), **inputs(X)})
    late = write(tmp_path / "labels.csv", {"ident": np.arange(400), "y": y})
    with pytest.raises(SourceError, match=r"labels.csv has no column 'id' \(the key\)"):
        evaluate(regressor_maker(), rows, CHEAP, target="y", labels=late, key="id")
