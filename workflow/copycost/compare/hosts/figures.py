"""A figure of all hosts: a forest of each pair."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.figures.axes import scale_of, size_axis, value_axis
from copycost.figures.style import GRID, INK, QUIET, SHADE, WIDTH_CM, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import put_words, size_label

NAMED_MOST = 40
"""Hosts whose names have room beside their rows; of more, only those that lie off are named."""

_ROW_CM, _THIN_CM, _LEAST_CM, _MOST_CM = 0.36, 0.055, 2.4, 15.0
_BETTER, _WORSE = "#2a7f62", "#b5523b"
_WHAT = {
    THROUGHPUT: "throughput",
    **dict(zip(ROUND_TRIP_TIMES, ("median round trip", "99th percentile"), strict=True)),
}


def metric_words(metric: str) -> str:
    """Return what a metric is called in figures and tables."""
    return _WHAT.get(metric, "CPU time per byte")


@styled
def draw_forest(pair: Mapping[str, Any]) -> Drawn:
    """Draw the ratio of every host at one size, and the sizes at which each changes sides.

    The pair, of facts, is one of ways under a condition, with both quantities.
    """
    quantities = pair["quantities"]
    first = quantities[0]
    hosts = sorted(first["point"]["hosts"], key=lambda one: one["ratio"])
    rows = {one["name"]: place for place, one in enumerate(hosts)}
    thin = len(rows) > NAMED_MOST
    has_places = first["turns"] is not None
    figure = Figure(layout="constrained")
    all_axes = figure.subplots(1, len(quantities) + has_places, sharey=True, squeeze=False)[0]
    for axes, quantity in zip(all_axes, quantities, strict=False):
        _draw_ratios(axes, quantity, rows, 0.5 if thin else 1.0)
        ways = f"{pair['implementation']} / {pair['baseline']}"
        axes.set_xlabel(f"{metric_words(quantity['metric'])},\n{ways}")
    if has_places:
        _draw_places(all_axes[-1], first, rows, 0.5 if thin else 1.0)
    outliers = {one["name"] for one in first["point"]["outliers"]}
    named = [name for name in rows if not thin or name in outliers]
    all_axes[0].set_yticks([rows[name] for name in named], named, fontsize=7.2)
    all_axes[0].set_ylim(-1.0, len(rows))
    for axes in all_axes:
        axes.tick_params(axis="y", length=0)
    note = [
        f"Points: geometric mean of a host's rounds at {size_label(first['point']['msg_bytes'])};"
        " bars: 95 % t intervals of the rounds.",
        "Dark line and band: mean over hosts and its interval; light band: where a further host is"
        " expected."
        if first["point"]["next_low"] is not None
        else "",
        "Right: between which two sizes throughput turns for better; arrows: at every size (left),"
        " or at none (right); no mark: better up to a size only, changing sides more than once,"
        " undecided, or not measured."
        if has_places
        else "",
        f"{len(rows)} hosts, sorted; only those that lie off are named." if thin else "",
    ]
    height_cm = min(max(len(rows) * (_THIN_CM if thin else _ROW_CM), _LEAST_CM), _MOST_CM)
    put_words(figure, height_cm + 1.6, note)
    return Drawn(figure, _forest_table(pair))


def _draw_ratios(
    axes: Axes, quantity: Mapping[str, Any], rows: Mapping[str, int], width: float
) -> None:
    point = quantity["point"]
    if point["next_low"] is not None:
        axes.axvspan(point["next_low"], point["next_high"], color=SHADE, lw=0, zorder=0)
        axes.axvspan(point["low"], point["high"], color=GRID, lw=0, zorder=0.5)
        axes.axvline(point["ratio"], color=INK, lw=0.8, zorder=0.8)
    hosts = [one for one in point["hosts"] if one["name"] in rows]
    better_above = quantity["metric"] == THROUGHPUT
    for one in hosts:
        low, high = one["low"], one["high"]
        better = (one["ratio"] > 1.0) == better_above
        is_open = low is None or low <= 1.0 <= high
        color = QUIET if is_open else _BETTER if better else _WORSE
        place = rows[one["name"]]
        if low is not None:
            axes.plot([low, high], [place, place], color=color, lw=1.1 * width, zorder=2)
        axes.plot([one["ratio"]], [place], "o", color=color, ms=3.2 * width, zorder=3)
    shown = pd.DataFrame([*hosts, {"ratio": 1.0}]).rename(columns={"ratio": "value"})
    ends = shown[["value", "low", "high"]].astype(float)
    value_axis(axes, scale_of(ends, "log"), along="x")
    axes.grid(visible=False)
    axes.axvline(1.0, color=QUIET, lw=0.8, ls=(0, (3, 2)), zorder=0.9)


def _draw_places(
    axes: Axes, quantity: Mapping[str, Any], rows: Mapping[str, int], width: float
) -> None:
    sizes = [one["msg_bytes"] for one in quantity["sizes"]]
    marks = {"always": (sizes[0], "<", _BETTER), "never": (sizes[-1], ">", _WORSE)}
    for one in quantity["turns"]["hosts"]:
        if one["name"] not in rows:
            continue
        place = rows[one["name"]]
        if one["outcome"] == "from":
            axes.plot([one["below_bytes"], one["above_bytes"]], [place, place], color=_BETTER,
                      lw=1.6 * width, marker="|", ms=2.6 * width, zorder=2)  # fmt: skip
        elif one["outcome"] in marks:
            at, marker, color = marks[one["outcome"]]
            axes.plot([at], [place], marker, color=color, ms=2.6 * width, zorder=2)
    size_axis(axes, sizes, WIDTH_CM / 3 - 1.5)
    axes.set_xlabel("throughput better\nfrom size")


def _forest_table(pair: Mapping[str, Any]) -> pd.DataFrame:
    parts = []
    for quantity in pair["quantities"]:
        places = pd.DataFrame(
            (quantity["turns"] or {"hosts": []})["hosts"],
            columns=["name", "outcome", "below_bytes", "above_bytes"],
        )
        about = {name: pair[name] for name in ("condition", "implementation", "baseline")} | {
            "metric": quantity["metric"], "msg_bytes": quantity["point"]["msg_bytes"],
            "n_threads": pair["n_threads"],
        }  # fmt: skip
        rows = pd.DataFrame(quantity["point"]["hosts"])[["name", "ratio", "low", "high"]]
        rows = rows.merge(places, on="name", how="left").rename(columns={"name": "host"})
        parts.append(rows.assign(**about)[[*about, *rows.columns]])
    return pd.concat(parts, ignore_index=True)
