"""The forms in which a method may be given the inputs of a problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.problems import Problem

Floats = NDArray[np.float64]

RAW, STANDARDISED = "raw", "standardised"
LAST = "+last"  # with the last target as a further input


def inputs(problem: Problem, form: str) -> Floats:
    """The inputs of a problem in one form: ``"raw"`` or ``"standardised"``, either with ``"+last"`` after it."""
    scaled = form.removesuffix(LAST) == STANDARDISED
    columns = [problem.X]
    if form.endswith(LAST):
        columns.append(_last_target(problem, one_column_a_class=scaled))
    x = np.column_stack(columns)
    return standardised(x) if scaled else x


def standardised(x: Floats) -> Floats:
    """Each row less the mean of the rows up to it, over their standard deviation (1 where that is 0)."""
    count = np.arange(1, len(x) + 1)[:, np.newaxis]
    shifted = x - x[0]  # the first row as origin keeps the squares small where a column is far from zero
    mean = np.cumsum(shifted, axis=0) / count
    variance = np.cumsum(shifted**2, axis=0) / count - mean**2
    scale = np.sqrt(np.maximum(variance, 0.0))
    constant_so_far = scale <= 1e-12 * np.maximum(np.abs(x), 1.0)
    return (shifted - mean) / np.where(constant_so_far, 1.0, scale)


def _last_target(problem: Problem, *, one_column_a_class: bool) -> Floats:
    """Linear methods and distances cannot use a class index as a number, so for many classes they get indicators."""
    last = np.concatenate([[0.0], problem.y[:-1]])
    if one_column_a_class and problem.n_classes > 2:
        return np.eye(problem.n_classes)[last.astype(np.intp)]
    return last[:, np.newaxis]
