"""HTML as values: text is escaped unless it is markup already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from sapwood._text import visible

_VOID = frozenset({"meta", "link", "br", "col"})


class Html(str):
    """Markup. Every other string is text, and is escaped when it becomes part of markup."""

    __slots__ = ()

    def __add__(self, other: str) -> Html:
        return Html(str.__add__(self, _markup(other)))


def _markup(content: str) -> Html:
    return content if isinstance(content, Html) else Html(_escaped(content, quote=False))


def _escaped(text: str, *, quote: bool = True) -> str:
    """Text without markup, and without the control characters that HTML does not allow."""
    return escape("\n".join(map(visible, text.split("\n"))), quote=quote)


def element(tag: str, *content: str, **attributes: str | None) -> Html:
    """An element. ``class_`` is class, an underscore a hyphen; attributes that are None are left out.

    Examples
    --------
    >>> element("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    inside = "".join(map(_markup, content))
    return Html(f"<{tag}{written}>") if tag in _VOID else Html(f"<{tag}{written}>{inside}</{tag}>")


def join(parts: Iterable[str]) -> Html:
    """Markup one after the other."""
    return Html("\n".join(_markup(part) for part in parts if part))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], name: str) -> Html:
    """A table whose first column names the rows; `name` is what it is called for those who cannot see it."""
    lines = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:])) for row in rows
    ]
    top = element("thead", element("tr", *(element("th", cell, scope="col") for cell in head)))
    return scrolling(element("table", top, element("tbody", *lines)), name)


def scrolling(content: Html, name: str) -> Html:
    """Content that may be wider than a narrow screen, and can be scrolled with the keyboard too."""
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=name)
