"""Files in other encodings than UTF-8."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood.stream import SourceError, open_source

TEXT = "größe,wort,y\n" + "1,café,1\n2,naïve,2\n3,café,3\n" * 400


@pytest.mark.parametrize("name", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "latin-1"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_are_found_out(name: str, packed: bool, csv: Callable[..., Path], read: Callable[..., Any]) -> None:
    data = TEXT.encode(name)
    found = read(csv(gzip.compress(data) if packed else data), target="y")
    assert found.source.feature_names == ["größe", "wort"]
    np.testing.assert_array_equal(found.x[:3], [[1, 0], [2, 1], [3, 0]])
    assert len(found.x) == 1200
    assert found.source.bad_reasons == {}
    is_guessed = name in ("cp1252", "latin-1")
    assert ["is read as cp1252" in note for note in found.source.notes] == [True] * is_guessed


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "cp437", "shift-jis", "UTF8"])
def test_an_encoding_can_be_named(name: str, csv: Callable[..., Path], read: Callable[..., Any]) -> None:
    text = TEXT if name != "shift-jis" else "größe,wort,y\n".replace("öß", "サ") + "4,ソ,4\n" * 1200
    found = read(csv(text.encode(name)), target="y", encoding=name)
    assert found.source.feature_names == text.split("\n")[0].split(",")[:2]
    assert len(found.x) == 1200


@pytest.mark.parametrize("name", ["no-such", "base64", "rot13", "\0"])
def test_an_encoding_that_cannot_be(name: str, csv: Callable[..., Path]) -> None:
    with pytest.raises(SourceError, match="it must be a text encoding of Python, such as utf-8"):
        open_source(csv(TEXT), target="y", encoding=name)


def test_the_wrong_encoding_is_one_clear_sentence(csv: Callable[..., Path]) -> None:
    with pytest.raises(SourceError, match=r"is not text in the encoding ascii .*; name the right one with encoding="):
        open_source(csv(TEXT), target="y", encoding="ascii")
    with pytest.raises(SourceError, match=r"is not text in the encoding utf-16 .*truncated"):
        list(open_source(csv(TEXT.encode("utf-16")[:-1]), target="y"))


def test_utf8_that_is_damaged_is_not_taken_for_another_encoding(
    csv: Callable[..., Path], read: Callable[..., Any]
) -> None:
    damaged = TEXT.encode() + b"5,caf\xe9,5\n5,caf\xe9,5\n"
    found = read(csv(damaged), target="y", on_bad_row="skip")
    assert found.source.bad_reasons == {"not UTF-8": 2}
