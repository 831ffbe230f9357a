"""Names of columns, targets and classes are drawn literally, whatever they contain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, plot
from sapwood.plot._labels import literal

BAD_MATHS = r"$\nosuchsymbol^{$"
NAMES = [BAD_MATHS, "$^$ and \x1b[31m"]
TARGET = r"$\frac$ of US"
CLASSES = np.array(["$\\left$", "\x07$^^$"])


@pytest.fixture(scope="module")
def models() -> tuple[DynamicTreeRegressor, DynamicTreeClassifier]:
    x = np.random.default_rng(0).uniform(size=(120, 2))
    small: dict[str, Any] = {"n_particles": 10, "max_active": 40, "random_state": 0}
    y = 4 * (x[:, 0] > 0.5) + x[:, 1]
    return (
        DynamicTreeRegressor(**small, leaf="constant").fit(x, y),
        DynamicTreeClassifier(**small).fit(x, CLASSES[(x[:, 0] > 0.5).astype(int)]),
    )


def one_input(model: Any) -> Any:
    pool = model.active_
    return type(model)(n_particles=10, max_active=30, random_state=0).fit(pool.X[:, :1], pool.y)


SHARED: dict[str, Any] = {"feature_names": NAMES, "target": TARGET}
MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "slice": lambda r, c: plot.PredictiveSliceDisplay.from_estimator(r, 0, **SHARED),
    "slices": lambda r, c: plot.PredictiveSliceDisplay.from_estimator(r, **SHARED),
    "slice of classes": lambda r, c: plot.PredictiveSliceDisplay.from_estimator(c, 0, **SHARED),
    "map": lambda r, c: plot.PredictiveMapDisplay.from_estimator(r, n_points=5, **SHARED),
    "map of classes": lambda r, c: plot.PredictiveMapDisplay.from_estimator(c, n_points=5, **SHARED),
    "predictions": lambda r, c: plot.PredictionsDisplay(*np.ones((5, 3)), target=TARGET).plot(),
    "pool": lambda r, c: plot.PoolDisplay.from_estimator(r, **SHARED),
    "pool of one input": lambda r, c: plot.PoolDisplay.from_estimator(
        one_input(c), feature_names=NAMES[:1], target=TARGET
    ),
    "pool history": lambda r, c: plot.PoolHistoryDisplay([10, 20], [np.ones(3)] * 2, BAD_MATHS).plot(),
    "variables": lambda r, c: plot.VariableUseDisplay.from_estimator(r, feature_names=NAMES),
    "tree": lambda r, c: plot.TreeDisplay.from_estimator(r, feature_names=NAMES),
    "tree of classes": lambda r, c: plot.TreeDisplay.from_estimator(c, feature_names=NAMES),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_names_are_drawn_as_they_are(
    make: Callable[[Any, Any], Any], models: tuple[DynamicTreeRegressor, DynamicTreeClassifier]
) -> None:
    """Fails if a name reaches matplotlib as it is: drawing then raises, since it is no valid mathematics."""
    display = make(*models)
    display.figure_.canvas.draw()
    texts = [text.get_text() for text in display.figure_.findobj(Text)]
    assert any("$" in text for text in texts)
    assert not any(character in text for text in texts for character in "\x1b\x07")
    plt.close("all")


def test_a_dollar_sign_is_drawn_as_one() -> None:
    figure = plt.figure()
    text = figure.text(0, 0, literal("US$ and CA$"))
    text.get_window_extent(figure.canvas.get_renderer())  # type: ignore[attr-defined]
    assert text._preprocess_math(text.get_text()) == ("US$ and CA$", False)  # type: ignore[attr-defined]
