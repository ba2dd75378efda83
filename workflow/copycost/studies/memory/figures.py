"""Figure: what copying a byte costs, by where it lies, and beside it what sending one costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from copycost.figures.axes import EDGE_NOTE, scale_of, size_axis, value_axis
from copycost.figures.legend import put_legend
from copycost.figures.markers import in_order, looks
from copycost.figures.style import INK, QUIET, WIDTH_CM, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import (
    NOTE_PT,
    empty_figure,
    put_note,
    size_label,
    wrap,
)
from copycost.figures.tips import add_tips, value_tip
from copycost.wording.percent import NBSP

COLUMNS = ("what", "condition", "implementation", "label", "bytes", "quantity", "unit", "value",
           "low", "high", "n", "state")  # fmt: skip
"""Columns of the CSV: `bytes` is the working set of a copy, or the size of a message sent."""

_TYPICAL_BYTES = 65536
_CONDITIONS_MOST = 5
_PANEL_CM = 8.0
_CACHES = (("l1d_bytes", "L1d"), ("l2_bytes", "L2"), ("llc_bytes", "last level"))
_HANDLE_CM = 0.9


@styled
def draw(facts: Mapping[str, Any]) -> Drawn:
    """Draw memcpy over the working set, and each implementation's cost on the same axis."""
    memory = facts["memory"]
    if not memory or not memory["points"]:
        return Drawn(
            empty_figure("What copying memory costs was not measured."),
            pd.DataFrame(columns=list(COLUMNS)),
        )
    data = floor_table(facts)
    copies, sends = data[data["what"] == "memcpy"], data[data["what"] == "send"]
    figure = Figure(layout="constrained")
    conditions = list(sends["condition"].unique())
    ratios = [3.0, max(1.0, 0.75 * len(conditions))] if conditions else [1.0]
    grid = figure.subplots(1, len(ratios), squeeze=False, sharey=True, width_ratios=ratios)
    scale = scale_of(data, "log")
    _draw_copies(grid[0, 0], copies, facts)
    value_axis(grid[0, 0], scale)
    grid[0, 0].set_ylabel("cost of a byte [ns/B]")
    names = in_order(facts["grid"]["implementations"])
    above_cm = 0.0
    if conditions:
        _draw_sends(grid[0, 1], sends, names, facts)
        above_cm = _legend(figure, [name for name in names if name in set(sends["implementation"])],
                           names)  # fmt: skip
    cut = bool(((data["low"] < scale.low) | (data["high"] > scale.high)).any())
    note = wrap(" ".join(filter(None, _note(facts, copies, sends, cut))), WIDTH_CM - 0.4, NOTE_PT)
    put_note(figure, note, _PANEL_CM, above_cm)
    return Drawn(figure, data)


def floor_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return the points of the figure, see `COLUMNS`."""
    rows = [
        {
            "what": "memcpy",
            "bytes": point["bytes"],
            "quantity": "memcpy",
            "unit": "ns/B",
            "value": point["ns_per_byte"],
            "low": point["low"],
            "high": point["high"],
            "n": point["n"],
            "state": "measured",
        }
        for point in facts["memory"]["points"]
    ]
    for slug in _shown_conditions(facts):
        known = facts["conditions"][slug]
        ranking = known["ranking"]
        size = _typical(ranking["sizes"])
        rows += [
            {
                "what": "send",
                "condition": slug,
                "implementation": row["implementation"],
                "label": known["labels"].get(row["implementation"]) or "",
                "bytes": size["msg_bytes"],
                "quantity": ranking["label"],
                "unit": f"{ranking['unit']}/B",
                "value": row["median"],
                "low": row["low"],
                "high": row["high"],
                "n": row["n"],
                "state": "measured",
            }
            for row in size["rows"]
            if row["median"] is not None
        ]
    numbers = dict.fromkeys(("value", "low", "high"), "float64")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(numbers)


def _shown_conditions(facts: Mapping[str, Any]) -> list[str]:
    """Return the conditions with a cost in ns: at most a few, the plainest first.

    Emulated guests are none: memcpy was timed outside of them.
    """
    known = facts["conditions"]
    slugs = [
        slug
        for slug in facts["grid"]["conditions"]
        if (ranking := known[slug].get("ranking"))
        and ranking["unit"] == "ns"
        and ranking["sizes"]
        and not known[slug].get("emulated")
    ]
    plain = [slug for slug in slugs if known[slug]["receiver"] == "recv"]
    chosen = (plain + [slug for slug in slugs if slug not in plain])[:_CONDITIONS_MOST]
    return [slug for slug in slugs if slug in chosen]


def _typical(sizes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the size next to 64 KiB, where a byte's cost is more than a share of the call's."""
    return min(sizes, key=lambda size: abs(np.log2(size["msg_bytes"] / _TYPICAL_BYTES)))


