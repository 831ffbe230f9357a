"""The page of a report: its sections, and the templates that show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import groupby
from operator import attrgetter
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import sapwood
from sapwood._formats import number
from sapwood._text import visible
from sapwood.prequential.result import EvaluationResult
from sapwood.report import _charts, _facts
from sapwood.report._picture import Picture
from sapwood.report._svg import Figure, figure


@dataclass(frozen=True)
class Section:
    """A part of the page. Its template shows the facts, if it has any, and the pictures."""

    anchor: str
    title: str
    pictures: list[Figure]
    facts: Any = None
    template: str = "pictures.html"


def _sections(result: EvaluationResult, model_path: str | None) -> list[Section]:
    """Return the sections that are not empty, in order."""

    def drawn(pictures: list[Picture]) -> list[Figure]:
        return [figure(picture) for picture in pictures]

    sections = [
        Section("scores", "Scores", drawn(_charts.scores(result)), _facts.score_table(result), "scores.html"),
        Section("last-rows", "The last rows", drawn(_charts.last_rows(result))),
        Section("calibration", "Calibration", drawn(_charts.calibration(result))),
        Section("learned", "What it learned", drawn(_charts.learned(result))),
        Section("memory", "Drift and memory", drawn(_charts.memory(result))),
        Section("pool", "The active pool", drawn(_charts.pool(result))),
        Section("trees", "The trees", drawn(_charts.trees(result))),
        Section("ran", "What ran", [], _facts.what_ran(result), "what_ran.html"),
        Section("notes", "Notes", [], _facts.left_out(result), "notes.html"),
        Section("use", "Using the model", [], _facts.usage(result, model_path), "usage.html"),
    ]
    return [section for section in sections if section.pictures or section.facts is not None]


def page(result: EvaluationResult, model_path: str | None) -> str:
    """Return the HTML of a report."""
    return (
        _templates()
        .get_template("page.html")
        .render(
            result=result,
            title=_facts.title(result),
            summary=_facts.summary(result),
            sections=_sections(result, model_path),
            written=datetime.now(timezone.utc).astimezone().strftime("%d %B %Y, %H:%M"),
            version=sapwood.__version__,
        )
    )


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("sapwood.report"),
        autoescape=True,
        finalize=_finalized,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: _facts.typographic(number(value))
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["groups_of"] = lambda items, name: [
        (key, list(group)) for key, group in groupby(items, key=attrgetter(name))
    ]
    return environment


def _finalized(value: Any) -> Any:
    """Show the control characters in names, which HTML does not allow."""
    return value if isinstance(value, Markup) else "\n".join(map(visible, str(value).split("\n")))
