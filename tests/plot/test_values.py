"""Plots show the values that the model returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, metrics, plot
from sapwood._fitted import native
from sapwood.plot._beliefs import _telling_apart
from sapwood.plot._model import member_names
from sapwood.plot._one_tree import Node


def test_a_slice_shows_the_predictive_distribution(regressor: DynamicTreeRegressor) -> None:
    at = np.array([0.2, 0.4, 0.6])
    display = plot.PredictiveSliceDisplay.from_estimator(regressor, 1, at=at, level=0.5, n_points=11)
    own = display.slices[0]
    rows = np.tile(at, (11, 1))
    rows[:, 1] = own.x
    distribution = regressor.predict_dist(rows)
    np.testing.assert_array_equal(own.mean, distribution.mean())
    np.testing.assert_array_equal([own.lower, own.upper], distribution.interval(0.5))
    assert own.x[0] == regressor.active_.X[:, 1].min()
    assert own.x[-1] == regressor.active_.X[:, 1].max()


def test_slices_of_all_inputs_or_of_those_named(regressor: DynamicTreeRegressor) -> None:
    assert [s.name for s in plot.PredictiveSliceDisplay.from_estimator(regressor).slices] == ["x0", "x1", "x2"]
    named = plot.PredictiveSliceDisplay.from_estimator(regressor, ["c", 0], feature_names=["a", "b", "c"])
    assert [s.name for s in named.slices] == ["c", "a"]
    assert len(named.axes_) == 2


def test_a_model_of_many_inputs_shows_the_six_it_uses(rng: np.random.Generator) -> None:
    X = rng.uniform(size=(300, 9))
    y = 5 * np.sign(X[:, 8] - 0.5) + rng.normal(scale=0.1, size=300)
    model = DynamicTreeRegressor(leaf="constant", max_active=200, n_particles=50, random_state=0).fit(X, y)
    names = [s.name for s in plot.PredictiveSliceDisplay.from_estimator(model, n_points=5).slices]
    assert len(names) == 6
    assert "x8" in names


def test_missing_and_constant_columns_can_be_drawn(rng: np.random.Generator) -> None:
    X = np.column_stack([rng.uniform(size=60), np.full(60, np.nan), np.full(60, 3.0)])
    model = DynamicTreeRegressor(max_active=40, n_particles=20, random_state=0).fit(X, X[:, 0])
    slices = plot.PredictiveSliceDisplay.from_estimator(model).slices
    assert all(np.isfinite(s.mean).all() for s in slices if s.mean is not None)
    assert (slices[2].x[0], slices[2].x[-1]) == (2.5, 3.5)


def test_a_map_shows_the_model(regressor: DynamicTreeRegressor, classifier: DynamicTreeClassifier) -> None:
    numbers = plot.PredictiveMapDisplay.from_estimator(regressor, (2, 0), at=[0.1, 0.2, 0.3], n_points=4)
    row = [[numbers.y[3], 0.2, numbers.x[1]]]
    assert numbers.values[3, 1] == regressor.predict(row)[0]
    classes = plot.PredictiveMapDisplay.from_estimator(classifier, n_points=4)
    np.testing.assert_array_equal(classes.values[2, 1], classifier.predict_proba([[classes.x[1], classes.y[2]]])[0])


def test_coverage_of_counts_is_coverage_of_intervals(rng: np.random.Generator) -> None:
    pit = rng.beta(2, 2, size=2000)
    display = plot.CoverageDisplay.from_predictions(pit)
    expected = [np.mean(np.abs(2 * pit - 1) <= level) for level in display.level]
    np.testing.assert_allclose(display.coverage, expected, atol=1e-12)  # no pit lies on the edge of a bin
    assert display.coverage[-1] == 1.0


def test_pit_counts_are_counts(rng: np.random.Generator) -> None:
    pit = np.append(rng.uniform(size=500), np.nan)
    display = plot.PitDisplay.from_predictions(pit, n_bins=10)
    np.testing.assert_allclose(display.counts, np.histogram(pit[:-1], bins=10, range=(0, 1))[0])


def test_reliability_is_the_calibration_error_in_parts(rng: np.random.Generator) -> None:
    proba = rng.dirichlet([1, 1, 1], size=400)
    y = rng.integers(3, size=400)
    display = plot.ReliabilityDisplay.from_predictions(y, proba, classes=[0, 1, 2])
    gap = np.abs(display.accuracy - display.confidence) @ display.n_rows / 400
    assert gap == pytest.approx(metrics.ece(y, proba))


def test_variable_use_counts_lags_after_inputs(rng: np.random.Generator) -> None:
    X = rng.uniform(size=(80, 2))
    model = DynamicTreeRegressor(max_active=[20, 40], lags=2, n_particles=20, random_state=0).fit(X, X[:, 0])
    display = plot.VariableUseDisplay.from_estimator(model)
    assert display.names == ["x0", "x1", "last target", "target 2 rows ago"]
    core = native(model)
    expected = sum(w * np.pad(core.split_use(k), (0, 4 - len(core.split_use(k)))) for k, w in enumerate(core.weights()))
    np.testing.assert_allclose(display.use, expected)


def test_heights_count_each_cloud_by_its_weight(regressor: DynamicTreeRegressor) -> None:
    display = plot.TreeHeightDisplay.from_estimator(regressor)
    assert display.share.sum() == pytest.approx(1.0)
    stats = regressor.tree_stats()
    means = [stats.height[stats.member == k].mean() for k in range(2)]
    assert display.mean == pytest.approx(means @ regressor.bank_weights_)


def test_members_are_named_by_what_tells_them_apart() -> None:
    X, y = np.linspace(0, 1, 30)[:, np.newaxis], np.linspace(0, 1, 30)
    settings: dict[str, Any] = {"n_particles": 5, "random_state": 0}
    pools = DynamicTreeRegressor(max_active=[10, None], **settings).fit(X, y)
    assert member_names(pools) == ["pool 10", "all rows"]
    lagged = DynamicTreeRegressor(max_active=[10], lags=1, **settings).fit(X, y)
    assert member_names(lagged) == ["pool 10", "pool 10, 1 lag"]
    copies = DynamicTreeRegressor(max_active=10, copies=2, **settings).fit(X, y)
    assert member_names(copies) == ["pool 10 (copy 1)", "pool 10 (copy 2)"]


def leaves_of(node: Node) -> list[Node]:
    return [leaf for _, child in node.children for leaf in leaves_of(child)] or [node]


def test_a_drawn_tree_is_the_tree(regressor: DynamicTreeRegressor) -> None:
    particle = int(native(regressor).tree_stats(1).n_leaves.argmax())
    dump = native(regressor).tree(1, particle)
    display = plot.TreeDisplay.from_estimator(regressor, member=1, particle=particle, max_depth=99)
    leaves = leaves_of(display.root)
    assert len(leaves) == (dump.split_dim < 0).sum()
    assert [leaf.x for leaf in leaves] == list(range(len(leaves)))
    first = int(np.flatnonzero(dump.split_dim < 0)[0])
    assert leaves[0].text.startswith(f"{dump.value[first, 0]:.4g}")
    folded = plot.TreeDisplay.from_estimator(regressor, member=1, particle=particle, max_depth=0)
    assert folded.root.text.startswith(f"… {len(leaves)} leaves")


def test_a_tree_says_where_missing_values_go_if_there_are_any(rng: np.random.Generator) -> None:
    X = rng.uniform(size=(200, 1))
    y = np.sign(X[:, 0] - 0.5) + rng.normal(scale=0.05, size=200)
    settings: dict[str, Any] = {"leaf": "constant", "max_active": 100, "n_particles": 30, "random_state": 0}
    whole = plot.TreeDisplay.from_estimator(DynamicTreeRegressor(**settings).fit(X, y))
    assert {word for word, _ in whole.root.children} == {"yes", "no"}
    X[::5] = np.nan
    holes = plot.TreeDisplay.from_estimator(DynamicTreeRegressor(**settings).fit(X, y))
    assert sum("missing" in word for word, _ in holes.root.children) == 1


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: plot.PredictiveSliceDisplay.from_estimator(m, "z"), "no feature 'z'; the features are x0, x1, x2"),
        (lambda m: plot.PredictiveSliceDisplay.from_estimator(m, 3), r"no feature 3; .* \(0 to 2\)"),
        (lambda m: plot.PredictiveSliceDisplay.from_estimator(m, at=[1.0]), "at has shape"),
        (lambda m: plot.VariableUseDisplay.from_estimator(m, feature_names=["a"]), "1 names; the model has 3 inputs"),
        (lambda m: plot.TreeDisplay.from_estimator(m, member=2), "clouds 0 to 1"),
        (lambda m: plot.TreeDisplay.from_estimator(m, particle=40), "trees 0 to 39"),
        (lambda m: plot.PredictiveSliceDisplay.from_estimator(m).plot([]), "0 axes; there are 3 slices"),
    ],
)
def test_mistakes_are_named(regressor: DynamicTreeRegressor, draw: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(regressor)


def test_a_model_of_another_make_is_refused() -> None:
    from sklearn.dummy import DummyRegressor

    with pytest.raises(TypeError, match="needs a DynamicTreeRegressor or DynamicTreeClassifier"):
        plot.BankDisplay.from_estimator(DummyRegressor())


@pytest.mark.filterwarnings("error")
def test_a_model_that_knows_its_columns_by_name_is_asked_without_a_warning(rng: np.random.Generator) -> None:
    X = pd.DataFrame({"width": rng.uniform(size=60), "depth": rng.uniform(size=60)})
    model = DynamicTreeRegressor(max_active=40, n_particles=20, random_state=0).fit(X, X["width"])
    assert plot.PredictiveSliceDisplay.from_estimator(model, "depth").ax_.get_xlabel().startswith("depth")
    assert plot.PredictiveMapDisplay.from_estimator(model, n_points=5).names == ("width", "depth")


def test_descriptions_are_cut_where_they_agree() -> None:
    members = ["linear leaves, pool 25", "linear leaves, pool 25, 1 lag"]
    assert _telling_apart(members) == ["pool 25", "pool 25, 1 lag"]
    assert _telling_apart(["linear leaves, pool 25"]) == ["pool 25"]
    assert _telling_apart([]) == []


def test_slices_share_one_vertical_scale(regressor: DynamicTreeRegressor) -> None:
    display = plot.PredictiveSliceDisplay.from_estimator(regressor)
    assert len({ax.get_ylim() for ax in display.axes_}) == 1


def test_areas_of_a_bank_history_can_be_told_apart() -> None:
    """Copies are added up, members with small weights share one area, and no two areas have the same colour."""
    members = ["linear leaves, pool 25", "linear leaves, pool 100", "constant leaves, pool 25", "last value"]
    weights = np.tile(np.array([0.1, 0.3, 0.095, 0.005]), (3, 2))
    display = plot.BankHistoryDisplay([1, 2, 3], members * 2, weights).plot()
    legend = display.ax_.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["others", "constant leaves, pool 25", "linear leaves, pool 100", "linear leaves, pool 25"]
    areas = display.ax_.collections
    assert len({tuple(area.get_facecolor()[0]) for area in areas}) == len(areas) == 4
    heights = [area.get_paths()[0].get_extents().height for area in areas]
    np.testing.assert_allclose(heights, [0.2, 0.6, 0.19, 0.01])
