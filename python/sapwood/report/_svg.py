"""Pictures as markup: inline SVG in the reader's own text colour."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from sapwood.plot._canvas import INK, off_screen
from sapwood.report._html import Html, element

_POINTS_TO_PIXELS = 96 / 72
_OPENING_TAG = re.compile(r"<svg[^>]*>")
_VIEW_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_COUNTED_ID = re.compile(r' id="[A-Za-z0-9]+_\d+"')  # figure_1, axes_1, ...: the same in every picture, and unused
_STYLE = re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)


def figure(draw: Callable[[], Any], caption: str, *, wide: bool = False) -> Html:
    """A picture with its caption. `draw` returns a display; its title names the picture for those who cannot see it."""
    import matplotlib as mpl

    with mpl.rc_context(), off_screen():
        # Text stays text (it can be searched and read aloud), and the page shows through.
        mpl.rc("svg", fonttype="none", hashsalt="sapwood")
        mpl.rc("figure", facecolor="none")
        mpl.rc("axes", facecolor="none")
        mpl.rc("savefig", facecolor="none")
        display = draw()
        file = io.StringIO()
        display.figure_.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    name = display.ax_.get_title(loc="left") or display.figure_.get_suptitle()
    return element(
        "figure", _inline(file.getvalue(), name), element("figcaption", caption), class_="wide" if wide else None
    )


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
