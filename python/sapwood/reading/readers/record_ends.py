"""Finding the ends of CSV records: newlines outside quoted fields.

A quote opens a quoted field only where a field starts; anywhere else it is text, as it is for Arrow and for Python's
own reader. The text may arrive in pieces. Each byte is looked at a fixed number of times, whatever the bytes are.
"""

from __future__ import annotations

from enum import Enum, auto

_QUOTE = ord('"')


class _State(Enum):
    FIELD_START = auto()
    IN_FIELD = auto()
    IN_QUOTES = auto()
    QUOTE_IN_QUOTES = auto()  # which closes the field, unless another quote follows


class RecordEnds:
    r"""Finds the ends of records in pieces of text, each continuing the one before.

    Parameters
    ----------
    delimiters : bytes
        The characters after which a field starts.

    Examples
    --------
    >>> ends = RecordEnds(b",")
    >>> ends.last(b'a\nb,"c\n'), ends.inside_quotes, ends.last(b'd"\n5" wide\n')
    (2, True, 11)
    """

    def __init__(self, delimiters: bytes) -> None:
        self._before_field = frozenset(delimiters + b"\n")
        self._state = _State.FIELD_START

    @property
    def inside_quotes(self) -> bool:
        """Whether the text so far ends inside a quoted field."""
        return self._state is _State.IN_QUOTES

    def first(self, data: bytes) -> int:
        """Return the end of the first record, or 0 if none ends in this piece. The scan stops there."""
        return self._scan(data, stop_at_first=True)

    def last(self, data: bytes) -> int:
        """Return the end of the last record that ends in this piece, or 0."""
        return self._scan(data, stop_at_first=False)

    def _scan(self, data: bytes, *, stop_at_first: bool) -> int:
        at = end = 0
        if data and self._state is _State.QUOTE_IN_QUOTES:
            at = int(data[0] == _QUOTE)
            self._state = _State.IN_QUOTES if at else _State.IN_FIELD
        while at < len(data):
            if self._state is _State.IN_QUOTES:
                at = self._after_quotes(data, at)
                continue
            quote = self._opening_quote(data, at)
            newline = (data.find if stop_at_first else data.rfind)(b"\n", at, quote)
            if newline >= 0:
                end = newline + 1
                if stop_at_first:
                    self._state = _State.FIELD_START
                    break
            if quote == len(data):
                starts = data[-1] in self._before_field
                self._state = _State.FIELD_START if starts else _State.IN_FIELD
                break
            self._state = _State.IN_QUOTES
            at = quote + 1
        return end

    def _opening_quote(self, data: bytes, at: int) -> int:
        """Return the position of the next quote that opens a field, or the length."""
        if self._state is _State.FIELD_START and data[at] == _QUOTE:
            return at
        quote = data.find(b'"', at)
        while quote >= 0 and not (quote > at and data[quote - 1] in self._before_field):
            quote = data.find(b'"', quote + 1)
        return quote if quote >= 0 else len(data)

    def _after_quotes(self, data: bytes, at: int) -> int:
        """Return the position after the quote that closes the field, or the length."""
        while (quote := data.find(b'"', at)) >= 0:
            at = quote + 1
            if at == len(data):
                self._state = _State.QUOTE_IN_QUOTES
                return at
            if data[at] != _QUOTE:
                self._state = _State.IN_FIELD
                return at
            at += 1
        return len(data)
