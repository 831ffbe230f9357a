"""A panic in the engine is an exception of ours, and a model that it left half-updated says so ever after."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeRegressor, errors
from sapwood._fitted import native


def test_a_panic_is_an_exception_and_marks_the_model(capfd):
    model = DynamicTreeRegressor(n_particles=5, max_active=10, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])
    held = model.predict_dist([[0.5]])
    with pytest.raises(errors.EngineError, match="a panic that a test asked for") as caught:
        native(model)._panic()
    assert isinstance(caught.value, Exception)
    assert caught.value.args[1] == "engine-panic"
    for use in (
        lambda: model.predict([[0.5]]),
        lambda: model.partial_fit([[0.5]], [0.5]),
        lambda: model.n_seen_,
        lambda: model.tree_stats(),
        lambda: native(model).save(b""),
    ):
        with pytest.raises(errors.EngineError, match="cannot be used") as caught:
            use()
        assert caught.value.args[1] == "unusable"
    # What was predicted before shares nothing that the fault has touched, and the estimator can be fitted anew.
    assert np.isfinite(held.mean()).all()
    assert model.fit([[0.0], [1.0]], [0.0, 1.0]).n_seen_ == 2
    capfd.readouterr()  # the panic also goes to standard error, for a report


def test_a_failed_save_leaves_the_good_file(tmp_path, capfd):
    model = DynamicTreeRegressor(n_particles=5, max_active=10, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])
    path = tmp_path / "model.sap"
    model.save(path)
    good = path.read_bytes()
    with pytest.raises(errors.EngineError):
        native(model)._panic()
    with pytest.raises(errors.EngineError):
        model.save(path)
    assert path.read_bytes() == good
    assert list(tmp_path.iterdir()) == [path]
    capfd.readouterr()
