"""The type in which every data set is returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._options import Task


@dataclass(frozen=True, eq=False)
class Stream:
    """Rows in the order in which they arrive.

    Attributes
    ----------
    X : ndarray of shape (n, p), float64
        Inputs.
    y : ndarray of shape (n,)
        Targets: float64 for regression, integer or string labels for classification.
    truth : ndarray of shape (n,) or None
        The best possible forecast: the noise-free mean (regression) or the probability of class 1 (classification).
        None for real data, where it is unknown.
    feature_names : tuple of str
        Names of the columns of ``X``.
    task : {"regression", "classification"}
    description : str
        A short description of the stream.
    categories : mapping from str to tuple of str
        The values of each string column, in the order of their codes 0, 1, ... in ``X``.

    Examples
    --------
    >>> from sapwood.datasets import friedman
    >>> stream = friedman(n=100)
    >>> len(stream), stream.X.shape, stream.task
    (100, (100, 5), 'regression')
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    truth: NDArray[np.float64] | None
    feature_names: tuple[str, ...]
    task: Task
    description: str
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        return f"Stream({self.task}, {rows} rows, {columns} inputs: {self.description})"
