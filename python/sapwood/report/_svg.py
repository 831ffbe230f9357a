"""Pictures as inline SVG in the reader's own text colour."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from markupsafe import Markup

from sapwood.plot._canvas import INK
from sapwood.report._picture import Picture, drawing

_BACKGROUNDS = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
_PIXELS_PER_POINT = 96 / 72
_SVG = "{http://www.w3.org/2000/svg}"
_COUNTED_ID = re.compile(r"[A-Za-z0-9]+_\d+")  # figure_1, axes_1, ...: the same in every picture, and unused
_INK = re.compile(INK, re.IGNORECASE)

ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")


@dataclass(frozen=True)
class Figure:
    """A picture that has been drawn, with its caption."""

    svg: Markup
    caption: str
    wide: bool
    aside: bool


def figure(picture: Picture) -> Figure:
    """Draw a picture. The title of the display names it for those who cannot see it."""
    # Text remains text, for searching and screen readers, and the background is transparent.
    with drawing({"svg.fonttype": "none", "svg.hashsalt": "sapwood", **dict.fromkeys(_BACKGROUNDS, "none")}):
        display = picture.draw()
        file = io.StringIO()
        display.figure_.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    title = display.ax_.get_title(loc="left") or display.figure_.get_suptitle()
    return Figure(_inline(file.getvalue(), title), picture.caption, picture.wide, picture.aside)


def _inline(svg: str, name: str) -> Markup:
    """Return a picture for a page: labelled, without the styles that the page provides, and in its text colour."""
    root = ET.fromstring(svg)
    for parent in list(root.iter()):
        for child in parent.findall(f"{_SVG}defs"):
            if child.find(f"{_SVG}style") is not None:
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        if _COUNTED_ID.fullmatch(element.get("id", "")):
            del element.attrib["id"]
        for attribute, value in element.items():
            element.set(attribute, _INK.sub("currentColor", value))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    root.attrib = {
        "role": "img",
        "aria-label": name,
        "width": f"{width * _PIXELS_PER_POINT:.0f}",
        "height": f"{height * _PIXELS_PER_POINT:.0f}",
        "viewBox": root.attrib["viewBox"],
    }
    return Markup(ET.tostring(root, encoding="unicode"))
