"""The forms in which a method may receive the inputs of a problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.problems import Problem

Floats = NDArray[np.float64]

RAW, STANDARDISED = "raw", "standardised"
LAST = "+last"  # with the last target as an additional input


def inputs(problem: Problem, form: str) -> Floats:
    """The inputs of a problem in one form: ``"raw"`` or ``"standardised"``, each with or without ``"+last"``."""
    scaled = form.removesuffix(LAST) == STANDARDISED
    columns = [problem.X]
    if form.endswith(LAST):
        columns.append(_last_target(problem, one_hot=scaled))
    x = np.column_stack(columns)
    return standardised(x) if scaled else x


def standardised(x: Floats) -> Floats:
    """Standardise each row by the mean and standard deviation of the rows up to and including it.

    A column that has been constant so far has scale 1.
    """
    count = np.arange(1, len(x) + 1)[:, np.newaxis]
    shifted = x - x[0]  # subtracting the first row avoids cancellation where a column is far from zero
    mean = np.cumsum(shifted, axis=0) / count
    variance = np.cumsum(shifted**2, axis=0) / count - mean**2
    scale = np.sqrt(np.maximum(variance, 0.0))
    constant_so_far = scale <= 1e-12 * np.maximum(np.abs(x), 1.0)
    return (shifted - mean) / np.where(constant_so_far, 1.0, scale)


def _last_target(problem: Problem, *, one_hot: bool) -> Floats:
    """The target of the row before; one-hot for methods that would take the index of a class for a quantity."""
    last = np.concatenate([[0.0], problem.y[:-1]])
    if one_hot and problem.n_classes > 2:
        return np.eye(problem.n_classes)[last.astype(np.intp)]
    return last[:, np.newaxis]
