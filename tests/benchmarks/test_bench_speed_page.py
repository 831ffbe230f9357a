"""The tables of the page on performance."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from benchmarks.speed.page import PAGE, filled


def test_the_page_says_what_is_stored() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert filled(text) == text, "run python -m benchmarks.speed page"


def test_a_table_that_was_changed_by_hand_is_made_anew() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert filled(text.replace("times as fast", "times as slow")) == text


@pytest.mark.parametrize("change", [lambda text: text.replace("<!-- peers -->", ""), lambda text: text + text])
def test_a_table_without_a_place_of_its_own_is_an_error(change: Callable[[str], str]) -> None:
    with pytest.raises(ValueError, match=r"the page has [02] places for the table of"):
        filled(change(PAGE.read_text(encoding="utf-8")))
