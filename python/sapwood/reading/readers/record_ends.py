"""Finding the ends of CSV records: newlines outside quotes.

Both functions take bytes that continue a text, and whether they begin inside quotes, so that a text read in pieces is
scanned once however long a record is. They look at each byte a fixed number of times, whatever the bytes are.
"""

from __future__ import annotations


def first_end(data: bytes, *, inside: bool = False) -> tuple[int, bool]:
    r"""Return the end of the first record, 0 if it does not end here, and whether `data` up to there ends in quotes.

    Examples
    --------
    >>> first_end(b'a,"b\nc"\nd'), first_end(b'a,"b\n'), first_end(b'c"\n', inside=True)
    ((8, False), (0, True), (3, False))
    """
    at, newline = 0, -1
    while True:
        if inside:
            quote = data.find(b'"', at)
            if quote < 0:
                return 0, True
        else:
            if newline < at:  # the one found last may still be ahead
                newline = data.find(b"\n", at)
                newline = len(data) if newline < 0 else newline
            quote = data.find(b'"', at, newline)
            if quote < 0:
                return (newline + 1 if newline < len(data) else 0), False
        at, inside = quote + 1, not inside


def last_end(data: bytes, *, inside: bool = False) -> tuple[int, bool]:
    r"""Return the end of the last whole record, 0 if none ends here, and whether `data` as a whole ends in quotes.

    Examples
    --------
    >>> last_end(b'a\nb\nc'), last_end(b'a\n"b\n'), last_end(b'a\nb"\nc', inside=True)
    ((4, False), (2, True), (5, False))
    """
    ends_inside = inside ^ (data.count(b'"') % 2 == 1)
    at, within = len(data), ends_inside
    newline = data.rfind(b"\n")
    if newline >= 0 and within == (data.count(b'"', newline) % 2 == 1):
        return newline + 1, ends_inside
    while True:
        quote = data.rfind(b'"', 0, at)
        if not within:
            newline = data.rfind(b"\n", quote + 1, at)
            if newline >= 0:
                return newline + 1, ends_inside
        if quote < 0:
            return 0, ends_inside
        at, within = quote, not within
