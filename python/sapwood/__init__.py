"""Bayesian dynamic trees for data streams: regression and classification with honest uncertainty, at constant memory.

Examples
--------
>>> import numpy as np
>>> from sapwood import DynamicTreeRegressor
>>> X = np.linspace(0, 1, 100).reshape(-1, 1)
>>> model = DynamicTreeRegressor(random_state=0).partial_fit(X, X[:, 0])
>>> lower, upper = model.predict_dist([[0.5]]).interval(0.9)
>>> bool(lower[0] < 0.5 < upper[0])
True
"""

from __future__ import annotations

import os
from pathlib import Path

from sapwood import errors
from sapwood._classifier import DynamicTreeClassifier
from sapwood._core import __version__
from sapwood._files import from_bytes
from sapwood._regressor import DynamicTreeRegressor
from sapwood.distribution import ClassDistribution, PredictiveDistribution
from sapwood.errors import ConfigError, InputError, ModelFileError

__all__ = [
    "ClassDistribution",
    "ConfigError",
    "DynamicTreeClassifier",
    "DynamicTreeRegressor",
    "InputError",
    "ModelFileError",
    "PredictiveDistribution",
    "__version__",
    "errors",
    "load",
]


def load(path: str | os.PathLike[str]) -> DynamicTreeRegressor | DynamicTreeClassifier:
    """Read a model file written by ``model.save(path)``. No code in the file is ever run.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, not a model file, or from a newer version.

    Examples
    --------
    >>> import sapwood, tempfile, pathlib
    >>> model = sapwood.DynamicTreeRegressor(random_state=0).partial_fit([[0.0], [1.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "model.sap")
    ...     sapwood.load(pathlib.Path(folder) / "model.sap").n_seen_
    2
    """
    tasks = {"regression": DynamicTreeRegressor, "classification": DynamicTreeClassifier}
    return from_bytes(Path(path).read_bytes(), tasks)
