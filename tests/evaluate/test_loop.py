"""The loop against the simplest possible one: predict a row, score it, learn it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, InputError
from sapwood._files import to_bytes
from sapwood._fitted import fitted, is_fitted
from sapwood.metrics import METRICS
from sapwood.prequential import progress_lines
from sapwood.stream import Progress, SourceError, evaluate, open_source

from .conftest import CHEAP

Maker = Callable[..., Any]


def slow_regression(model: DynamicTreeRegressor, X: Any, y: Any, delay: int) -> tuple[Any, Any]:
    """Means and log densities from the estimator's public methods only; NaN before it has learned anything."""
    mean, ln_density = np.full((2, len(y)), np.nan)
    for i in range(len(y)):
        if i > delay:
            dist = model.predict_dist(X[i : i + 1])
            mean[i], ln_density[i] = dist.mean()[0], dist.logpdf(y[i])[0]
        if i >= delay:
            model.partial_fit(X[i - delay : i - delay + 1], y[i - delay : i - delay + 1])
    if delay:
        model.partial_fit(X[-delay:], y[-delay:])
    return mean, ln_density


@pytest.mark.parametrize("delay", [0, 1, 13, 399, 1000])
def test_forecasts_and_model_are_those_of_the_plain_loop(
    delay: int, regressor_maker: Maker, numbers: tuple[Any, Any]
) -> None:
    """Fails if a row is learned too early, too late, out of order, twice or never, or before its forecast.

    Tolerance: the engine adds the same numbers in another order when it forecasts a single row.
    """
    X, y = numbers
    model = regressor_maker()
    result = evaluate(model, (X, y), CHEAP, delay=delay, lags=None)
    plain = regressor_maker()
    mean, ln_density = slow_regression(plain, X, y, min(delay, len(y)))
    learned = np.isfinite(mean)
    np.testing.assert_allclose(result.predictions["mean"][learned], mean[learned], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(result.predictions["ln_density"][learned], ln_density[learned], rtol=1e-7, atol=1e-7)
    assert to_bytes(model) == to_bytes(plain)
    assert result.n_learned == model.n_seen_ == len(y)


def test_scores_are_those_of_the_predictions(regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    X, y = numbers
    result = evaluate(regressor_maker(), (X, y), CHEAP, warm_up=100, window=50)
    predictions = result.predictions
    error = (predictions["mean"] - y)[100:]
    overall, recent = result.overall()["model"], result.recent()["model"]
    assert overall["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert recent["rmse"] == pytest.approx(np.sqrt(np.mean(error[-50:] ** 2)))
    assert overall["log_score"] == pytest.approx(np.mean(predictions["ln_density"][100:]))
    inside = (predictions["lower"] <= y) & (y <= predictions["upper"])
    assert overall["coverage90"] == pytest.approx(np.mean(inside[100:]))
    assert result.pit_counts is not None
    assert result.pit_counts.sum() == result.n_scored == 300


def test_baselines_learn_as_late_as_the_model(regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    """With a delay of d, "no change" predicts the target of d + 1 rows ago, and the mean is that of all up to it."""
    X, y = numbers
    result = evaluate(regressor_maker(), (X, y), metrics=["mae"], delay=5, warm_up=100)
    scored = np.arange(100, 400)
    no_change = np.mean(np.abs(y[scored] - y[scored - 6]))
    running = np.mean([abs(y[i] - np.mean(y[: i - 5])) for i in scored])
    assert result.overall()["no_change"]["mae"] == pytest.approx(no_change)
    assert result.overall()["running_mean"]["mae"] == pytest.approx(running)


def test_classes_are_scored_from_their_second_row_on(classifier_maker: Maker, labels: tuple[Any, Any]) -> None:
    """A class of the first batch has a probability from the start; a later one has none at its first row."""
    X, y = labels
    source = open_source((X, y), batch_rows=200)
    result = evaluate(classifier_maker(), source)
    predictions = result.predictions
    assert result.classes is not None
    assert result.classes.tolist() == ["down", "up", "new"]
    assert result.n_scored == 399
    first_new = int(np.argmax(y == "new"))
    assert np.isnan(predictions["ln_density"]).nonzero()[0].tolist() == [first_new]
    assert np.all(predictions["proba"][: first_new + 1, 2] == 0.0)
    assert np.all(predictions["proba"][first_new + 1 :, 2] > 0.0)
    scored = np.arange(400) != first_new
    overall = result.overall()["model"]
    assert overall["accuracy"] == pytest.approx(accuracy_score(y[scored], predictions["prediction"][scored]))
    order = np.argsort(result.classes)
    expected = log_loss(y[scored], predictions["proba"][scored][:, order], labels=np.sort(result.classes))
    assert overall["log_loss"] == pytest.approx(expected)


@pytest.mark.parametrize("delay", [0, 9])
def test_a_classifier_ends_as_if_given_its_classes(
    delay: int, classifier_maker: Maker, labels: tuple[Any, Any]
) -> None:
    X, y = labels
    model = classifier_maker()
    evaluate(model, open_source((X, y), batch_rows=200), delay=delay, lags=None)
    plain = classifier_maker()
    plain.partial_fit(X[:1], y[:1], classes=["up", "down"])
    plain.partial_fit(X[1:], y[1:])
    fitted(model).encoder = fitted(model).target = None  # a source has column names, arrays do not
    assert to_bytes(model) == to_bytes(plain)


@pytest.mark.parametrize("batch_rows", [1, 7, 64, 1000])
def test_batches_leave_no_trace(batch_rows: int, regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    def run(rows: int) -> Any:
        return evaluate(regressor_maker(), open_source(numbers, batch_rows=rows), CHEAP, delay=3, window=40)

    one, other = run(400), run(batch_rows)
    for name, values in one.scores.items():
        np.testing.assert_array_equal(values, other.scores[name])
    for name, values in one.predictions.items():
        np.testing.assert_array_equal(values, other.predictions[name])
    np.testing.assert_array_equal(one.beliefs.weights, other.beliefs.weights)
    assert to_bytes(one.model) == to_bytes(other.model)


def test_the_history_is_thinned_and_ends_with_the_last_row(regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    """Fails if memory grows: a window of 1 records every row, and 600 records are thinned to every second row."""
    X, y = (np.concatenate([part, part]) for part in numbers)
    result = evaluate(regressor_maker(n_particles=2), (X[:601], y[:601]), metrics=["mae"], window=1)
    rows, values = result.curve("mae")
    assert rows.tolist() == [*range(2, 601, 2), 601]
    assert len(result.beliefs) == len(rows) == len(values)
    np.testing.assert_allclose(result.beliefs.weights.sum(axis=1), 1.0)


def test_only_the_last_predictions_are_kept(regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    result = evaluate(regressor_maker(), numbers, CHEAP, keep=30)
    assert result.predictions["row"].tolist() == list(range(370, 400))


def test_a_fitted_model_continues(regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    X, y = numbers
    model, whole = regressor_maker(), regressor_maker()
    evaluate(model, (X[:150], y[:150]), CHEAP, lags=None)
    evaluate(model, (X[150:], y[150:]), CHEAP, lags=None)
    evaluate(whole, (X, y), CHEAP, lags=None)
    assert to_bytes(model) == to_bytes(whole)


def test_lags_are_left_to_the_model_unless_labels_are_late(regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    def lags(model: Any, **given: Any) -> Any:
        evaluate(model, numbers, metrics=["mae"], **given)
        return model.lags

    assert lags(regressor_maker()) == "auto"
    assert lags(regressor_maker(), delay=1) == 0
    assert lags(regressor_maker(), lags=3) == 3
    assert lags(regressor_maker(lags=2)) == 2
    assert lags(regressor_maker(), lags=None) == 0


def test_only_real_column_names_reach_the_model(regressor_maker: Maker, numbers: tuple[Any, Any]) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = numbers
    named = regressor_maker()
    evaluate(named, pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}), CHEAP, target="y")
    assert named.feature_names_in_.tolist() == ["a", "b"]
    nameless = regressor_maker()
    evaluate(nameless, numbers, CHEAP)
    assert not hasattr(nameless, "feature_names_in_")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delay": -1}, "delay is -1; it must be at least 0"),
        ({"window": 0}, "window is 0"),
        ({"warm_up": -3}, "warm_up is -3"),
        ({"metrics": ["acuracy"]}, "there is no such metric; choose from rmse"),
        ({"metrics": ["accuracy"]}, "it does not apply to regression"),
        ({"resume": True}, "there is no checkpoint to resume from"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_learned(
    given: dict[str, Any], message: str, regressor_maker: Maker, numbers: tuple[Any, Any]
) -> None:
    model = regressor_maker()
    with pytest.raises(ValueError, match=message):
        evaluate(model, numbers, **given)
    assert not is_fitted(model)


def test_a_source_without_a_target_is_refused(regressor_maker: Maker) -> None:
    rows = [{"a": 1.0, "b": 2.0}] * 5
    with pytest.raises(SourceError, match="has no target to learn; name its column with target="):
        evaluate(regressor_maker(), rows)


def test_text_is_refused_as_the_target_of_a_regression(regressor_maker: Maker, labels: tuple[Any, Any]) -> None:
    with pytest.raises(SourceError, match="holds text such as"):
        evaluate(regressor_maker(), open_source(labels))


def test_numbers_that_are_not_classes_are_refused(classifier_maker: Maker, numbers: tuple[Any, Any]) -> None:
    with pytest.raises((InputError, SourceError)):
        evaluate(classifier_maker(), open_source(numbers))


def test_every_metric_has_a_score(regressor_maker: Maker, classifier_maker: Maker, numbers: Any, labels: Any) -> None:
    overall = [evaluate(regressor_maker(), numbers).overall(), evaluate(classifier_maker(), labels).overall()]
    assert set(overall[0]["model"]) | set(overall[1]["model"]) == set(METRICS)
    for forecasters in overall:
        for scores in forecasters.values():
            assert np.all(np.isfinite(list(scores.values())))


def test_a_classifier_is_usable_after_evaluation(classifier_maker: Maker, labels: tuple[Any, Any]) -> None:
    X, y = labels
    model: DynamicTreeClassifier = classifier_maker()
    evaluate(model, (X, y))
    assert model.classes_.tolist() == ["down", "new", "up"]
    np.testing.assert_allclose(model.predict_proba(X[:3]).sum(axis=1), 1.0)


def test_a_result_shows_its_scores_briefly() -> None:
    """Not its arrays: the text form once had 66,709 characters."""
    x = np.random.default_rng(0).uniform(size=(60, 1))
    model = DynamicTreeRegressor(n_particles=5, max_active=20, random_state=0)
    result = evaluate(model, (x, x[:, 0]), ["rmse"], window=20)
    lines = repr(result).splitlines()
    assert lines[0].startswith("EvaluationResult: regression, 60 rows, 60 scored")
    assert [line.split()[0] for line in lines[1:]] == ["rmse", "model", "no_change", "running_mean"]
    html = result._repr_html_()
    assert "<td>model</td>" in html
    assert 'src="data:image/png;base64,' in html


def test_progress_can_be_printed(
    regressor_maker: Maker,
    numbers: tuple[Any, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress_lines, "_FIRST_LINE", 0.0)
    monkeypatch.setattr(progress_lines, "_BETWEEN_LINES", 0.0)
    evaluate(regressor_maker(), numbers, ["rmse"], progress=True)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("400 of 400 rows, ")
    assert "rmse" in last
    evaluate(regressor_maker(), numbers, ["rmse"], progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match="progress is 5; it must be True, False or a function"):
        evaluate(regressor_maker(), numbers, ["rmse"], progress=5)


def test_time_left_of_a_file_is_estimated_from_what_was_read() -> None:
    """A compressed file tells the position in its bytes only."""
    known = Progress(n_rows=500, n_total=None, fraction=0.25, seconds=10.0, n_now=500, scores=dict)
    assert progress_lines.of_total(known) == " of about 2,000"
    assert progress_lines.rate(known) == "50 rows/s, 30 s left"
    unknown = Progress(n_rows=500, n_total=None, fraction=None, seconds=10.0, n_now=500, scores=dict)
    assert progress_lines.of_total(unknown) == ""
    assert progress_lines.rate(unknown) == "50 rows/s"