def _draw_copies(axes: Axes, data: pd.DataFrame, facts: Mapping[str, Any]) -> None:
    sns.lineplot(data, x="bytes", y="value", color=INK, marker="o", markersize=3.8,
                 markeredgecolor="white", ax=axes, gid="memcpy")  # fmt: skip
    reach = np.array([data["value"] - data["low"], data["high"] - data["value"]])
    axes.errorbar(
        data["bytes"], data["value"], yerr=np.clip(np.nan_to_num(reach), 0, None), fmt="none",
        ecolor=INK, elinewidth=0.9, capsize=1.8, zorder=1.9,
    )  # fmt: skip
    tips = [f"{size_label(row['bytes'])}: {value_tip(row)}" for row in data.to_dict("records")]
    add_tips(axes, data["bytes"], data["value"], tips)
    size_axis(axes, [int(size) for size in data["bytes"]], 8.0)
    axes.set_xlabel("working set, source and destination together")
    axes.set_title("one plain copy (memcpy)")
    least, most = axes.get_xlim()
    for key, name in _CACHES:
        size = facts["host"]["cpu"]["caches"].get(key)
        if size and least < size < most:
            axes.axvline(size, color=QUIET, lw=0.8, ls=(0, (4, 2)), zorder=1, gid=f"cache-{key}")
            axes.annotate(
                f"{name}{NBSP}{size_label(size)}", (size, 1), (-2.5, -3),
                xycoords=("data", "axes fraction"), textcoords="offset points", rotation=90,
                ha="right", va="top", fontsize=NOTE_PT, color=QUIET,
            )  # fmt: skip


def _draw_sends(
    axes: Axes, data: pd.DataFrame, implementations: Sequence[str], facts: Mapping[str, Any]
) -> None:
    styles = looks(implementations)
    conditions = list(data["condition"].unique())
    for column, slug in enumerate(conditions):
        part = data[data["condition"] == slug]
        names = [name for name in implementations if name in set(part["implementation"])]
        for row in part.to_dict("records"):
            place = names.index(row["implementation"])
            at = column + (place + 0.5) / len(names) * 0.8 - 0.4
            if not np.isnan(row["low"]):
                axes.plot([at, at], [row["low"], row["high"]], lw=0.9,
                          color=styles[row["implementation"]].colour)  # fmt: skip
            look = styles[row["implementation"]].as_line() | {"linestyle": "none"}
            name = f"send-{slug}-{row['implementation']}"
            sns.lineplot(x=[at], y=[row["value"]], ax=axes, gid=name, **look)
            tip = f"{row['implementation']}, {size_label(row['bytes'])}: {value_tip(row)}"
            add_tips(axes, [at], [row["value"]], [tip])
        if column:
            axes.axvline(column - 0.5, color="#e6e6e6", lw=0.7, zorder=0)
    axes.set_xlim(-0.5, len(conditions) - 0.5)
    said = [facts["conditions"][slug]["label"].replace(", ", ",\n") for slug in conditions]
    axes.set_xticks(range(len(conditions)), said, fontsize=NOTE_PT + 0.4)
    axes.tick_params(axis="x", length=0)
    axes.tick_params(axis="y", labelleft=False)
    axes.grid(axis="y")
    axes.set_title("sending a byte")
    _mark_levels(axes, facts["memory"]["levels"])


def _mark_levels(axes: Axes, levels: Mapping[str, Any]) -> None:
    """Draw the floor of each cache level across, where costs can be held against it."""
    for level, pick in levels.items():
        if pick:
            axes.axhline(pick["ns_per_byte"], color=INK, lw=0.8, ls=(0, (2, 1.5)), zorder=0.9,
                         gid=f"floor-{level}")  # fmt: skip
            axes.annotate(
                _LEVELS.get(level, level), (1, pick["ns_per_byte"]), (2.5, 0),
                xycoords=("axes fraction", "data"), textcoords="offset points",
                fontsize=NOTE_PT - 0.4, color=QUIET, va="center", ha="left",
            )  # fmt: skip


_LEVELS = {"l1": "L1d", "l2": "L2", "llc": "last level", "dram": "memory"}


def _legend(figure: Figure, names: Sequence[str], implementations: Sequence[str]) -> float:
    styles = looks(implementations)
    handles = [
        Line2D([], [], **(styles[name].as_line() | {"linestyle": "none"}), label=name)
        for name in names
    ]
    return put_legend(figure, handles, _HANDLE_CM)


def _note(
    facts: Mapping[str, Any], copies: pd.DataFrame, sends: pd.DataFrame, cut: bool
) -> list[str]:
    sizes = sorted(set(sends["bytes"]))
    said = " and ".join(size_label(size) for size in sizes)
    labels = [
        f"{str(label).replace('zero', 'Zero', 1)}: {', '.join(in_order(part['implementation']))} "
        f"on {', '.join(part['condition'].unique())}."
        for label, part in sends[sends["label"] != ""].groupby("label", sort=False)
    ]
    one_side = [
        slug for slug in sends["condition"].unique() if facts["conditions"][slug]["sender_only"]
    ]
    return [
        f"Left: median of {int(copies['n'].max())}{NBSP}repetitions; dashed: caches of the host.",
        f"Right: CPU time of a byte in messages of {said}, fewest threads; dashed: the copy on "
        "the left from each level of the caches." if len(sends) else "",
        f"The sender's cost alone on {' and '.join(one_side)}; else both sides'."
        if one_side else "",
        *labels,
        EDGE_NOTE if cut else "",
    ]  # fmt: skip
