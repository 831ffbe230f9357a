"""All methods: Sapwood, the baselines, and the peers that are installed."""

from __future__ import annotations

from importlib.util import find_spec

from benchmarks.quality.methods.baseline import BASELINES
from benchmarks.quality.methods.method import Method, Run
from benchmarks.quality.methods.ours import OURS

PEER_LIBRARIES = ("river", "capymoa", "vowpalwabbit")

__all__ = ["PEER_LIBRARIES", "Method", "Run", "available", "missing_libraries"]


def missing_libraries() -> list[str]:
    """Peer libraries that are not installed."""
    return [library for library in PEER_LIBRARIES if find_spec(library) is None]


def available() -> list[Method]:
    """Ours, the baselines and every installed peer, fast libraries first."""
    methods: list[Method] = [*OURS, *BASELINES]
    if find_spec("vowpalwabbit"):
        from benchmarks.quality.methods.vowpal_wabbit import VOWPAL

        methods += VOWPAL
    if find_spec("capymoa"):
        from benchmarks.quality.methods.capymoa import CAPYMOA

        methods += CAPYMOA
    if find_spec("river"):
        from benchmarks.quality.methods.river import RIVER

        methods += RIVER
    return methods
