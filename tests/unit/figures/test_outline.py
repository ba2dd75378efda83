import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from copycost.figures.outline import outline_text

DIAGRAMS = sorted((Path(__file__).parents[3] / "report" / "diagrams").glob("*.svg"))
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 99 99">{}</svg>'


NAME = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


def x_values(svg: str) -> list[float]:
    """Return where all points of all glyphs end up."""
    root = ET.fromstring(svg)
    outlines = {path.attrib["id"]: path.attrib["d"] for path in root.iter(f"{NAME}path")
                if "id" in path.attrib}  # fmt: skip
    found = []
    for group in root.iter(f"{NAME}g"):
        if "scale" not in group.attrib.get("transform", ""):
            continue
        left, _, scale, _ = map(float, re.findall(r"-?[\d.]+", group.attrib["transform"]))
        for use in group:
            xs = re.findall(r"[MLQC ](-?[\d.]+) -?[\d.]+", outlines[use.attrib[LINK][1:]])
            found += [left + scale * (float(use.attrib["x"]) + float(x)) for x in xs]
    return found


def outlined(text: str) -> str:
    return outline_text(SVG.format(text))


def test_text_becomes_glyphs_with_the_same_paint() -> None:
    svg = outlined('<text x="10" y="20" font-size="12" fill="#123456">Hi! Hi</text>')
    group, defined = ET.fromstring(svg)
    assert group.attrib["fill"] == "#123456"
    assert [use.tag for use in group] == [f"{NAME}use"] * 5
    assert len(defined) == 3
    assert "Hi" not in svg


def test_anchor_moves_the_text() -> None:
    make = '<text x="50" y="20" font-size="10" text-anchor="{}">wide text</text>'
    start, middle, end = (
        x_values(outlined(make.format(anchor))) for anchor in ("start", "middle", "end")
    )
    assert min(start) >= 50
    assert max(end) <= 52
    assert abs((min(middle) + max(middle)) / 2 - 50) < 1


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=lambda path: path.stem)
def test_diagrams_need_no_font_and_nothing_remote(diagram: Path) -> None:
    svg = outline_text(diagram.read_text(encoding="utf-8"))
    root = ET.fromstring(svg)
    assert not [element for element in root.iter() if element.tag.endswith(("}text", "}tspan"))]
    assert "font-" not in svg
    assert not re.search(r"(href=.[^#]|url\()", svg)


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=lambda path: path.stem)
def test_text_of_diagrams_stays_within_them(diagram: Path) -> None:
    root = ET.fromstring(outline_text(diagram.read_text(encoding="utf-8")))
    _, _, width, _ = map(float, root.attrib["viewBox"].split())
    assert all(0 <= x <= width for x in x_values(ET.tostring(root, encoding="unicode")))
