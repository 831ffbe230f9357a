"""One lock for everything that an estimator has learned: threads add labels and rows, and readers see whole states."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._files import from_bytes, to_bytes

N_THREADS = 3
N_BATCHES = 25


def run(*tasks):
    """Run every task in a thread of its own, and raise what any of them raised."""
    failures = []

    def guarded(task):
        try:
            task()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("fitted_before", [False, True])
def test_threads_that_add_labels_lose_none(fitted_before):
    model = DynamicTreeClassifier(n_particles=8, max_active=15, random_state=0)
    if fitted_before:
        model.partial_fit([[0.0]], ["first"])
    done = threading.Event()

    def add(thread):
        rng = np.random.default_rng(thread)
        for batch in range(N_BATCHES):
            model.partial_fit(rng.uniform(size=(2, 1)), [f"{thread}-{batch}", f"{thread}-0"])

    def read():
        while not done.is_set():
            if not hasattr(model, "classes_"):
                continue
            distribution = model.predict_dist([[0.3], [0.6]])
            proba = distribution.proba()
            assert proba.shape == (2, len(distribution.classes))
            assert np.allclose(proba.sum(axis=1), 1.0, atol=1e-9)
            assert set(model.active_.y) <= set(model.classes_)
            restored = from_bytes(to_bytes(model), {"classification": DynamicTreeClassifier})
            assert len(restored.classes_) == restored.predict_proba([[0.5]]).shape[1]

    def add_all():
        try:
            run(*(lambda thread=thread: add(thread) for thread in range(N_THREADS)))
        finally:
            done.set()

    run(add_all, read)
    expected = {f"{thread}-{batch}" for thread in range(N_THREADS) for batch in range(N_BATCHES)}
    assert set(model.classes_) == expected | ({"first"} if fitted_before else set())
    assert model.n_seen_ == 2 * N_THREADS * N_BATCHES + fitted_before
    assert model.predict_proba([[0.5]]).sum() == pytest.approx(1.0)


def test_threads_that_start_a_regressor_together_learn_every_row():
    model = DynamicTreeRegressor(n_particles=8, max_active=15, random_state=0)
    run(*(lambda: model.partial_fit([[0.1], [0.2]], [1.0, 2.0]) for _ in range(N_THREADS)))
    assert model.n_seen_ == 2 * N_THREADS
