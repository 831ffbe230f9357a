"""The contents of the report, and that it is self-contained."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

from sapwood._formats import number as formatted
from sapwood.report import write_report
from sapwood.report._facts import typographic
from sapwood.stream import EvaluationResult, evaluate


def number(value: float) -> str:
    return typographic(formatted(value))


def page_of(result: EvaluationResult, folder: Path, **options: Any) -> str:
    write_report(folder / "report.html", result, **options)
    return text_of(folder / "report.html")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def headings(page: str) -> list[str]:
    return re.findall(r"<h2[^>]*>(.*?)</h2>", page)


def test_every_section_is_there(regression_page: Path, class_page: Path) -> None:
    both = ["Scores", "Calibration", "What it learned", "Drift and memory", "The active pool", "The trees", "What ran"]
    assert headings(text_of(class_page)) == [*both, "Using the model"]
    both.insert(1, "The last rows")
    assert headings(text_of(regression_page)) == [*both, "Using the model"]


def test_it_needs_nothing_but_itself(any_page: Path) -> None:
    page = text_of(any_page)
    names = {"http://www.w3.org/1999/xlink"}  # a name, not an address that is fetched
    assert set(re.findall(r"https?://[^\s\"'<)]+", page)) <= names
    assert "<script" not in page
    references = re.findall(r"(?:src|href)=\"([^\"]*)\"", page)
    assert all(reference.startswith(("#", "data:")) for reference in references)
    assert set(re.findall(r"url\((.)", page)) <= {"#"}


def test_the_markup_is_well_formed(any_page: Path) -> None:
    # Fails if a name is not escaped or a tag is not closed.
    page = text_of(any_page)
    closed = re.sub(r"<(meta|link)([^>]*)>", r"<\1\2/>", page.removeprefix("<!DOCTYPE html>"))
    root = ET.fromstring(closed)
    ids = [node.get("id") for node in root.iter() if node.tag in ("section", "h2")]
    assert len(ids) == len(set(ids))
    targets = {a.get("href") for a in root.iter("a")}
    assert targets == {f"#{section.get('id')}" for section in root.iter("section")}
    pictures = list(root.iter("svg"))
    assert len(pictures) >= 8
    assert all(picture.get("aria-label") for picture in pictures)


def test_scores_stand_beside_those_of_the_baselines(regression_result: EvaluationResult, regression_page: Path) -> None:
    page = text_of(regression_page)
    for scores in (regression_result.overall(), regression_result.recent()):
        for forecaster in scores.values():
            for value in forecaster.values():
                assert number(value) in page
    assert all(word in page for word in ("Sapwood", "no change", "running mean", "all 200 rows", "last 50 rows"))
    assert f"<strong>{number(regression_result.overall()['model']['rmse'])}</strong>" in page


def test_trouble_is_told_and_names_are_text(troubled_page: Path) -> None:
    page = text_of(troubled_page)
    assert "Notes" in headings(page)
    assert "3 rows of the source could not be used" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "a &amp; b" in page
    assert "stopped before the end" in page
    assert "height &lt;m&gt; from" in page


def test_classes_are_listed_and_escaped(class_page: Path) -> None:
    page = text_of(class_page)
    assert "3: &lt;b&gt;middle&lt;/b&gt;, left, right" in page
    assert "<b>" not in page


def test_how_to_load_names_the_file(regression_result: EvaluationResult, regression_page: Path, tmp_path: Path) -> None:
    assert 'sapwood.load("kept.sap")' in page_of(regression_result, tmp_path, model_path=Path("kept.sap"))
    page = text_of(regression_page)
    assert 'save("model.sap")' in page
    assert "width, depth" in page


def test_a_model_of_another_make_has_scores_only(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    result = evaluate(SGDRegressor(random_state=0), (X, X[:, 0]), window=20)
    page = page_of(result, tmp_path)
    assert headings(page) == ["Scores", "The last rows", "What ran"]
    # Its scores are listed under its own name, and a stream without a name is not named after its type.
    assert '<th scope="col">SGDRegressor</th>' in page
    assert '<th scope="col">Sapwood</th>' not in page
    assert "<h1>y from a stream</h1>" in page


def test_a_run_without_scores_is_still_reported(regression_result: EvaluationResult, tmp_path: Path) -> None:
    nothing = {name: values[:0] for name, values in regression_result.scores.items()}
    predictions = {name: values[:0] for name, values in regression_result.predictions.items()}
    result = replace(
        regression_result, scores=nothing, predictions=predictions, pit_counts=np.zeros(100), n_scored=0, n_rows=0
    )
    page = page_of(result, tmp_path)
    assert "0 rows were forecast before they were learned" in page
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)


def test_it_replaces_the_file_and_leaves_nothing_else_behind(
    regression_result: EvaluationResult, tmp_path: Path
) -> None:
    import matplotlib.pyplot as plt

    (tmp_path / "report.html").write_text("an older report", encoding="utf-8")
    before = plt.get_fignums()
    assert page_of(regression_result, tmp_path).startswith("<!DOCTYPE html>")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (0.91684, "0.9168"),
        (3.14159, "3.142"),
        (-2.7, "−2.700"),
        (1234.5, "1,234"),
        (1e-5, "1.000e−05"),
        (2.5e7, "2.500e+07"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_have_four_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_text_is_escaped_once_and_shows_control_characters(regression_result: EvaluationResult, tmp_path: Path) -> None:
    """Fails if a name is inserted as markup, escaped twice, or acts on the page, in the text or in a picture."""
    result = replace(regression_result, target='"a" < b & c\x1b', notes=("<br> & <i>",))
    page = page_of(result, tmp_path)
    assert "<h1>&#34;a&#34; &lt; b &amp; c\\x1b from a stream</h1>" in page
    assert "<li>&lt;br&gt; &amp; &lt;i&gt;</li>" in page
    axis_labels = re.findall(r"<text[^>]*>([^<]*)</text>", page)
    assert '"a" &lt; b &amp; c\\x1b' in axis_labels
    assert "&amp;lt;" not in page
    assert "\x1b" not in page
