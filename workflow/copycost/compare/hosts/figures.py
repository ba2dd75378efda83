"""A figure of all hosts: a forest of each pair."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.compare.hosts.host_tables import ENDS, PAIR
from copycost.figures.axes import scale_of, size_axis, value_axis
from copycost.figures.style import GRID, INK, QUIET, SHADE, WIDTH_CM, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import put_words, size_label

NAMED_MOST = 40
"""Hosts whose names have room beside their rows; of more, only those that lie off are named."""

_ROW_CM, _THIN_CM, _LEAST_CM, _MOST_CM = 0.36, 0.055, 2.4, 15.0
_BETTER, _WORSE = "#2a7f62", "#b5523b"
_INTERVAL = ["low", "high"]
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

    The pair, of facts, is one of ways under a condition, with both quantities. A row of the figure
    is a host, sorted by the first quantity.
    """
    quantities = pair["quantities"]
    first, point = quantities[0], quantities[0]["point"]
    table = _forest_table(pair)
    names = [one["host"] for one in sorted(first["hosts"], key=lambda one: one["ratio"])]
    rows = table.assign(row=table["host"].map({name: row for row, name in enumerate(names)}))
    of_metric = dict(list(rows.dropna(subset="row").groupby("metric")))
    thin = len(names) > NAMED_MOST
    width = 0.5 if thin else 1.0
    has_places = first["turns"] is not None
    figure = Figure(layout="constrained")
    all_axes = figure.subplots(1, len(quantities) + has_places, sharey=True, squeeze=False)[0]
    for axes, quantity in zip(all_axes, quantities, strict=False):
        _draw_ratios(axes, quantity, of_metric[quantity["metric"]], width)
        ways = f"{pair['implementation']} / {pair['baseline']}"
        axes.set_xlabel(f"{metric_words(quantity['metric'])},\n{ways}")
    if has_places:
        _draw_places(all_axes[-1], first["sizes"], of_metric[first["metric"]], width)
    named = [row for row, name in enumerate(names) if not thin or name in first["outliers"]]
    all_axes[0].set_yticks(named, [names[row] for row in named], fontsize=7.2)
    all_axes[0].set_ylim(-1.0, len(names))
    for axes in all_axes:
        axes.tick_params(axis="y", length=0)
    note = [
        f"Points: geometric mean of a host's rounds at {size_label(point['msg_bytes'])};"
        " bars: 95 % t intervals of the rounds.",
        "Dark line and band: mean over hosts and its interval; light band: where a further host is"
        " expected."
        if point["next_low"] is not None
        else "",
        "Right: between which two sizes throughput turns for better; arrows: at every size (left),"
        " or at none (right); no mark: better up to a size only, changing sides more than once,"
        " undecided, or not measured."
        if has_places
        else "",
        f"{len(names)} hosts, sorted; only those that lie off are named." if thin else "",
    ]
    height_cm = min(max(len(names) * (_THIN_CM if thin else _ROW_CM), _LEAST_CM), _MOST_CM)
    put_words(figure, height_cm + 1.6, note)
    return Drawn(figure, table)


def _draw_ratios(
    axes: Axes, quantity: Mapping[str, Any], hosts: pd.DataFrame, width: float
) -> None:
    point = quantity["point"]
    if point["next_low"] is not None:
        axes.axvspan(point["next_low"], point["next_high"], color=SHADE, lw=0, zorder=0)
        axes.axvspan(point["low"], point["high"], color=GRID, lw=0, zorder=0.5)
        axes.axvline(point["ratio"], color=INK, lw=0.8, zorder=0.8)
    is_shown = (hosts["low"] > 1.0) | (hosts["high"] < 1.0)
    is_better = (hosts["ratio"] > 1.0) == (quantity["metric"] == THROUGHPUT)
    colours = np.select([~is_shown, is_better], [QUIET, _BETTER], _WORSE)
    axes.hlines(hosts["row"], hosts["low"], hosts["high"], list(colours), lw=1.1 * width, zorder=2)
    axes.scatter(hosts["ratio"], hosts["row"], (4.0 * width) ** 2, list(colours), lw=0, zorder=3)
    ends = pd.DataFrame({"value": [*hosts["ratio"], 1.0]})
    ends = ends.join(hosts[_INTERVAL].reset_index(drop=True))
    value_axis(axes, scale_of(ends, "log"), along="x")
    axes.grid(visible=False)
    axes.axvline(1.0, color=QUIET, lw=0.8, ls=(0, (3, 2)), zorder=0.9)


def _draw_places(axes: Axes, sizes: Sequence[int], hosts: pd.DataFrame, width: float) -> None:
    turning = hosts[hosts["outcome"] == "from"]
    axes.plot(
        turning[ENDS].T.to_numpy(), np.tile(turning["row"], (2, 1)), color=_BETTER,
        lw=1.6 * width, marker="|", ms=2.6 * width, zorder=2,
    )  # fmt: skip
    for outcome, size, marker, colour in (
        ("always", sizes[0], "<", _BETTER), ("never", sizes[-1], ">", _WORSE),
    ):  # fmt: skip
        rows = hosts.loc[hosts["outcome"] == outcome, "row"]
        axes.plot([size] * len(rows), rows, marker, color=colour, ms=2.6 * width, zorder=2)
    size_axis(axes, sizes, WIDTH_CM / 3 - 1.5)
    axes.set_xlabel("throughput better\nfrom size")


def _forest_table(pair: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table behind the figure: a row per quantity and host."""
    rows = [
        {name: pair[name] for name in PAIR}
        | {"metric": quantity["metric"], "msg_bytes": quantity["point"]["msg_bytes"]}
        | {"n_threads": pair["n_threads"]}
        | host
        for quantity in pair["quantities"]
        for host in quantity["hosts"]
    ]
    numbers = ("ratio", *_INTERVAL, *ENDS)
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, float))
