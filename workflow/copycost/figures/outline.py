"""Draws the text of an SVG as outlines, so that it looks the same wherever it is shown.

The diagrams are kept with plain ``<text>``, which people can edit. What a viewer makes of it
depends on the fonts of its machine; a machine that only runs experiments may have none.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Literal

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath

from copycost.errors import ParseError

_SVG = "http://www.w3.org/2000/svg"
_COMMANDS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def outline_text(svg: str) -> str:
    """Return an SVG whose ``<text>`` elements have become ``<path>`` elements.

    Understood are the attributes `x`, `y`, `font-size`, `font-weight`, `font-style`,
    `font-family` (``monospace`` or not) and `text-anchor` on the element itself; all other
    attributes are carried over.

    Raises
    ------
    ParseError
        If the text is not XML, or a ``<text>`` has children.
    """
    ET.register_namespace("", _SVG)
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as error:
        raise ParseError(f"diagram: {error}; must be a well-formed SVG file") from error
    for text in root.iter(f"{{{_SVG}}}text"):
        _outline(text)
    return ET.tostring(root, encoding="unicode")


def _outline(text: ET.Element) -> None:
    if len(text):
        raise ParseError(f"diagram: <text> {text.text!r} has children; use one <text> per line")
    attributes = text.attrib
    family = attributes.pop("font-family", "sans-serif")
    style: Literal["normal", "italic"] = (
        "italic" if attributes.pop("font-style", "normal") == "italic" else "normal"
    )
    font = FontProperties(
        family="DejaVu Sans Mono" if family == "monospace" else "DejaVu Sans",
        weight=attributes.pop("font-weight", "normal"),
        style=style,
    )
    size = float(attributes.pop("font-size", "16"))
    x, y = float(attributes.pop("x")), float(attributes.pop("y"))
    anchor = _ANCHORS[attributes.pop("text-anchor", "start")]
    words = (text.text or "").strip()
    text.tag, text.text, attributes["d"] = f"{{{_SVG}}}path", None, ""
    if words:  # matplotlib has no outline of nothing
        path = TextPath((0, 0), words, size=size, prop=font)
        x -= anchor * path.get_extents().width
        attributes["d"] = " ".join(_commands(path, x, y))


def _commands(path: TextPath, x: float, y: float) -> Iterator[str]:
    for points, code in path.iter_segments(curves=True, simplify=False):
        if code == Outline.CLOSEPOLY:
            yield "Z"
            continue
        pairs = points.reshape(-1, 2)
        yield _COMMANDS[code] + " ".join(f"{x + px:.2f} {y - py:.2f}" for px, py in pairs)
