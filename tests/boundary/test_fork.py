"""A forked child can use a model, or is told that it cannot; it never waits for a thread that it does not have."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sapwood import DynamicTreeRegressor
from sapwood.errors import InputError

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning"),
]

N_FORKS = 30
WORKED, REFUSED, OTHERWISE = 0, 10, 11
X = np.random.default_rng(0).uniform(size=(4000, 4))
Y = X.sum(axis=1)


@pytest.fixture
def model() -> DynamicTreeRegressor:
    return DynamicTreeRegressor(n_particles=50, max_active=100, n_jobs=2, random_state=0).fit(X[:200], Y[:200])


def outcome_in_child(work: Callable[[], Any], seconds: float = 30.0) -> int:
    """Fork, do the work in the child, and return how it ended. Fails if it hangs."""
    child = os.fork()
    if child == 0:
        code = OTHERWISE
        try:
            work()
            code = WORKED
        except InputError as error:
            code = REFUSED if error.args[1] == "forked" else OTHERWISE
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail(f"the child hung for {seconds} s")


def test_a_fork_while_learning_is_refused_in_the_child(model: DynamicTreeRegressor) -> None:
    """1 child of 30 hung: it waited for the lock that a thread of its parent held. Fails if any does."""
    stop = threading.Event()

    def learn() -> None:
        while not stop.is_set():
            model.partial_fit(X, Y)

    learner = threading.Thread(target=learn)
    learner.start()
    try:
        outcomes = []
        for i in range(N_FORKS):
            time.sleep(0.003 * (i % 7))
            outcomes.append(outcome_in_child(lambda: model.predict(X[:5])))
    finally:
        stop.set()
        learner.join()
    assert set(outcomes) <= {WORKED, REFUSED}
    assert REFUSED in outcomes
    assert np.isfinite(model.predict(X[:5])).all()  # the parent goes on


def test_every_method_is_refused(model: DynamicTreeRegressor, tmp_path: Any) -> None:
    """The model is in use for the whole time in which the children are forked."""
    learner = threading.Thread(target=lambda: model.partial_fit(np.tile(X, (20, 1)), np.tile(Y, 20)))
    learner.start()
    time.sleep(0.2)
    calls: list[Callable[[], Any]] = [
        lambda: model.predict(X[:1]),
        lambda: model.partial_fit(X[:1], Y[:1]),
        lambda: model.save(tmp_path / "model.sap"),
        lambda: model.n_seen_,
        lambda: model.active_,
        lambda: model.tree_stats(),
        lambda: model.rejuvenate(),
        lambda: model.forgetting_,
    ]
    outcomes = [outcome_in_child(call) for call in calls]
    in_use = learner.is_alive()
    learner.join()
    assert in_use, "the learning ended too early for this test"
    assert outcomes == [REFUSED] * len(calls)
    assert not (tmp_path / "model.sap").exists()


def test_forks_of_an_idle_model_work(model: DynamicTreeRegressor) -> None:
    """Also with several threads of the engine, in the parent before and in the child after."""
    model.partial_fit(X[200:300], Y[200:300])
    expected = model.predict(X[:5])

    def use() -> None:
        assert np.array_equal(model.predict(X[:5]), expected)
        model.partial_fit(X[300:400], Y[300:400])

    assert [outcome_in_child(use) for _ in range(N_FORKS)] == [WORKED] * N_FORKS


def predict_first(model: DynamicTreeRegressor) -> float:
    return float(model.predict(X[:1])[0])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method: str, model: DynamicTreeRegressor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map_async(predict_first, [model] * 4).get(timeout=120)
    assert found == [predict_first(model)] * 4


def test_joblib(model: DynamicTreeRegressor) -> None:
    joblib = pytest.importorskip("joblib")
    for backend in ("loky", "multiprocessing"):
        with joblib.parallel_config(backend=backend, n_jobs=2), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            found = joblib.Parallel(timeout=120)(joblib.delayed(predict_first)(model) for _ in range(4))
        assert found == [predict_first(model)] * 4
