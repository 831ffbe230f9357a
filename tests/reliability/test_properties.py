"""What holds for every input: accepted, it gives finite forecasts; refused, it changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._files import from_bytes, to_bytes

CLASSES: dict[str, Any] = {"regression": DynamicTreeRegressor, "classification": DynamicTreeClassifier}
SMALL: dict[str, Any] = {"n_particles": 3, "max_active": 6, "random_state": 0}
# Derandomized: the same examples every time. The engine's time varies, so that there is no deadline.
EXAMPLES = settings(
    max_examples=120, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)

ordinary = st.floats(-1e3, 1e3)
acceptable = st.one_of(ordinary, st.sampled_from([0.0, -0.0, 1.0, np.nan]), st.floats(-1e100, 1e100))
anything = st.one_of(acceptable, st.floats(allow_nan=True, allow_infinity=True))
targets = st.one_of(ordinary, st.sampled_from([0.0, 1.0]), st.floats(-1e60, 1e60))
any_target = st.one_of(targets, st.floats(allow_nan=True, allow_infinity=True))
labels = st.sampled_from(["a", "b", "", "=1", "é", "\x1b[0m"])
leaves = st.sampled_from(["constant", "linear", "auto"])


@st.composite
def batches(draw: Any, x: Any, y: Any, n_columns: int, least: int = 1) -> tuple[Any, Any]:
    n_rows = draw(st.integers(least, 12))
    rows = draw(arrays(np.float64, (n_rows, n_columns), elements=x))
    return rows, np.array(draw(st.lists(y, min_size=n_rows, max_size=n_rows)))


@st.composite
def streams(draw: Any, first: Any, then: Any, x: Any) -> list[tuple[Any, Any]]:
    n_columns = draw(st.integers(1, 3))
    return [draw(batches(acceptable, first, n_columns)), draw(batches(x, then, n_columns))]


def learn(model: Any, stream: list[tuple[Any, Any]]) -> bool:
    """Learn, and return whether all of it was accepted. What is refused must change nothing."""
    accepted = True
    for x, y in stream:
        before = to_bytes(model) if model.__sklearn_is_fitted__() else None
        try:
            model.partial_fit(x, y)
        except ValueError:
            accepted = False
            assert (to_bytes(model) if model.__sklearn_is_fitted__() else None) == before
    return accepted


def check_identity(model: Any, x: Any, forecast: Any) -> None:
    data = to_bytes(model)
    again = from_bytes(data, CLASSES)
    assert to_bytes(again) == data
    assert np.array_equal(forecast(again, x), forecast(model, x))


@EXAMPLES
@given(streams(targets, any_target, anything), leaves)
def test_regression(stream: list[tuple[Any, Any]], leaf: str) -> None:
    model = DynamicTreeRegressor(**SMALL, leaf=leaf)
    learn(model, stream)
    x = stream[0][0]
    forecast = model.predict_dist(x)
    quantiles = forecast.ppf([0.01, 0.5, 0.99])
    assert np.isfinite(forecast.mean()).all()
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=1) >= 0).all()
    assert not np.isnan(forecast.std()).any()
    check_identity(model, x, lambda m, rows: m.predict(rows))


@EXAMPLES
@given(streams(labels, labels, anything))
def test_classification(stream: list[tuple[Any, Any]]) -> None:
    model = DynamicTreeClassifier(**SMALL)
    learn(model, stream)
    x = stream[0][0]
    proba = model.predict_proba(x)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    check_identity(model, x, lambda m, rows: m.predict_proba(rows))


@EXAMPLES
@given(streams(targets, targets, acceptable), st.integers(0, 12))
def test_batching_does_not_matter(stream: list[tuple[Any, Any]], cut: int) -> None:
    x, y = (np.concatenate(parts) for parts in zip(*stream, strict=True))
    whole = DynamicTreeRegressor(**SMALL).partial_fit(x, y)
    parts = DynamicTreeRegressor(**SMALL)
    for piece in (slice(0, cut), slice(cut, None)):
        if len(y[piece]):
            parts.partial_fit(x[piece], y[piece])
    assert to_bytes(parts) == to_bytes(whole)
