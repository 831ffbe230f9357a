"""Data streams: the paper's generators, and loaders for real data sets.

Every generator and loader returns a :class:`Stream`. ``STREAMS`` maps the names used on the command line
(``"drifting-friedman"``) to the generators; :func:`load` reads a real data set by name.
"""

from sapwood.datasets._catalogue import DATASETS
from sapwood.datasets._friedman import drifting_friedman, friedman, height
from sapwood.datasets._load import load
from sapwood.datasets._registry import STREAMS
from sapwood.datasets._stream import Stream
from sapwood.datasets._synthetic import hyperplane, moving_target, parabola

__all__ = [
    "DATASETS",
    "STREAMS",
    "Stream",
    "drifting_friedman",
    "friedman",
    "height",
    "hyperplane",
    "load",
    "moving_target",
    "parabola",
]
