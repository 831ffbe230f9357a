"""Every error a user can meet is raised here, with the class, the code and the words the catalogue promises.

Errors that only the native module itself can give are raised in tests/boundary/test_core_errors.py.
"""

from __future__ import annotations

import string
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, errors
from sapwood._core import Model, error_catalogue
from sapwood._files import from_bytes, to_bytes


def regressor() -> DynamicTreeRegressor:
    return DynamicTreeRegressor(n_particles=5, max_active=10, random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0])


def classifier() -> DynamicTreeClassifier:
    return DynamicTreeClassifier(n_particles=5, max_active=10, random_state=0).fit([[0.0], [1.0]], ["a", "b"])


def load_described_by(meta: bytes) -> None:
    model, _ = Model.load(to_bytes(regressor()))
    from_bytes(model.save(meta), {"regression": DynamicTreeRegressor})


TRIGGERS: dict[str, Callable[[], object]] = {
    "x-layout": lambda: regressor().predict([1.0, 2.0]),
    "x-names": lambda: regressor().fit(pd.DataFrame({"a": [1.0]}), [1.0]).predict(pd.DataFrame({"b": [1.0]})),
    "x-ragged": lambda: regressor().predict([[1.0, 2.0], [1.0]]),
    "wrong-columns": lambda: regressor().predict([[1.0]]),
    "x-text": lambda: regressor().predict([[1.0, "a"]]),
    "x-column-type": lambda: regressor().fit(pd.DataFrame({"a": [[1, 2]]}), [1.0]),
    "x-kind": lambda: regressor().fit(pd.DataFrame({"a": ["red"]}), [1.0]).predict(pd.DataFrame({"a": [1.0]})),
    "x-value": lambda: regressor().fit(pd.DataFrame({"a": [1.0]}), [1.0]).predict(pd.DataFrame({"a": ["red"]})),
    "x-unnamed": lambda: regressor().fit(pd.DataFrame({"a": ["red"]}), [1.0]).predict([[0.0]]),
    "infinite-input": lambda: regressor().predict([[1.0, np.inf]]),
    "huge-input": lambda: regressor().predict([[1.0, 1e101]]),
    "x-empty": lambda: regressor().fit(np.empty((0, 2)), []),
    "y-layout": lambda: regressor().partial_fit([[1.0, 2.0]], [[1.0, 2.0]]),
    "y-absent": lambda: regressor().partial_fit([[1.0, 2.0]], None),
    "y-text": lambda: regressor().partial_fit([[1.0, 2.0]], ["a"]),
    "bad-target": lambda: regressor().partial_fit([[1.0, 2.0]], [np.nan]),
    "huge-target": lambda: regressor().partial_fit([[1.0, 2.0]], [1e101]),
    "label-type": lambda: DynamicTreeClassifier().fit([[1.0], [2.0]], [0.25, 0.5]),
    "label-missing": lambda: classifier().partial_fit([[1.0]], [None]),
    "label-kind": lambda: classifier().partial_fit([[1.0]], [3]),
    "wrong-length": lambda: regressor().partial_fit([[1.0, 2.0]], [1.0, 2.0]),
    "weight-layout": lambda: regressor().partial_fit([[1.0, 2.0]], [1.0], sample_weight=[[1.0]]),
    "bad-weight": lambda: regressor().partial_fit([[1.0, 2.0]], [1.0], sample_weight=[-1.0]),
    "weight-all-zero": lambda: regressor().fit([[1.0, 2.0]], [1.0], sample_weight=[0.0]),
    "bad-index": lambda: regressor().retire([9]),
    "density-shape": lambda: regressor().predict_dist([[1.0, 2.0]]).logpdf([1.0, 2.0]),
    "bad-level": lambda: regressor().predict_dist([[1.0, 2.0]]).interval(1.5),
    "sample-size": lambda: regressor().predict_dist([[1.0, 2.0]]).sample(-1),
    "next-row": lambda: regressor().predict_next([[1.0, 2.0], [3.0, 4.0]]),
    "unknown-option": lambda: DynamicTreeRegressor(leaf="oak").fit([[1.0]], [1.0]),
    "out-of-range": lambda: DynamicTreeRegressor(copies=0).fit([[1.0]], [1.0]),
    "too-many-classes": lambda: classifier().partial_fit(
        [[float(i)] for i in range(2000)], list(map(str, range(2000)))
    ),
    "file-description": lambda: load_described_by(b"{}"),
}


ENGINE_ONLY = {code for code, _, _ in error_catalogue()} - set(TRIGGERS)
ENTRIES = [entry for entry in errors.catalogue() if entry.code not in ENGINE_ONLY]


def test_every_entry_is_triggered_below_or_is_the_engines():
    assert {entry.code for entry in errors.catalogue()} == set(TRIGGERS) | ENGINE_ONLY


def test_codes_are_unique():
    codes = [entry.code for entry in errors.catalogue()]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.code)
def test_the_error_is_the_one_in_the_catalogue(entry):
    with pytest.raises(entry.exception) as caught:
        TRIGGERS[entry.code]()
    message, code = caught.value.args
    assert code == entry.code
    assert str(caught.value) == message
    fixed_words = [literal for literal, *_ in string.Formatter().parse(entry.template)]
    assert all(words in message for words in fixed_words)
