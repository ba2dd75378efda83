"""Draws the text of an SVG as outlines, so that it looks the same wherever it is shown.

The diagrams are kept with plain ``<text>``, which people can edit. What a viewer makes of it
depends on the fonts of its machine; a machine that only runs experiments may have none.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any, Literal

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath, TextToPath, text_to_path

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_COMMANDS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def outline_text(svg: str) -> str:
    """Return an SVG whose ``<text>`` elements have become outlines, each glyph defined once.

    Understood are the attributes `x`, `y`, `font-size`, `font-weight`, `font-style`,
    `font-family` (``monospace`` or not) and `text-anchor` on the element itself; all other
    attributes are carried over. An element has one line of text, without ``<tspan>``.
    """
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _LINK)
    root = ET.fromstring(svg)
    glyphs: dict[str, str] = {}
    for text in root.iter(f"{{{_SVG}}}text"):
        _outline(text, glyphs)
    defined = ET.Element(f"{{{_SVG}}}defs")
    for name, outline in glyphs.items():
        ET.SubElement(defined, f"{{{_SVG}}}path", {"id": name, "d": outline})
    root.append(defined)
    return ET.tostring(root, encoding="unicode")


def _outline(text: ET.Element, glyphs: dict[str, str]) -> None:
    """Make an element of text a group of glyphs; what it needs anew is added to `glyphs`."""
    attributes = text.attrib
    family = attributes.pop("font-family", "sans-serif")
    style: Literal["normal", "italic"] = (
        "italic" if attributes.pop("font-style", "normal") == "italic" else "normal"
    )
    properties = FontProperties(
        family="DejaVu Sans Mono" if family == "monospace" else "DejaVu Sans",
        weight=attributes.pop("font-weight", "normal"),
        style=style,
    )
    size = float(attributes.pop("font-size", "16"))
    x, y = float(attributes.pop("x")), float(attributes.pop("y"))
    anchor = _ANCHORS[attributes.pop("text-anchor", "start")]
    words = (text.text or "").strip()
    text.tag, text.text = f"{{{_SVG}}}g", None
    if not words:  # matplotlib has no outline of nothing
        return
    x -= anchor * TextPath((0, 0), words, size=size, prop=properties).get_extents().width
    scale = size / TextToPath.FONT_SCALE
    attributes["transform"] = f"translate({x:.2f} {y:.2f}) scale({scale:g} {-scale:g})"
    font = get_font(findfont(properties))
    font.set_size(TextToPath.FONT_SCALE, TextToPath.DPI)
    placed, outlines, _ = text_to_path.get_glyphs_with_font(font, words)
    for name, at, _, _ in placed:
        vertices, codes = outlines[name]
        if len(vertices):  # not a space
            glyphs.setdefault(name, " ".join(_commands(vertices, codes)))
            ET.SubElement(
                text, f"{{{_SVG}}}use", {f"{{{_LINK}}}href": f"#{name}", "x": f"{at:.1f}"}
            )


def _commands(vertices: Any, codes: Any) -> Iterator[str]:  # noqa: ANN401 - as matplotlib has them
    for points, code in Outline(vertices, codes).iter_segments(curves=True, simplify=False):
        if code == Outline.CLOSEPOLY:
            yield "Z"
            continue
        pairs = points.reshape(-1, 2)
        yield _COMMANDS[code] + " ".join(f"{px:.1f} {py:.1f}" for px, py in pairs)
