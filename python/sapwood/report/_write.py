"""From the result of a run to the file."""

from __future__ import annotations

import io
import os
from datetime import datetime, timezone
from functools import partial
from importlib import resources
from pathlib import Path

from sapwood._files import write_atomically
from sapwood.plot import OverviewDisplay
from sapwood.prequential.result import EvaluationResult
from sapwood.report import _charts, _facts
from sapwood.report._html import Html, element, join
from sapwood.report._picture import Picture, drawing
from sapwood.report._svg import figures

_PIXELS_PER_INCH = 110

# Nothing may be fetched and nothing may run, whatever the names of columns or classes hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


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
    page = _page(result, None if model_path is None else os.fspath(model_path))
    write_atomically(path, str(page).encode("utf-8"))


def write_pictures(folder: str | os.PathLike[str], result: EvaluationResult) -> list[Path]:
    """Write the pictures of a prequential run as PNG files: an overview, and each picture of the report.

    Parameters
    ----------
    folder : path
        Where to write. It is made if it does not exist; files of the same names are replaced.
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


def _page(result: EvaluationResult, model_path: str | None) -> Html:
    sections = [
        ("scores", "Scores", join([_facts.score_table(result), figures(_charts.scores(result))])),
        ("last-rows", "The last rows", figures(_charts.last_rows(result))),
        ("calibration", "Calibration", figures(_charts.calibration(result))),
        ("learned", "What it learned", figures(_charts.learned(result))),
        ("memory", "Drift and memory", figures(_charts.memory(result))),
        ("pool", "The active pool", figures(_charts.pool(result))),
        ("trees", "The trees", figures(_charts.trees(result))),
        ("ran", "What ran", _facts.what_ran(result)),
        ("notes", "Notes", _facts.notes(result)),
        ("use", "Using the model", _facts.how_to_load(result, model_path)),
    ]
    shown = [(anchor, title, body) for anchor, title, body in sections if body]
    links = join(element("li", element("a", title, href=f"#{anchor}")) for anchor, title, _ in shown)
    written = datetime.now(timezone.utc).astimezone().strftime("%d %B %Y, %H:%M")
    body = join(
        [
            element(
                "header",
                element("p", "Sapwood report", class_="kicker"),
                element("h1", _facts.title(result)),
                _facts.summary(result),
                element("nav", element("ul", links), aria_label="Sections"),
            ),
            element("main", *(_section(anchor, title, content) for anchor, title, content in shown)),
            element("footer", element("p", f"Written on {written} by Sapwood {_facts.version()}.")),
        ]
    )
    head = join(
        [
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("link", rel="icon", href="data:,"),
            element("title", f"Sapwood report: {_facts.title(result)}"),
            element("style", Html(resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8"))),
        ]
    )
    return Html("<!DOCTYPE html>\n") + element("html", element("head", head), element("body", body), lang="en")


def _section(anchor: str, title: str, content: Html) -> Html:
    return element(
        "section", element("h2", title, id=f"{anchor}-title"), content, id=anchor, aria_labelledby=f"{anchor}-title"
    )
