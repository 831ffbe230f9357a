"""Encodings of text files: found out from the first bytes, and turned into UTF-8 as a file is read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from sapwood.reading.errors import SourceError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8 = ("utf-8", "utf-8-sig")
_WESTERN = "cp1252"  # also reads Latin-1, but for control characters
_LETTERS = 0.8  # at least this share of the special characters of Western text is letters
_LETTER = re.compile(rb"[\xc0-\xd6\xd8-\xf6\xf8-\xff\xdf\x8a\x8c\x8e\x9a\x9c\x9e\x9f]")
_TEXT_ONLY = "a text encoding of Python, such as utf-8, cp1252 or utf-16"


class TextEncoding:
    """Turns the bytes of a file into UTF-8.

    Parameters
    ----------
    label : str
        Name of the file, for errors.
    name : str or None
        The encoding. None: UTF-16 and UTF-32 are recognised by their byte order mark; text that is not UTF-8, but
        Western European if each of its bytes is a character, by its first bytes; everything else is UTF-8.
    """

    def __init__(self, label: str, name: str | None) -> None:
        self._label = label
        self._found: str | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._has_begun = False
        if name is not None:
            self._has_begun = True
            try:
                codec = codecs.lookup(name)
                is_text = isinstance("".encode(name), bytes)
            except (LookupError, TypeError, ValueError):
                is_text = False
            if not is_text:
                raise SourceError(f"encoding is {name!r}; it must be {_TEXT_ONLY}")
            self._name = codec.name
            self._decoder = None if codec.name in _UTF8 else codec.incrementaldecoder()

    def as_utf8(self, read: Callable[[], bytes]) -> bytes:
        """Return more text as UTF-8, from bytes that `read` returns; nothing at the end."""
        data = read()
        if not self._has_begun:
            self._has_begun = True
            self._look_at(data)
        if self._decoder is None:
            return data
        while True:
            text = self._decode(data)
            if text or not data:
                return text
            data = read()  # it was a part of a character

    def _decode(self, data: bytes) -> bytes:
        assert self._decoder is not None
        try:
            return self._decoder.decode(data, final=not data).encode()
        except UnicodeError as error:
            raise SourceError(
                f"{self._label}: is not text in the encoding {self._name} ({error}); name the right one with encoding=",
                file=self._label,
            ) from error

    def _look_at(self, first: bytes) -> None:
        name = next((name for mark, name in _MARKS if first.startswith(mark)), None)
        if name is None and _is_western(first):
            name = _WESTERN
        if name is not None:
            self._found = self._name = name
            self._decoder = codecs.getincrementaldecoder(name)()

    def notes(self) -> list[str]:
        """Return a note on an encoding that had to be guessed."""
        if self._found != _WESTERN:
            return []
        return [f"{self._label} is not UTF-8 and is read as {_WESTERN}; name another encoding with encoding="]


def _is_western(data: bytes) -> bool:
    """Whether text is clearly not UTF-8, and its bytes are letters: in the header, or in at least two lines."""
    if data.isascii():
        return False
    valid = data.decode("utf-8", "ignore")
    if not valid.isascii():  # some of it is UTF-8, so that the rest is damaged
        return False
    lines = [line for line in data.split(b"\n")[:-1] if not line.isascii()]
    header = data.split(b"\n", 1)[0]
    if header.isascii() and len(lines) < 2:
        return False
    special = bytes(byte for line in lines for byte in line if byte >= 0x80)
    return len(_LETTER.findall(special)) >= _LETTERS * len(special)
