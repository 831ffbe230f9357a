"""A picture of a report: how to draw it, and its caption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sapwood.plot._canvas import off_screen


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes
    ----------
    name : str
        Short and unique in a report: the name of its file.
    draw : callable
        Returns a display.
    caption : str
        How to read it.
    wide : bool
        Whether it needs the width of the page.
    aside : bool
        Whether a page shows it only on demand.
    """

    name: str
    draw: Callable[[], Any]
    caption: str
    wide: bool = False
    aside: bool = False


@contextmanager
def drawing(settings: Any = None) -> Iterator[None]:
    """Draw into files, with matplotlib's `settings`, and leave no trace in pyplot."""
    import matplotlib as mpl

    with mpl.rc_context(settings), off_screen():
        yield
