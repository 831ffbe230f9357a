"""The parameters that the estimators and their river adapters share: declared, given defaults and documented once.

These are dataclasses because scikit-learn and river inspect the signature of a constructor, and a dataclass has an
explicit one. Constructors only store their arguments; `_bank.compose` checks them when a model starts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import TypeVar

from sapwood._options import Auto, Evidence, Prior
from sapwood._seeds import RandomState

C = TypeVar("C", bound=type)


@dataclass(eq=False, repr=False)
class CloudParameters:
    """What shapes a bank, whatever the task and the library."""

    leaf: str = "auto"
    n_particles: int | None = None
    lags: int | Auto = 0
    copies: int = 1
    max_active: int | Sequence[int | None] | Auto | None = "auto"
    discard: str = "auto"
    forgetting: float | Auto = "auto"
    prior: Prior = "default"
    evidence: Evidence = "joint"
    split_alpha: float = 0.95
    split_beta: float = 2.0
    min_leaf: int | None = None
    n_candidates: int | None = None


@dataclass(eq=False, repr=False)
class EstimatorParameters(CloudParameters):
    """The parameters that the two estimators share."""

    random_state: RandomState = None
    n_jobs: int | None = None


_SHARED = dedent("""\
    lags : int or "auto", default=0
        Number of past targets used as additional inputs, for streams where each label arrives before the next row is
        predicted. Only some members of a bank use them, and only in forecasts of the next row: `predict_next`,
        `evaluate`, river's `predict_one`. `predict` answers for rows at any distance with the others. "auto": 1.
    copies : int, default=1
        Independent replicas of the bank.
    max_active : int, None, list or "auto", default="auto"
        Size of the active pool. None keeps every row (the offline dynamic tree), a list makes a bank of clouds, one
        per size, and "auto" makes the recommended bank, whose pools grow with the number of classes.
    forgetting : float in [0, 1] or "auto", default="auto"
        Factor applied to the statistics retired earlier whenever an observation retires; 1 keeps them in full. "auto":
        learned from the stream.
    evidence : {"joint", "conditional"}, default="joint"
        Whether retired statistics count as data or as prior when a split is evaluated.
    split_alpha, split_beta : float, default=0.95, 2.0
        A node at depth d is split with prior probability ``split_alpha * (1 + d) ** -split_beta``.
    min_leaf : int, default=None
        Minimum number of active points in a new leaf. None: chosen from the leaf model and the number of columns.
    n_candidates : int, default=None
        Number of splits proposed per step. None: chosen from the number of columns.
    random_state : int, Generator, RandomState or None, default=None
        The same seed and data give the same model, to the byte, for any ``n_jobs`` and any batches.
    n_jobs : int, default=None
        Number of threads. None: 1; -1: all cores.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had them when the model started.""")

_PLACEHOLDER = re.compile(r"^( *)\{shared\}$", re.MULTILINE)


def document(cls: C, shared: str = _SHARED) -> C:
    """Replace ``{shared}`` in the docstring of a class by the text that it shares with others."""
    if cls.__doc__ is not None:  # python -OO
        cls.__doc__ = _PLACEHOLDER.sub(lambda found: indent(shared, found[1]), cls.__doc__)
    return cls
