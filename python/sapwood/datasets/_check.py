"""Argument checks of the generators."""

from __future__ import annotations


def at_least(name: str, value: float, least: float) -> None:
    """Raise ValueError unless ``value >= least``."""
    if not value >= least:
        raise ValueError(f"{name} is {value!r}; it must be at least {least!r}.")


def probability(name: str, value: float) -> None:
    """Raise ValueError unless ``0 <= value <= 1``."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} is {value!r}; it is a probability and must lie in [0, 1].")
