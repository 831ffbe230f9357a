"""Adapters that let the loop drive a model: Sapwood's own, scikit-learn's and river's."""

from __future__ import annotations

from typing import Any

from sapwood import _fitted
from sapwood._base import DynamicTreeEstimator
from sapwood._options import Task
from sapwood.prequential.learners.engine import EngineLearner
from sapwood.prequential.learners.foreign import PartialFitLearner, RiverLearner, foreign_task
from sapwood.prequential.learners.learner import Learner, LearnerForecast

__all__ = ["EngineLearner", "Learner", "LearnerForecast", "learner_for", "task_of"]


def task_of(model: Any) -> Task:
    """Return what a model predicts.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> task_of(SGDClassifier())
    'classification'
    """
    return _fitted.task_of(model) if isinstance(model, DynamicTreeEstimator) else foreign_task(model)


def learner_for(model: Any, task: Task, feature_names: list[str], *, crps: bool, late: bool) -> Learner:
    """Return the adapter for a model.

    `crps` says whether to compute the CRPS, which takes most of the time, `late` whether a row may be forecast before
    the label of the row before it is known.
    """
    if isinstance(model, DynamicTreeEstimator):
        return EngineLearner(model, crps=crps, late=late)
    return RiverLearner(model, task, feature_names) if hasattr(model, "learn_one") else PartialFitLearner(model, task)
