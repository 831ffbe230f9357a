"""The native engine. Arrays in, arrays out; every array is float64 and C-contiguous unless said otherwise."""

from typing import final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

__version__: str

class InputError(ValueError):
    """What was given cannot be learned or predicted from. `args` is (message, code)."""

class ConfigError(ValueError):
    """A parameter is outside what is allowed. `args` is (message, code)."""

class ModelFileError(ValueError):
    """A model file is damaged, truncated, or from a newer version. `args` is (message, code)."""

class EngineError(RuntimeError):
    """The engine is at fault, or the model cannot be used after such a fault. `args` is (message, code)."""

def error_catalogue() -> list[tuple[str, str, str]]:
    """Every error the engine can give: (code, exception class name, template of the message)."""

def option_names(option: str, task: str | None = None) -> tuple[str, ...]:
    """The names of an option's values, in the order in which they are documented; of those that go with a task, if one
    is given. The options are task, leaf, discard, prior, evidence, division and member (members without trees)."""

def n_scores(task: str, levels: list[int], n_in_sight: int) -> int:
    """How many scores follow the inputs of a row, some of which, `levels`, hold numbers of levels."""

@final
class MemberConfig:
    """One member of the bank: a cloud of dynamic trees, or something simpler. Frozen."""

    def __init__(
        self,
        *,
        leaf: str,  # this and the other names: see option_names
        n_particles: int = 1000,
        max_active: int | None = None,  # None: keep everything active
        discard: str = "oldest",
        forgetting: float | None = None,  # None: every particle carries its own
        prior: str = "default",
        evidence: str = "joint",
        division: str | None = None,  # None: gaussian where the leaf can
        split_alpha: float = 0.95,
        split_beta: float = 2.0,
        min_leaf: int | None = None,  # None: 2p+4 linear, 4 constant, 1 classes (3 when p > 20)
        n_candidates: int | None = None,  # None: chosen from p
        dirichlet: float | None = None,  # None: 1/K
        lags: int = 0,  # how many of the last targets are appended to the inputs of this member
        any_row_only: bool = False,  # takes part in forecasts of any row, but not in those of the next
    ) -> None: ...
    @staticmethod
    def trivial(kind: str) -> MemberConfig:
        """A member that is no cloud: it sees the inputs and the last target, and has neither pool nor particles."""
    @property
    def kind(self) -> str: ...  # "cloud", or the name of what it is instead
    @property
    def leaf(self) -> str | None: ...  # None: no cloud
    @property
    def n_particles(self) -> int: ...
    @property
    def max_active(self) -> int | None: ...
    @property
    def discard(self) -> str | None: ...
    @property
    def forgetting(self) -> float | None: ...
    @property
    def lags(self) -> int: ...
    @property
    def any_row_only(self) -> bool: ...

@final
class Model:
    """A bank of clouds that see the same stream, mixed by recent predictive likelihood."""

    def __init__(
        self,
        task: str,
        n_inputs: int,
        n_classes: int,  # 0 for regression; may grow later (add_classes)
        members: list[MemberConfig],
        seed: int,  # 0 <= seed < 2**64
        *,
        levels: list[int] | None = None,  # inputs that hold numbers of levels; they get scores
        n_in_sight: int = 0,  # classes to have scores for, if there are more than n_classes
        mixing_rates: list[float] | None = None,  # forgetting rates of the bank's weights, mixed again ...
        mixing_top: float = ...,  # ... at this rate
    ) -> None: ...
    @property
    def task(self) -> str: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def n_scores(self) -> int:
        """Scores of levels, which the members see after the inputs."""
    @property
    def max_classes(self) -> int:
        """How many classes this model can tell apart; more would take too much memory."""
    @property
    def n_members(self) -> int: ...
    @property
    def n_seen(self) -> int:
        """Rows learned so far (rows of weight 0 are not learned and do not count)."""
    @property
    def ln_evidence(self) -> float:
        """Sum over rows of the log of the bank's one-step-ahead predictive."""
    def ln_evidence_trace(self) -> Floats:
        """The last (at most 4096) terms of that sum, oldest first."""
    def learn(self, x: Floats, y: Floats, weight: Floats | None = None, *, n_threads: int = 1) -> Floats:
        """Learn rows in order; returns ln predictive of each row before it was learned. Classes are 0.0, 1.0, ...
        NaN in x is a missing value. On KeyboardInterrupt the rows before `n_seen` are learned; the model is valid."""
    def forecast_then_learn(
        self,
        x_test: Floats,
        y_test: Floats,  # NaN: not known, no density/pit for that row
        x: Floats,
        y: Floats,
        weight: Floats | None = None,
        *,
        levels: Floats | None = None,  # quantile levels wanted
        pit: bool = False,
        crps: bool = False,
        horizon: str = "next_row",  # or "any_row": forecasts take no target as known
        n_threads: int = 1,
    ) -> Forecast:
        """For every i: forecast x_test[i], then learn (x[i], y[i]). The prequential loop is x_test = x, y_test = y.
        x may have fewer rows than x_test, or none: the first rows of x_test are then only forecast (late labels):
        row i of x_test is followed by learning row i - (len(x_test) - len(x)) of x, if that is >= 0."""
    def predictive(self, x: Floats, *, horizon: str = "any_row") -> Predictive:
        """The predictive distribution at each row, as of now: learning more does not change it. Cheap until asked.
        "any_row": by the members without lags; "next_row": by all, each row taken as the one after the last learned."""
    def add_classes(self, n_classes: int) -> None: ...
    def retire(self, member: int, ix: list[int]) -> None:
        """Retire these points (positions in `active(member)`) from one member's pool."""
    def rejuvenate(self) -> None:
        """Re-run every cloud over its active points in a new random order, starting from the retired knowledge."""
    @property
    def sharpness(self) -> float:
        """By how much the average of the members is sharpened in a forecast of the next row."""
    def weights(self, *, horizon: str = "next_row") -> Floats:
        """Weight of each member in a forecast; 0 for members that take no part in it."""
    def active(self, member: int) -> ActivePool: ...
    def forgetting(self, member: int) -> tuple[Floats, Floats]:
        """(values, share of particles)."""
    def tree_stats(self, member: int) -> TreeStats: ...
    def tree(self, member: int, particle: int) -> TreeDump: ...
    def split_use(self, member: int) -> Floats:
        """Average over particles of the number of splits on each of this member's inputs."""
    def member_config(self, member: int) -> MemberConfig: ...
    def copy(self) -> Model: ...
    def _panic(self) -> None:
        """Panic as a bug in the engine would, half-way through a change. For tests of what happens then."""
    def save(self, meta: bytes) -> bytes: ...
    @staticmethod
    def load(data: bytes) -> tuple[Model, bytes]: ...

