"""The generated streams by the names used on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sapwood.datasets._friedman import drifting_friedman, friedman, height
from sapwood.datasets._stream import Stream
from sapwood.datasets._synthetic import hyperplane, moving_target, parabola

_GENERATORS = (drifting_friedman, friedman, height, hyperplane, moving_target, parabola)

STREAMS: Mapping[str, Callable[..., Stream]] = MappingProxyType({g.__name__.replace("_", "-"): g for g in _GENERATORS})
