"""Levels of categories mean something: their effects are learned on the way, and nothing leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, load
from sapwood._files import to_bytes
from sapwood._fitted import fitted, native
from sapwood.stream import evaluate


def regressor(**params: Any) -> DynamicTreeRegressor:
    return DynamicTreeRegressor(**{"n_particles": 20, "max_active": [20, 50], "random_state": 0, **params})


def levels(n_rows: int, n_levels: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A column whose levels have effects of standard deviation 3, and noise of standard deviation 1."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, n_levels, n_rows)
    table = pd.DataFrame({"x": rng.normal(size=n_rows), "g": [f"level {k}" for k in code]})
    return table, rng.normal(0, 3, n_levels)[code] + rng.normal(size=n_rows)


def shrunken_means(table: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """The forecast that knows the ratio of the variances: the best any method could do that treats levels alike."""
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    said = []
    for level, target in zip(table["g"], y, strict=True):
        said.append(sums.get(level, 0.0) / (counts.get(level, 0) + 1 / 9))
        sums[level] = sums.get(level, 0.0) + target
        counts[level] = counts.get(level, 0) + 1
    return np.array(said)


def test_two_thousand_levels_are_worth_as_much_as_their_shrunken_means() -> None:
    """The defect: codes alone were worth nothing, 3.16 where the shrunken mean had 2.00."""
    table, y = levels(8000, 2000)
    score = evaluate(DynamicTreeRegressor(random_state=0), table.assign(y=y), ["rmse"], target="y", lags=None)
    reference = float(np.sqrt(np.mean((shrunken_means(table, y) - y) ** 2)))
    assert score.overall()["model"]["rmse"] < 1.05 * reference


def test_a_target_does_not_reach_its_own_forecast() -> None:
    """Fails if a row's score is taken after its target was learned: the forecast of a new level would know it."""
    table, y = levels(300, 40)
    changed = y.copy()
    changed[299] += 1000.0
    one, other = (
        evaluate(regressor(), table.assign(y=target), ["rmse"], target="y", lags=None).predictions["mean"]
        for target in (y, changed)
    )
    assert np.array_equal(one, other)


@pytest.mark.parametrize("delay", [0, 7])
def test_batches_and_delays_follow_the_plain_loop(delay: int) -> None:
    """Fails if the scores of rows depend on how many are learned at once, or are those of another time."""
    table, y = levels(300, 120)
    streamed = evaluate(regressor(), table.assign(y=y), ["rmse"], target="y", lags=None, delay=delay)
    model = regressor()
    model.fit(table[:1], y[:1])
    said = []
    for i in range(1, 300):
        if i > delay:
            said.append(model.predict(table[i : i + 1])[0])
            if i - delay > 0:
                model.partial_fit(table[i - delay : i - delay + 1], y[i - delay : i - delay + 1])
    if delay == 0:
        # Moments of a batch are summed in another order than those of a row.
        np.testing.assert_allclose(said, streamed.predictions["mean"][1:], rtol=1e-10, atol=1e-10)
        assert fitted(streamed.model).model.save(b"") == native(model).save(b"")
    whole = regressor().fit(table[:1], y[:1]).partial_fit(table[1:], y[1:])
    model.partial_fit(table[300 - delay :], y[300 - delay :])
    assert to_bytes(whole) == to_bytes(model)


def test_a_million_levels_take_bounded_memory() -> None:
    model = regressor(n_particles=2, max_active=10, leaf="constant")
    for first in range(0, 1_000_000, 50_000):
        model_rows = pd.DataFrame({"g": [f"id {i}" for i in range(first, first + 50_000)]})
        if first == 0:
            model.fit(model_rows[:2000], np.zeros(2000))
        model._further_inputs(model_rows, grow=True)
    model.partial_fit(model_rows[:3000], np.zeros(3000))
    assert len(to_bytes(model)) < 400_000


def test_classes_have_scores_too(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 60, 1500)
    table = pd.DataFrame({"g": [f"level {k}" for k in code]})
    for names, n_scores in ((["no", "yes"], 1), (["a", "b", "c"], 3)):
        labels = np.array(names)[code % len(names)]
        model = DynamicTreeClassifier(n_particles=20, max_active=50, random_state=0).fit(table[:1000], labels[:1000])
        assert native(model).n_scores == n_scores
        assert (model.predict(table[1000:]) == labels[1000:]).mean() > 0.9
        model.save(tmp_path / "m")
        assert np.array_equal(load(tmp_path / "m").predict_proba(table), model.predict_proba(table))


def test_numbers_have_no_scores(regression_data: Any) -> None:
    X, y = regression_data
    assert native(regressor().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)).n_scores == 0