@final
class Forecast:
    """One-step-ahead forecasts of a run, one row each."""

    @property
    def mean(self) -> Floats: ...  # regression
    @property
    def var(self) -> Floats: ...  # regression; inf where it does not exist
    @property
    def epistemic(self) -> Floats: ...  # regression: the part of var that more data would remove
    @property
    def pit(self) -> Floats: ...  # regression, if asked for: cdf at y_test
    @property
    def crps(self) -> Floats: ...  # regression, if asked for: exact CRPS of the mixture at y_test
    @property
    def quantiles(self) -> Floats: ...  # regression: (rows, levels)
    @property
    def proba(self) -> Floats: ...  # classification: (rows, n_classes)
    @property
    def ln_density(self) -> Floats: ...  # ln predictive at y_test
    @property
    def weights(self) -> Floats: ...  # (rows, members): the bank's weights at each row

@final
class Predictive:
    """Predictive distributions of many rows: an exact mixture of Student-t (regression) or of class probabilities."""

    @property
    def n_rows(self) -> int: ...
    def mean(self, n_threads: int = 1) -> Floats: ...
    def var(self, n_threads: int = 1) -> tuple[Floats, Floats]:
        """(total variance, the part due to not knowing the model)."""
    def ln_density(self, y: Floats, n_threads: int = 1) -> Floats:
        """y: one value per row (classification: class index)."""
    def cdf(self, y: Floats, n_threads: int = 1) -> Floats: ...
    def crps(self, y: Floats, n_threads: int = 1) -> Floats: ...
    def quantile(self, levels: Floats, n_threads: int = 1) -> Floats:
        """(rows, levels), by root-finding on the exact mixture."""
    def sample(self, n: int, seed: int) -> Floats:
        """(rows, n). Classification: class indices."""
    def proba(self, n_threads: int = 1) -> Floats: ...

@final
class ActivePool:
    @property
    def x(self) -> Floats: ...
    @property
    def y(self) -> Floats: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def age(self) -> NDArray[np.uint64]: ...  # rows learned since this one
    @property
    def score(self) -> Floats: ...  # discard score (smallest leaves first); NaN for oldest and random

@final
class TreeStats:
    """Per particle: one entry for each of the cloud's n_particles."""

    @property
    def n_distinct(self) -> int: ...  # distinct trees in the cloud
    @property
    def height(self) -> NDArray[np.uint32]: ...  # depth of the deepest leaf; a lone root has height 0
    @property
    def n_leaves(self) -> NDArray[np.uint32]: ...
    @property
    def active_per_leaf(self) -> Floats: ...  # mean over the particle's leaves
    @property
    def retired_per_leaf(self) -> Floats: ...
    @property
    def forgetting(self) -> Floats: ...

@final
class TreeDump:
    """One tree in preorder. Leaves have split_dim -1."""

    @property
    def split_dim(self) -> NDArray[np.int64]: ...
    @property
    def cut(self) -> Floats: ...
    @property
    def nan_left(self) -> NDArray[np.bool_]: ...
    @property
    def left(self) -> NDArray[np.int64]: ...
    @property
    def right(self) -> NDArray[np.int64]: ...
    @property
    def n_active(self) -> Floats: ...  # leaves
    @property
    def n_retired(self) -> Floats: ...  # leaves
    @property
    def value(self) -> Floats: ...  # (nodes, 1) mean at the leaf's centre or (nodes, K) probabilities; NaN at splits
