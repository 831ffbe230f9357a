"""From an estimator's parameters to the members of its bank. Every ``"auto"`` is decided here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood import _recommended, errors
from sapwood._core import MemberConfig, option_names
from sapwood._numbers import is_real, is_whole
from sapwood._options import Auto, Division, Leaf, Task
from sapwood._parameters import CloudParameters
from sapwood._recommended import Cloud

_PLAIN_LEAF: dict[Task, Leaf] = {"regression": "linear", "classification": "multinomial"}
_BEST_DISCARD: dict[Task, str] = {"regression": "alc", "classification": "entropy"}
_SINGLE_CLOUD_PARTICLES = 1000


@dataclass(eq=False)
class Settings(CloudParameters):
    """The parameters of an estimator that shape its bank, as the user gave them. `compose` checks them."""

    division: Division | None = None
    dirichlet: float | None = None


def compose(settings: Settings, task: Task, n_inputs: int, n_classes: int) -> list[MemberConfig]:
    """Return the members of the bank, repeated `copies` times.

    Parameters
    ----------
    settings : Settings
        The estimator's parameters.
    task : {"regression", "classification"}
    n_inputs : int
        Columns of X.
    n_classes : int
        Classes known when the model starts; 0 for regression.
    """
    is_bank = _is_auto(settings.max_active) or _is_sequence(settings.max_active)
    leaf = _choice("leaf", settings.leaf, ("auto", *option_names("leaf", task)))
    n_lags = lag_count(settings.lags)
    forgetting = forgetting_factor(settings.forgetting)
    shared = {
        "n_particles": particles_per_cloud(settings.n_particles, task, is_bank=is_bank),
        "discard": discard_rule(settings.discard, forgetting, task),
        "forgetting": forgetting,
        "prior": _choice("prior", settings.prior, option_names("prior")),
        "evidence": _choice("evidence", settings.evidence, option_names("evidence")),
        "division": _choice("division", settings.division, (None, *option_names("division"))),
        "split_alpha": _number("split_alpha", settings.split_alpha),
        "split_beta": _number("split_beta", settings.split_beta),
        "min_leaf": _optional_count("min_leaf", settings.min_leaf),
        "n_candidates": _optional_count("n_candidates", settings.n_candidates),
        "dirichlet": None if settings.dirichlet is None else _number("dirichlet", settings.dirichlet),
    }
    members: list[MemberConfig] = []
    any_row_only: list[MemberConfig] = []
    if _is_auto(settings.max_active):
        for cloud in recommended_clouds(leaf, task, n_inputs, n_classes, lagged=n_lags > 0):
            own = shared | stationary(settings, n_inputs) if cloud.stationary else shared
            lags = n_lags if cloud.lagged else 0
            if settings.n_particles is None:
                own = own | {"n_particles": math.ceil(cloud.particles * own["n_particles"])}
            config = MemberConfig(
                leaf=cloud.leaf, max_active=cloud.pool, lags=lags, any_row_only=cloud.any_row_only, **own
            )
            (any_row_only if cloud.any_row_only else members).append(config)
        if n_lags > 0 and leaf == "auto":
            members += [MemberConfig.trivial(kind) for kind in trivial_members(task, n_classes)]
    else:
        plain = _PLAIN_LEAF[task] if leaf == "auto" else leaf
        lags_of_a_pool = [0, n_lags] if is_bank and n_lags > 0 else [n_lags]
        pools = pool_sizes(settings.max_active)
        members += [
            MemberConfig(leaf=plain, max_active=pool, lags=lags, **shared) for lags in lags_of_a_pool for pool in pools
        ]
        if n_lags > 0 and not is_bank:
            # Without the last target a cloud alone could not forecast; its twin stands in for it there.
            any_row_only.append(MemberConfig(leaf=plain, max_active=pools[0], any_row_only=True, **shared))
    copies = _count("copies", settings.copies, at_least=1)
    # Seeds go by position: with these at the end, forecasts of the next row are the same with and without them.
    return members * copies + any_row_only * copies


def recommended_clouds(leaf: Leaf | Auto, task: Task, n_inputs: int, n_classes: int, *, lagged: bool) -> list[Cloud]:
    """Return the recommended bank. For a given leaf: a cloud for every pool size, and again with lags."""
    if leaf != "auto":
        pools = [_recommended.scaled(pool, n_classes) for pool in _recommended.POOLS[task]]
        return [Cloud(leaf, pool, again) for again in ((False, True) if lagged else (False,)) for pool in pools]
    if task == "regression":
        return _recommended.regression(lagged=lagged)
    return _recommended.classification(n_inputs, n_classes, lagged=lagged)


def trivial_members(task: Task, n_classes: int) -> tuple[str, ...]:
    """What a bank also holds where the last target is known: forecasts that cost nothing and are often hard to beat.

    For smooth series, the last value and a line through it; for alternating labels, the label that usually follows.
    With only two labels, the clouds that see the last label learn this as fast.
    """
    if task == "regression":
        return "last_value", "least_squares"
    return ("last_label",) if n_classes > 2 else ()


def stationary(settings: Settings, n_inputs: int) -> dict[str, Any]:
    """Return the settings of a cloud for stationary streams, except where the user has set them."""
    own: dict[str, Any] = {"split_beta": 1.0}
    if _is_auto(settings.forgetting):
        own["forgetting"] = 1.0
    if settings.n_candidates is None:
        own["n_candidates"] = max(1, n_inputs // 4)
    if settings.dirichlet is None:
        own["dirichlet"] = 1.0
    return own


def particles_per_cloud(n_particles: Any, task: Task, *, is_bank: bool) -> int:
    """None: 1000 for a single cloud, and 30 (20 for classes) for a cloud of a bank."""
    if n_particles is None:
        return _recommended.PARTICLES[task] if is_bank else _SINGLE_CLOUD_PARTICLES
    return _count("n_particles", n_particles, at_least=1)


def pool_sizes(max_active: Any) -> list[int | None]:
    """Return one entry per cloud for user-defined pools."""
    if max_active is None:
        return [None]
    if not _is_sequence(max_active):
        return [_count("max_active", max_active, at_least=1, also="None, a list of them, or 'auto'")]
    if len(max_active) == 0:
        raise errors.make("out-of-range", name="max_active", value=max_active, allowed="a list of at least one size")
    return [None if size is None else _count("max_active", size, at_least=1) for size in max_active]


def discard_rule(discard: Any, forgetting: float | None, task: Task) -> str:
    """``"auto"``: oldest. Active discarding is better only without drift, which ``forgetting=1.0`` asserts."""
    if _choice("discard", discard, ("auto", *option_names("discard", task))) != "auto":
        return str(discard)
    return _BEST_DISCARD[task] if forgetting == 1.0 else "oldest"


def forgetting_factor(forgetting: Any) -> float | None:
    """``"auto"``: None, which gives every particle its own factor."""
    if _is_auto(forgetting):
        return None
    return _number("forgetting", forgetting, also="in [0, 1], or 'auto'")


def lag_count(lags: Any) -> int:
    """``"auto"``: the last target only."""
    return 1 if _is_auto(lags) else _count("lags", lags, at_least=0, also="'auto'")


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
