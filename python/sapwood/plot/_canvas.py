"""The base class of the displays and their style: lazy import of matplotlib, figures, and colours."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which is distinguishable with any colour vision.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW, GREY = "#56B4E9", "#CC79A7", "#F0E442", "#8C8C8C"
CLASS_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW, GREY)
INK = "#24292F"  # text and axes; the report replaces it by the text colour of the page

LOOK = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#B0B7BF",
    "grid.alpha": 0.35,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "figure.constrained_layout.h_pad": 0.08,  # inches
    "figure.constrained_layout.w_pad": 0.08,
    "lines.solid_capstyle": "round",
}


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "sapwood.plot needs matplotlib, which is not installed; install it with: pip install 'sapwood[plot]'",
            name="matplotlib",
        ) from error


@contextmanager
def look() -> Iterator[None]:
    """Draw in our style, and restore the user's style afterwards.

    Only the settings that the style changes are restored. `rc_context` would restore all of them, including those that
    a notebook changes when the first figure starts its backend, and no figure would be shown from then on.
    """
    settings = _module("matplotlib").rcParams
    before = {name: settings[name] for name in LOOK}
    settings.update(LOOK)
    try:
        yield
    finally:
        settings.update(before)


def is_crowd(points: Sized) -> bool:
    """Whether to store this many points as an image rather than individually."""
    return len(points) > _CROWD


_CROWD = 2000


class Display:
    """Base of all displays: after ``plot()`` the axes are in ``ax_`` and the figure in ``figure_``."""

    ax_: Axes
    figure_: Figure

    @contextmanager
    def _canvas(self, ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Iterator[Axes]:
        """Yield the axes to draw on: the given ones, or those of a new figure."""
        with look():
            canvas: Axes = new_figure(size)[0, 0] if ax is None else ax
            self._remember(canvas)
            yield canvas

    def _remember(self, ax: Axes) -> None:
        figure = ax.get_figure(root=True)
        assert figure is not None, "axes always belong to a figure"
        self.ax_, self.figure_ = ax, figure


@contextmanager
def off_screen() -> Iterator[None]:
    """Create new figures outside pyplot: they are not shown, need not be closed, and need no screen."""
    before = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(before)


_off_screen: ContextVar[bool] = ContextVar("off_screen", default=False)


def new_figure(size: tuple[float, float], n_rows: int = 1, n_columns: int = 1) -> NDArray[Any]:
    """Return the axes of a new figure, as an array of shape (n_rows, n_columns)."""
    axes: NDArray[Any] = _figure(size).subplots(n_rows, n_columns, squeeze=False)
    return axes


def new_rows(layout: Sequence[Sequence[str]], size: tuple[float, float]) -> dict[str, Axes]:
    """Return the axes of a new figure by name, row by row; a legend beside one row does not narrow the others."""
    rows = _figure(size).subfigures(len(layout), 1, squeeze=False)[:, 0]
    return {
        name: ax
        for names, row in zip(layout, rows, strict=True)
        for name, ax in zip(names, row.subplots(1, len(names), squeeze=False)[0], strict=True)
    }


def _figure(size: tuple[float, float]) -> Any:
    make = _module("matplotlib.figure").Figure if _off_screen.get() else _module("matplotlib.pyplot").figure
    return make(figsize=size, layout="constrained")


def colour_map(name: str) -> Any:
    """A colour map by name."""
    return _module("matplotlib").colormaps[name]


def tints(colour: str, n: int) -> list[tuple[float, float, float]]:
    """Return `n` shades of one colour, from pale to saturated."""
    full = np.array(_module("matplotlib.colors").to_rgb(colour))
    return [tuple(1.0 - share * (1.0 - full)) for share in np.linspace(1.0 if n == 1 else 0.4, 1.0, n)]


def class_colours(n_classes: int) -> list[Any]:
    """Return colours for classes: the palette if it has enough, otherwise a map with uniform steps of lightness."""
    if n_classes <= len(CLASS_COLOURS):
        return list(CLASS_COLOURS[:n_classes])
    return [tuple(colour) for colour in colour_map("viridis")(np.linspace(0.0, 1.0, n_classes))]


def thousands(ax: Axes, axis: str = "x") -> None:
    """Write large counts of rows as 20,000 rather than 2e4."""
    ticker = _module("matplotlib.ticker")
    (ax.xaxis if axis == "x" else ax.yaxis).set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))


def legend_above(ax: Axes, **options: Any) -> None:
    """Put the legend between title and axes, where it does not cover any curve."""
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(labels),
        borderaxespad=0.2,
        columnspacing=1.4,
        handlelength=1.6,
        **options,
    )
    ax.set_title(ax.get_title(loc="left"), loc="left", pad=26)
