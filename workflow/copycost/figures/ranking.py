"""Figure: what a byte costs with each implementation, cheapest first, a panel per message size."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from copycost.figures.axes import EDGE_NOTE, scale_of, value_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.markers import in_order, way_styles
from copycost.figures.style import INK, QUIET, SHADE, styled
from copycost.figures.tables import Drawn, left_out, spread
from copycost.figures.text import (
    EMULATED_NOTE,
    add_tips,
    empty_figure,
    point_tips,
    size_label,
    wrap,
)
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

COLUMNS = (
    "condition", "msg_bytes", "n_threads", "rank", "implementation", "label", "quantity", "unit",
    "value", "low", "high", "n", "floor", "floor_ratio", "state",
)  # fmt: skip
"""Columns of the CSV: `floor` is what copying a byte once costs where such a message lies."""

_ROW_CM = 0.41
_SAID_ROWS = 0.56
_FRAME_CM = 1.75
_PAGE_CM = 21.5
_NAME_PT = 7.6
_SAID_PT = 6.2
_SAID_MOST_CM = 2.5


@styled
def draw(facts: Mapping[str, Any], condition: str) -> Drawn:
    """Draw the costs of one condition, with the fewest threads; each panel has its own order."""
    known = facts["conditions"][condition]
    data = _table(known)
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No cost per byte on {condition}."), data)
    ranking = known["ranking"]
    names = in_order(facts["grid"]["implementations"])
    every = data["msg_bytes"]
    fullest = max(sum(_heights(part)) for _, part in data.groupby("msg_bytes"))
    panel_cm = float(fullest * _ROW_CM + _FRAME_CM)
    sizes = spread(every, 2 * max(1, int(_PAGE_CM / panel_cm)))
    shown = data[every.isin(sizes) & data["value"].notna()]
    n_columns = min(2, len(sizes))
    sheet = new_sheet(shown, panel_cm, column="msg_bytes", n_columns=n_columns)
    cut = False
    for place, axes, part, _ in sheet.panels():
        cut |= _draw_panel(axes, part.sort_values("rank"), names)
        below = place + n_columns >= len(sheet.contents)
        axes.set(xlabel=f"{ranking['label']} [{ranking['unit']}/B]" if below else "", ylabel="")
        axes.set_title(size_label(part["msg_bytes"].iloc[0]))
    most = int(shown["n"].max())
    level = f"{facts['method']['statistics']['confidence'] * 100:g}{NBSP}%"
    whose = "The sender alone" if ranking["side"] == "sender" else "Both sides together"
    note = [
        f"{whose}, {plural(ranking['n_threads'], 'thread')}, cheapest first.",
        f"Points: median of up to {most}{NBSP}repetitions; bars: {level} interval." if most > 1
        else "Points: one repetition each, so there is no interval.",
        "Dashed line, shaded below: cost of one plain copy (memcpy) from where such a message "
        "lies." if shown["floor"].notna().any() else "",
        "Horizontal axes logarithmic, with a separate scale for each message size.",
        left_out(every, sizes, "B"),
        EDGE_NOTE if cut else "",
        EMULATED_NOTE if known.get("emulated") else "",
    ]  # fmt: skip
    return Drawn(finish(sheet, data, None, note), data)


def _table(known: Mapping[str, Any]) -> pd.DataFrame:
    ranking = known.get("ranking")
    if not ranking:
        return pd.DataFrame(columns=list(COLUMNS)).astype({"value": float})
    rows = [
        {
            **row,
            "condition": known["slug"],
            "msg_bytes": size["msg_bytes"],
            "n_threads": ranking["n_threads"],
            "label": known["labels"].get(row["implementation"]) or "",
            "quantity": ranking["label"],
            "unit": f"{ranking['unit']}/B",
            "value": row["median"],
            "floor": size["floor_ns_per_byte"],
            "state": "measured" if row["n"] else "missing",
        }
        for size in ranking["sizes"]
        for row in size["rows"]
    ]
    numbers = dict.fromkeys(("value", "low", "high", "floor", "floor_ratio"), "float64")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(numbers)


def _said(label: str) -> list[str]:
    """Return the lines under a name: what the kernel made of what was asked for."""
    return wrap(label, _SAID_MOST_CM, _SAID_PT) if label else []


def _heights(data: pd.DataFrame) -> list[float]:
    """Return the height of each row, in heights of a name."""
    return [1 + _SAID_ROWS * len(_said(label)) for label in data["label"]]


def _draw_panel(axes: Axes, data: pd.DataFrame, implementations: Sequence[str]) -> bool:
    """Draw one size; return whether an interval is cut off at the edge."""
    styles = way_styles(implementations)
    floor = float(data["floor"].iloc[0])
    # the floor is one of the values that the axis has to hold
    floors = pd.DataFrame({"value": data["floor"].dropna().unique()})
    shown = pd.concat([data[["value", "low", "high"]], floors], ignore_index=True)
    scale = scale_of(shown, "log" if (data["value"] > 0).all() else None)
    if not math.isnan(floor):
        axes.axvspan(scale.low, floor, color=SHADE, lw=0, zorder=0)
        axes.axvline(floor, color=INK, lw=0.9, ls=(0, (2, 1.5)), zorder=1.2, gid="floor")
    heights = _heights(data)
    data = data.assign(place=np.cumsum([0.0, *heights[:-1]]) + 0.5)
    for row in data.to_dict("records"):
        name, value = row["implementation"], row["value"]
        reach = np.nan_to_num([[value - row["low"]], [row["high"] - value]]).clip(min=0.0)
        point, _, _ = axes.errorbar(
            [value], [row["place"]], xerr=None if math.isnan(row["low"]) else reach,
            elinewidth=1.3, capsize=2.6, capthick=1.1,
            **styles[name].as_line() | {"linestyle": "none"},
        )  # fmt: skip
        point.set_gid(f"rank-{name}")
        axes.annotate(
            "\n".join(_said(row["label"])), (0, row["place"] + 0.42), xytext=(-3.5, 0),
            xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=_SAID_PT,
            color=QUIET, ha="right", va="top", linespacing=1.1, annotation_clip=False,
        )  # fmt: skip
    add_tips(axes, data["value"], data["place"], point_tips(data))
    axes.set_ylim(sum(heights), 0)
    axes.set_yticks(list(data["place"]), list(data["implementation"]), fontsize=_NAME_PT)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    value_axis(axes, scale, along="x")
    return bool(((data["low"] < scale.low) | (data["high"] > scale.high)).any())
