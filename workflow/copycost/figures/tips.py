"""What a point of a figure is in words, which a browser shows under the pointer."""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import Transform

from copycost.figures.text import size_label
from copycost.wording.filters import significant
from copycost.wording.words import plural

_MARK = "tip:"
_LINK = re.compile(
    rf'<a xlink:href="{_MARK}([^"]*)".*?<use [^>]*x="([^"]*)" y="([^"]*)".*?</a>', re.DOTALL
)
_RADIUS_PT = 5


def add_tips(
    axes: Axes,
    x: Sequence[float] | pd.Series,
    y: Sequence[float] | pd.Series,
    tips: Sequence[str],
    transform: Transform | None = None,
) -> None:
    """Lay an invisible mark with its words over each point.

    The marks carry them as links, all that matplotlib knows to write per point of a collection;
    `titled` makes titles of them in the SVG. A point without a value has no mark.
    """
    points = pd.DataFrame({"x": list(x), "y": list(y), "tip": list(tips)}).dropna()
    if points.empty:
        return
    marks = axes.scatter(
        points["x"], points["y"], alpha=0, linewidths=0, zorder=9,
        transform=transform or axes.transData, gid="tips",
    )  # fmt: skip
    marks.set_urls([_MARK + tip for tip in points["tip"]])
    marks.set_in_layout(False)


def point_tips(rows: pd.DataFrame) -> list[str]:
    """Return the words of each row of a figure's points (see `tables.COLUMNS`)."""
    return [
        f"{row['implementation']}, {size_label(row['msg_bytes'])}, "
        f"{plural(int(row['n_threads']), 'thread')}: {row['quantity']} {value_tip(row)}"
        for row in rows.to_dict("records")
    ]


def value_tip(row: Mapping[Hashable, Any]) -> str:
    """Return a value with its unit and what is known of it: an interval, or two clusters."""
    unit = row.get("unit", "1")
    unit = "" if unit == "1" else f" {unit}"
    if pd.isna(row["value"]):
        return "not measured"
    if pd.notna(row.get("lower_mode")):
        modes = f"{significant(row['lower_mode'])} or {significant(row['upper_mode'])}"
        return f"{modes}{unit}, in two clusters"
    said = f"{significant(row['value'])}{unit}"
    if all(pd.notna(row[end]) and math.isfinite(row[end]) for end in ("low", "high")):
        said += f" ({significant(row['low'])} to {significant(row['high'])})"
    return said


def titled(svg: str) -> str:
    """Return an SVG in which the marks of `add_tips` are circles with a title."""
    circle = rf'<circle cx="\2" cy="\3" r="{_RADIUS_PT}" fill="none" pointer-events="all">'
    return _LINK.sub(rf'<g class="tip">{circle}<title>\1</title></circle></g>', svg)
