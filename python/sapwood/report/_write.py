"""Writing the result of a run as a report or as pictures."""

from __future__ import annotations

import io
import os
from functools import partial
from pathlib import Path

from sapwood._files import write_atomically
from sapwood.plot import OverviewDisplay
from sapwood.prequential.result import EvaluationResult
from sapwood.report import _charts, _facts
from sapwood.report._picture import Picture, drawing

_PIXELS_PER_INCH = 110


def write_report(
    path: str | os.PathLike[str], result: EvaluationResult, *, model_path: str | os.PathLike[str] | None = None
) -> None:
    """Write the report of a prequential run: one self-contained HTML file.

    Parameters
    ----------
    path : path
        The file to write. It is replaced as a whole, or not at all.
    result : EvaluationResult
        What :func:`sapwood.stream.evaluate` returned.
    model_path : path, default=None
        Where the model was saved, for the lines that say how to load it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.datasets import friedman
    >>> from sapwood.report import write_report
    >>> from sapwood.stream import evaluate
    >>> model = DynamicTreeRegressor(n_particles=20, max_active=50, random_state=0)
    >>> result = evaluate(model, friedman(n=200), window=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(pathlib.Path(folder) / "report.html", result)
    ...     print((pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")[:15])
    <!DOCTYPE html>
    """
    try:
        from sapwood.report._page import page
    except ModuleNotFoundError as error:
        if error.name not in ("jinja2", "markupsafe"):
            raise
        raise ModuleNotFoundError("a report needs jinja2: pip install 'sapwood[plot]'", name=error.name) from None
    html = page(result, None if model_path is None else os.fspath(model_path))
    write_atomically(path, html.encode("utf-8"))


def write_pictures(folder: str | os.PathLike[str], result: EvaluationResult) -> list[Path]:
    """Write the pictures of a prequential run as PNG files: an overview, and each picture of the report.

    Parameters
    ----------
    folder : path
        Where to write. It is created if it does not exist; files of the same names are replaced.
    result : EvaluationResult
        What :func:`sapwood.stream.evaluate` returned.

    Returns
    -------
    list of Path
        The files, ``overview.png`` first.

    Examples
    --------
    >>> import tempfile
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.datasets import friedman
    >>> from sapwood.report import write_pictures
    >>> from sapwood.stream import evaluate
    >>> model = DynamicTreeRegressor(n_particles=20, max_active=50, random_state=0)
    >>> result = evaluate(model, friedman(n=200), ["rmse", "log_score"], window=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print([file.name for file in write_pictures(folder, result)][:3])
    ['overview.png', 'score-rmse.png', 'score-log-score.png']
    """
    Path(folder).mkdir(exist_ok=True)
    pictures = [picture for section in _charts.SECTIONS for picture in section(result)]
    if len(result.scores["row"]):
        title = f"{_facts.title(result)}: every row forecast before it was learned"
        draw = partial(OverviewDisplay.from_result, result, title=title)
        pictures.insert(0, Picture("overview", draw, ""))
    files = []
    for picture in pictures:
        with drawing():
            data = io.BytesIO()
            picture.draw().figure_.savefig(data, format="png", dpi=_PIXELS_PER_INCH, metadata={"Software": None})
        files.append(Path(folder) / f"{picture.name}.png")
        write_atomically(files[-1], data.getvalue())
    return files
