"""The common style of the figures: colours and labels of the estimators, light grids."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours that are distinct in print and to colour-blind readers; an estimator has the same colour in every figure.
COLOURS = {
    "ORIG": "#999999",
    "ORAND": "#E69F00",
    "OALC": "#0072B2",
    "OENT": "#0072B2",
    "FULL": "#222222",
    "OFFLINE": "#222222",
    "lambda=1": "#E69F00",
    "lambda=0.9": "#56B4E9",
    "lambda=0.8": "#0072B2",
    "QDA-AF": "#009E73",
    "OLDA-ALR": "#CC79A7",
    "defaults": "#D55E00",
    "defaults, last label": "#D55E00",
    "last label": "#BBBBBB",
    "paper": "#BBBBBB",
}
LABELS = {
    "lambda=1": "$\\lambda=1$",
    "lambda=0.9": "$\\lambda=0.9$",
    "lambda=0.8": "$\\lambda=0.8$",
    "defaults": "Sapwood's defaults",
    "defaults, last label": "with the last label",
    "last label": "same as the last label",
}
_STYLE: Any = {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def label(estimator: str) -> str:
    """The label of an estimator in a figure."""
    return LABELS.get(estimator, estimator)


@contextmanager
def style() -> Iterator[None]:
    """Apply the style to figures created inside; other figures are not affected."""
    import matplotlib

    with matplotlib.rc_context(_STYLE):
        yield


def panels(n_rows: int, n_columns: int, width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    """A figure with a grid of axes that needs no display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def save(figure: Figure, path: Path) -> None:
    """Write an image whose bytes depend only on its content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
