"""Pictures as markup: inline SVG in the reader's own text colour."""

from __future__ import annotations

import io
import re
from itertools import groupby

from sapwood.plot._canvas import INK
from sapwood.report._html import Html, element, join
from sapwood.report._picture import Picture, drawing

_BACKGROUNDS = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
_POINTS_TO_PIXELS = 96 / 72
_OPENING_TAG = re.compile(r"<svg[^>]*>")
_VIEW_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_COUNTED_ID = re.compile(r' id="[A-Za-z0-9]+_\d+"')  # figure_1, axes_1, ...: the same in every picture, and unused
_STYLE = re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)


def figures(pictures: list[Picture]) -> Html:
    """Pictures in order: narrow ones that follow one another side by side, those set aside behind a summary."""
    shown = [picture for picture in pictures if not picture.aside]
    parts: list[Html] = []
    for wide, group in groupby(shown, key=lambda picture: picture.wide):
        drawn = [_figure(picture) for picture in group]
        parts.extend(drawn if wide else [_side_by_side(drawn)])
    rest = [_figure(picture) for picture in pictures if picture.aside]
    if rest:
        summary = element("summary", f"{len(rest)} more picture{'s' * (len(rest) > 1)}")
        parts.append(element("details", summary, _side_by_side(rest)))
    return join(parts)


def _side_by_side(drawn: list[Html]) -> Html:
    return element("div", *drawn, class_="figures")


def _figure(picture: Picture) -> Html:
    """A picture with its caption. The display's title names it for those who cannot see it."""
    # Text stays text (it can be searched and read aloud), and the page shows through.
    with drawing({"svg.fonttype": "none", "svg.hashsalt": "sapwood", **dict.fromkeys(_BACKGROUNDS, "none")}):
        display = picture.draw()
        file = io.StringIO()
        display.figure_.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    title = display.ax_.get_title(loc="left") or display.figure_.get_suptitle()
    body = _inline(file.getvalue(), title)
    return element("figure", body, element("figcaption", picture.caption), class_="wide" if picture.wide else None)


def _inline(svg: str, name: str) -> Html:
    opening = _OPENING_TAG.search(svg)
    size = _VIEW_BOX.search(svg)
    assert opening is not None
    assert size is not None
    width, height = (float(length) * _POINTS_TO_PIXELS for length in size.groups())
    body = _COUNTED_ID.sub("", _STYLE.sub("", svg[opening.end() :]))
    body = re.sub(INK, "currentColor", body, flags=re.IGNORECASE)
    label = element("svg", role="img", aria_label=name).removesuffix("></svg>")
    return Html(
        f'{label} width="{width:.0f}" height="{height:.0f}" viewBox="{size[0][9:-1]}" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">{body.rstrip()}'
    )
