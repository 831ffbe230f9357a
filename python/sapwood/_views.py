"""Read-only records of the state of a model: its pool, its trees and its forgetting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood import errors
from sapwood._core import MemberConfig, Model

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ActivePool:
    """The observations that are active in at least one cloud of the bank, oldest first.

    Attributes
    ----------
    X : ndarray of shape (n_active, n_features_in_)
    y : ndarray of shape (n_active,)
    weight : ndarray of shape (n_active,)
        Sample weights.
    age : ndarray of shape (n_active,)
        Number of rows learned since.
    held : ndarray of bool, shape (n_active, n_members)
        Which cloud holds which observation.
    score : ndarray of shape (n_active, n_members)
        Discard score, lowest discarded first; NaN if the cloud does not hold the row or its rule has no scores.
    """

    X: Floats
    y: NDArray[Any]
    weight: Floats
    age: NDArray[np.uint64]
    held: NDArray[np.bool_]
    score: Floats

    def __len__(self) -> int:
        return len(self.y)


class ForgettingPosterior(NamedTuple):
    """The posterior of the forgetting factor: `values`, increasing, and their `weights`."""

    values: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class TreeStats:
    """Shape of the trees, one entry per particle, the clouds of the bank one after another.

    Attributes
    ----------
    member : ndarray of int
        The cloud each particle belongs to.
    height, n_leaves : ndarray of int
        Depth of the deepest leaf (0 for a single root) and number of leaves.
    active_per_leaf, retired_per_leaf : ndarray of float
        Means over the particle's leaves.
    forgetting : ndarray of float
        The forgetting factor the particle carries.
    n_distinct : ndarray of int, one entry per cloud
        Distinct trees among its particles.
    """

    member: NDArray[np.intp]
    height: NDArray[np.uint32]
    n_leaves: NDArray[np.uint32]
    active_per_leaf: Floats
    retired_per_leaf: Floats
    forgetting: Floats
    n_distinct: NDArray[np.intp]


def active_pool(model: Model) -> ActivePool:
    """The union of the members' pools; ages identify a row across members."""
    pools = [model.active(member) for member in range(model.n_members)]
    ages = [pool.age for pool in pools]
    age, first = np.unique(np.concatenate(ages), return_index=True)
    age, first = age[::-1], first[::-1]
    held = np.stack([np.isin(age, member_age) for member_age in ages], axis=1)
    score = np.full(held.shape, np.nan)
    for member, pool in enumerate(pools):
        # ages descend while searchsorted wants them ascending
        at = len(age) - 1 - np.searchsorted(age[::-1], pool.age)
        score[at, member] = pool.score
    return ActivePool(
        X=np.concatenate([pool.x[:, : model.n_inputs] for pool in pools])[first],  # lagged members append columns
        y=np.concatenate([pool.y for pool in pools])[first],
        weight=np.concatenate([pool.weight for pool in pools])[first],
        age=age,
        held=held,
        score=score,
    )


def with_labels(pool: ActivePool, class_of_code: NDArray[Any]) -> ActivePool:
    """The same pool with labels in place of the engine's codes."""
    return replace(pool, y=class_of_code[pool.y.astype(np.intp)])


def retire(model: Model, ix: Any) -> None:
    """Retire positions (or a mask) of `active_pool(model)` from every member that holds them."""
    age = np.unique(np.concatenate([model.active(member).age for member in range(model.n_members)]))[::-1]
    chosen = age[_positions(ix, len(age))]
    for member in range(model.n_members):
        positions = np.flatnonzero(np.isin(model.active(member).age, chosen))
        if len(positions):
            model.retire(member, positions.tolist())


def cloud_weights(model: Model) -> NDArray[np.float64]:
    """Return the weights of the clouds, normalised to sum to 1; members without trees have 0."""
    is_cloud = np.array([model.member_config(member).kind == "cloud" for member in range(model.n_members)])
    weights = np.where(is_cloud, model.weights(), 0.0)
    total = weights.sum()
    return weights / total if total > 0 else is_cloud / is_cloud.sum()


def heaviest_cloud(model: Model) -> int:
    """The cloud with the largest weight in the next prediction."""
    return int(np.argmax(cloud_weights(model)))


def in_words(config: MemberConfig) -> str:
    """Describe a member of the bank."""
    if config.kind != "cloud":
        return config.kind.replace("_", " ")
    pool = "every row" if config.max_active is None else f"pool {config.max_active}"
    lags = {0: "", 1: ", 1 lag"}.get(config.lags, f", {config.lags} lags")
    only = ", any row only" if config.any_row_only else ""
    return f"{config.leaf} leaves, {pool}{lags}{only}"


def forgetting_posterior(model: Model) -> ForgettingPosterior:
    """Return the mixture of the clouds' posteriors, by weight."""
    members = [model.forgetting(member) for member in range(model.n_members)]
    values = np.concatenate([values for values, _ in members])
    weights = np.concatenate([weight * share for weight, (_, share) in zip(cloud_weights(model), members, strict=True)])
    distinct, which = np.unique(values, return_inverse=True)
    mixed = np.bincount(which, weights, minlength=len(distinct)).astype(np.float64)
    return ForgettingPosterior(distinct, mixed)


def tree_stats(model: Model) -> TreeStats:
    """Return the shapes of the trees of every cloud."""
    clouds = [model.tree_stats(member) for member in range(model.n_members)]
    return TreeStats(
        member=np.repeat(np.arange(len(clouds)), [len(cloud.height) for cloud in clouds]),
        height=np.concatenate([cloud.height for cloud in clouds]),
        n_leaves=np.concatenate([cloud.n_leaves for cloud in clouds]),
        active_per_leaf=np.concatenate([cloud.active_per_leaf for cloud in clouds]),
        retired_per_leaf=np.concatenate([cloud.retired_per_leaf for cloud in clouds]),
        forgetting=np.concatenate([cloud.forgetting for cloud in clouds]),
        n_distinct=np.array([cloud.n_distinct for cloud in clouds], dtype=np.intp),
    )


def _positions(ix: Any, n_active: int) -> NDArray[np.intp]:
    given = np.atleast_1d(np.asarray(ix))
    problem: Any = None
    if given.ndim != 1 or (given.size and given.dtype.kind not in "biu"):
        problem = ix
    elif given.dtype.kind == "b":
        if len(given) != n_active:
            problem = f"a mask of length {len(given)}"
        given = np.flatnonzero(given)
    else:
        outside = (given < 0) | (given >= n_active)
        if outside.any():
            problem = int(given[outside.argmax()])
    if problem is not None:
        raise errors.make("bad-index", value=problem, last=n_active - 1, n_active=n_active)
    return np.unique(given.astype(np.intp))
