import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from copycost.figures.outline import outline_text

DIAGRAMS = sorted((Path(__file__).parents[3] / "report" / "diagrams").glob("*.svg"))
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


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=lambda path: path.stem)
def test_diagrams_need_no_font_and_their_text_stays_within_them(diagram: Path) -> None:
    svg = outline_text(diagram.read_text(encoding="utf-8"))
    assert not re.search(r"<text|<tspan|font-|href=.[^#]|url\(", svg)
    _, _, width, _ = map(float, ET.fromstring(svg).attrib["viewBox"].split())
    assert all(0 <= x <= width for x in x_values(svg))
