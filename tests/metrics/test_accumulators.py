"""Metrics updated in chunks: equal to the functions, independent of the chunks, bounded in error and memory."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from sapwood import metrics
from sapwood.metrics import METRICS, ClassForecast, PitHistogram, RegressionForecast, Scoreboard


def regression(n=1500, seed=21):
    r = np.random.default_rng(seed)
    y, mean = r.standard_normal((2, n))
    return RegressionForecast(y, mean, mean - 1, mean + 2, -0.5 * y**2, r.random(n), np.abs(y - mean))


def classes(n=1500, seed=22, n_classes=2, sharpness=1.0):
    r = np.random.default_rng(seed)
    y = r.integers(0, n_classes, n)
    proba = np.exp(r.standard_normal((n, n_classes)) + sharpness * np.eye(n_classes)[y])
    return ClassForecast(y, proba / proba.sum(axis=1, keepdims=True))


def rows(forecast, part):
    return type(forecast)(**{name: values[part] for name, values in vars(forecast).items()})


def forecasts_for(name):
    return classes() if name in metrics.CLASSIFICATION_METRICS else regression()


def by_function(name, f):
    if name in metrics.CLASSIFICATION_METRICS:
        return getattr(metrics, name)(f.y, f.proba)
    arguments = {
        "rmse": (f.y, f.mean),
        "mae": (f.y, f.mean),
        "log_score": (f.ln_density,),
        "crps": (f.crps,),
        "coverage90": (f.y, f.lower, f.upper),
        "width90": (f.lower, f.upper),
    }
    return getattr(metrics, name)(*arguments[name])


def feed(metric, forecast, cuts):
    for low, high in zip([0, *cuts], [*cuts, len(forecast)], strict=True):
        metric.update(rows(forecast, slice(low, high)))
    return metric


@pytest.mark.parametrize("name", METRICS)
def test_chunks_give_the_value_of_the_function(name):
    forecast = forecasts_for(name)
    metric = feed(METRICS[name](), forecast, [1, 2, 700])
    slack = metric.error_bound() if name in ("auc", "h_measure") else 0.0
    # 1500 additions in another order: at most 1500 roundings of 1e-16.
    assert metric.value() == pytest.approx(by_function(name, forecast), rel=2e-13, abs=slack)
    assert metric.n_rows == len(forecast)


@pytest.mark.parametrize("name", METRICS)
def test_chunking_does_not_change_a_bit(name):
    forecast = forecasts_for(name)
    values = {feed(METRICS[name](), forecast, cuts).value() for cuts in ([], [1], [3, 3, 500, 1499], range(1, 1500))}
    assert len(values) == 1


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("cuts", [[], [10, 1400], range(100, 1500, 100)])
def test_rolling_is_exactly_the_function_of_the_last_rows(name, cuts):
    forecast = forecasts_for(name)
    recent = feed(METRICS[name]().rolling(250), forecast, cuts)
    assert recent.n_rows == 250
    assert recent.value() == by_function(name, rows(forecast, slice(-250, None)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sharpness", [0.2, 2.0, 30.0])
def test_binned_ranking_is_inside_its_bound(n_classes, sharpness):
    """Fails if bins are out of order or the bound does not hold; 20,000 rows in 4096 bins must share bins."""
    forecast = classes(20_000, n_classes=n_classes, sharpness=sharpness)
    area, h = metrics.Auc(), metrics.HMeasure("hand2014")
    area.update(forecast)
    h.update(forecast)
    exact_area = metrics.auc(forecast.y, forecast.proba)
    exact_h = metrics.h_measure(forecast.y, forecast.proba, "hand2014")
    assert abs(area.value() - exact_area) <= area.error_bound() + 1e-12
    assert -1e-12 <= exact_h - h.value() <= h.error_bound() + 1e-12
    assert area.error_bound() < 2e-3
    assert h.error_bound() < 6e-3


def test_rare_events_are_ranked_as_finely_as_common_ones():
    """Bins of equal width in probability would put all of these scores into the first five of 4096: a bound of .1."""
    r = np.random.default_rng(23)
    y = (r.random(20_000) < 0.01).astype(int)
    p = 1e-3 / (1 + np.exp(-r.standard_normal(20_000) - 1.5 * y))
    metric = metrics.Auc()
    metric.update(ClassForecast(y, np.column_stack([1 - p, p])))
    assert metric.error_bound() < 5e-3
    assert metric.value() == pytest.approx(metrics.auc(y, p), abs=metric.error_bound())


def test_rows_without_a_target_are_not_scored():
    forecast = regression(100)
    y = forecast.y.copy()
    y[::3] = np.nan
    gaps = RegressionForecast(**{**vars(forecast), "y": y})
    metric = metrics.Rmse()
    metric.update(gaps)
    assert metric.n_rows == 66
    assert metric.value() == pytest.approx(metrics.rmse(y[~np.isnan(y)], forecast.mean[~np.isnan(y)]), rel=1e-14)


@pytest.mark.parametrize("name", metrics.CLASSIFICATION_METRICS)
def test_classes_may_appear_late(name):
    """An unknown class had probability zero: the score is that of probabilities padded with zeros."""
    early, late = classes(300), classes(300, seed=3, n_classes=4)
    padded = np.vstack([np.pad(early.proba, ((0, 0), (0, 2))), late.proba])
    y = np.concatenate([early.y, late.y])
    overall, recent = METRICS[name](), METRICS[name]().rolling(400)
    for metric in (overall, recent):
        metric.update(early)
        metric.update(late)
        metric.update(rows(early, slice(0, 0)))
    slack = overall.error_bound() if name in ("auc", "h_measure") else 1e-12
    assert overall.value() == pytest.approx(by_function(name, ClassForecast(y, padded)), abs=slack)
    assert recent.value() == pytest.approx(by_function(name, ClassForecast(y[-400:], padded[-400:])), rel=1e-13)


@pytest.mark.parametrize("name", METRICS)
def test_before_the_first_row_there_is_no_value(name):
    assert np.isnan(METRICS[name]().value())
    assert np.isnan(METRICS[name]().rolling(5).value())


@pytest.mark.parametrize("name", METRICS)
def test_a_pickled_metric_goes_on_as_if_nothing_had_happened(name):
    forecast = forecasts_for(name)
    for fresh in (METRICS[name](), METRICS[name]().rolling(100)):
        fresh.update(rows(forecast, slice(0, 700)))
        restored = pickle.loads(pickle.dumps(fresh))
        for metric in (fresh, restored):
            metric.update(rows(forecast, slice(700, None)))
        assert restored.value() == fresh.value()


@pytest.mark.parametrize("name", METRICS)
def test_memory_does_not_grow_with_rows(name):
    metric, recent = METRICS[name](), METRICS[name]().rolling(100)
    sizes = []
    for _ in range(3):
        for each in (metric, recent):
            each.update(forecasts_for(name))
        sizes.append((len(pickle.dumps(metric)), len(pickle.dumps(recent))))
    # Integers and floats in a pickle may gain a few bytes as they grow.
    assert max(sizes[2][0] - sizes[0][0], sizes[2][1] - sizes[0][1]) < 32


def test_pit_histogram_in_chunks_and_rolling():
    forecast = regression()
    metric, recent = feed(PitHistogram(8), forecast, [3, 900]), feed(PitHistogram(8).rolling(200), forecast, [3, 900])
    np.testing.assert_array_equal(metric.value(), metrics.pit_histogram(forecast.pit, 8))
    np.testing.assert_array_equal(recent.value(), metrics.pit_histogram(forecast.pit[-200:], 8))
    assert np.isnan(PitHistogram().value()).all()


def test_reliability_is_what_ece_sums():
    forecast = classes(n_classes=3)
    metric = metrics.Ece(10)
    metric.update(forecast)
    confidence, accuracy, n = metric.reliability()
    filled = n > 0
    assert n.sum() == len(forecast)
    assert metric.value() == pytest.approx(np.sum((n * np.abs(confidence - accuracy))[filled]) / n.sum(), rel=1e-12)


def test_forecasts_are_taken_from_the_engine_s_columns():
    f = regression(50)
    quantiles = np.column_stack([f.mean, f.lower, f.upper])
    core = SimpleNamespace(mean=f.mean, pit=f.pit, crps=f.crps, ln_density=f.ln_density, quantiles=quantiles)
    taken = RegressionForecast.from_core(core, f.y, levels=(0.5, 0.05, 0.95))
    for name, values in vars(f).items():
        np.testing.assert_array_equal(getattr(taken, name), values)
    with pytest.raises(ValueError, match=r"levels is \[0.5\]; it must hold .05 and .95"):
        RegressionForecast.from_core(core, f.y, levels=(0.5,))
    c = classes(50)
    same = ClassForecast.from_core(SimpleNamespace(proba=c.proba, ln_density=c.ln_density - 1), c.y)
    np.testing.assert_array_equal(same.ln_density, c.ln_density - 1)
    surprise = ClassForecast.from_core(SimpleNamespace(proba=c.proba[:2], ln_density=np.array([-1.0, -9.0])), [0, 2])
    assert surprise.proba[:, 2].tolist() == [0.0, 0.0]
    assert surprise.ln_density.tolist() == [-1.0, -9.0]


def test_scoreboard_holds_all_and_recent():
    forecast = classes()
    board = Scoreboard(["accuracy", "auc"], window=100)
    board.update(rows(forecast, slice(0, 600)))
    board.update(rows(forecast, slice(600, None)))
    assert board.n_rows == 1500
    assert board.overall()["accuracy"] == metrics.accuracy(forecast.y, forecast.proba)
    last = rows(forecast, slice(-100, None))
    assert board.rolling() == {"accuracy": metrics.accuracy(last.y, last.proba), "auc": metrics.auc(last.y, last.proba)}


def test_every_name_of_the_command_line_is_there():
    assert list(metrics.CLASSIFICATION_METRICS) == ["accuracy", "auc", "h_measure", "log_loss", "brier", "ece"]
    assert list(metrics.REGRESSION_METRICS) == ["rmse", "mae", "log_score", "crps", "coverage90", "width90"]


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="there is no metric 'f1'; the names are accuracy, auc"):
        Scoreboard(["f1"])
    with pytest.raises(ValueError, match="the metrics accuracy, rmse mix tasks"):
        Scoreboard(["accuracy", "rmse"])
    with pytest.raises(TypeError, match="accuracy was given a RegressionForecast; it scores a ClassForecast"):
        metrics.Accuracy().update(regression(5))
    with pytest.raises(ValueError, match="window is 0; a rolling metric needs at least 1 row"):
        metrics.Accuracy().rolling(0)
    with pytest.raises(ValueError, match=r"mean has shape \(2,\); y has 1 rows"):
        RegressionForecast(np.zeros(1), np.zeros(2), *np.zeros((5, 1)))
