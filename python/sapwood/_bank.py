"""From an estimator's parameters to the members of its bank. Every ``"auto"`` is decided here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from sapwood import errors
from sapwood._core import MemberConfig
from sapwood._numbers import is_real, is_whole

Task: TypeAlias = Literal["regression", "classification"]

_LEAVES: dict[Task, tuple[str, ...]] = {
    "regression": ("auto", "linear", "constant"),
    "classification": ("auto", "multinomial", "discriminant", "quadratic"),
}
_DISCARDS: dict[Task, tuple[str, ...]] = {
    "regression": ("auto", "oldest", "random", "alc"),
    "classification": ("auto", "oldest", "random", "entropy"),
}
_SINGLE_CLOUD_PARTICLES = 1000
_BANK_PARTICLES: dict[Task, int] = {"regression": 250, "classification": 200}
_REGRESSION_POOLS = (25, 50, 100, 200)
_CLASSIFICATION_POOLS = (10, 25, 50, 100, 200)
_ACTIVE_POINTS_PER_CLASS = 50


@dataclass(frozen=True)
class Settings:
    """The parameters of an estimator that shape its bank, as the user gave them. `compose` checks them."""

    leaf: Any
    n_particles: Any
    lags: Any
    copies: Any
    max_active: Any
    discard: Any
    forgetting: Any
    prior: Any
    evidence: Any
    split_alpha: Any
    split_beta: Any
    min_leaf: Any
    n_candidates: Any
    division: Any = None
    dirichlet: Any = None


def compose(settings: Settings, task: Task, n_classes: int) -> list[MemberConfig]:
    """The bank: `copies` replicas of one cloud for every pool size and number of lags.

    Parameters
    ----------
    settings : Settings
        The estimator's parameters.
    task : {"regression", "classification"}
    n_classes : int
        Classes known when the model starts; 0 for regression.
    """
    is_bank = _is_auto(settings.max_active) or _is_sequence(settings.max_active)
    forgetting = forgetting_factor(settings.forgetting)
    shared = {
        "leaf": leaf_model(settings.leaf, task),
        "n_particles": particles_per_cloud(settings.n_particles, task, is_bank=is_bank),
        "discard": discard_rule(settings.discard, forgetting, task),
        "forgetting": forgetting,
        "prior": _choice("prior", settings.prior, ("default", "reference")),
        "evidence": _choice("evidence", settings.evidence, ("joint", "conditional")),
        "division": _choice("division", settings.division, (None, "proportional", "gaussian")),
        "split_alpha": _number("split_alpha", settings.split_alpha),
        "split_beta": _number("split_beta", settings.split_beta),
        "min_leaf": _optional_count("min_leaf", settings.min_leaf),
        "n_candidates": _optional_count("n_candidates", settings.n_candidates),
        "dirichlet": None if settings.dirichlet is None else _number("dirichlet", settings.dirichlet),
    }
    pools = pool_sizes(settings.max_active, task, n_classes)
    lags = lag_counts(settings.lags, is_bank=is_bank)
    cloud = [MemberConfig(max_active=pool, lags=n_lags, **shared) for n_lags in lags for pool in pools]
    return cloud * _count("copies", settings.copies, at_least=1)


def leaf_model(leaf: Any, task: Task) -> str:
    """``"auto"``: linear leaves for regression, multinomial leaves for classification."""
    if _choice("leaf", leaf, _LEAVES[task]) != "auto":
        return str(leaf)
    return "linear" if task == "regression" else "multinomial"


def particles_per_cloud(n_particles: Any, task: Task, *, is_bank: bool) -> int:
    """None: 1000 for a cloud alone; in a bank the clouds share the work, and 250 (200 for classes) each are enough."""
    if n_particles is None:
        return _BANK_PARTICLES[task] if is_bank else _SINGLE_CLOUD_PARTICLES
    return _count("n_particles", n_particles, at_least=1)


def pool_sizes(max_active: Any, task: Task, n_classes: int) -> list[int | None]:
    """One entry a cloud. ``"auto"``: small pools win under fast drift and large ones under slow, so both."""
    if _is_auto(max_active):
        return list(_REGRESSION_POOLS) if task == "regression" else list(_classification_pools(n_classes))
    if max_active is None:
        return [None]
    if not _is_sequence(max_active):
        return [_count("max_active", max_active, at_least=1, also="None, a list of them, or 'auto'")]
    if len(max_active) == 0:
        raise errors.make("out-of-range", name="max_active", value=max_active, allowed="a list of at least one size")
    return [None if size is None else _count("max_active", size, at_least=1) for size in max_active]


def _classification_pools(n_classes: int) -> list[int]:
    """The pools scaled up until the largest has room for 50 points of every class: fewer starve the rare ones."""
    scale = max(1.0, _ACTIVE_POINTS_PER_CLASS * n_classes / _CLASSIFICATION_POOLS[-1])
    return [math.ceil(size * scale) for size in _CLASSIFICATION_POOLS]


def discard_rule(discard: Any, forgetting: float | None, task: Task) -> str:
    """``"auto"``: oldest. Active discarding wins only where nothing drifts, which is what ``forgetting=1.0`` says."""
    if _choice("discard", discard, _DISCARDS[task]) != "auto":
        return str(discard)
    if forgetting != 1.0:
        return "oldest"
    return "alc" if task == "regression" else "entropy"


def forgetting_factor(forgetting: Any) -> float | None:
    """``"auto"``: None, which lets every particle carry its own."""
    if _is_auto(forgetting):
        return None
    return _number("forgetting", forgetting, also="in [0, 1], or 'auto'")


def lag_counts(lags: Any, *, is_bank: bool) -> list[int]:
    """A cloud alone sees the lags; a bank has every cloud with and without them. ``"auto"``: the last target only."""
    n_lags = 1 if _is_auto(lags) else _count("lags", lags, at_least=0, also="'auto'")
    return [0, n_lags] if is_bank and n_lags > 0 else [n_lags]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)


def _choice(name: str, value: Any, allowed: tuple[str | None, ...]) -> Any:
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise errors.make("unknown-option", name=name, value=value, allowed=", ".join(map(repr, allowed)))
    return value


def _count(name: str, value: Any, *, at_least: int, also: str = "") -> int:
    if not is_whole(value) or value < at_least:
        allowed = f"a whole number, {at_least} or more" + (f" ({also} is allowed too)" if also else "")
        raise errors.make("out-of-range", name=name, value=value, allowed=allowed)
    return int(value)


def _optional_count(name: str, value: Any) -> int | None:
    return None if value is None else _count(name, value, at_least=1, also="None")


def _number(name: str, value: Any, *, also: str = "") -> float:
    if not is_real(value):
        raise errors.make("out-of-range", name=name, value=value, allowed=f"a number {also}".rstrip())
    return float(value)
