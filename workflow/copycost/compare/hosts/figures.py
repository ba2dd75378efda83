"""Figures over hosts: a forest of each pair, and along the sizes what share of hosts gains."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.figures.axes import size_axis
from copycost.figures.style import GRID, INK, QUIET, SHADE, WIDTH_CM, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import put_words, size_label
from copycost.wording.filters import significant

NAMED_MOST = 40
"""Hosts whose names have room beside their rows; of more, only those that lie off are named."""

_ROW_CM, _THIN_CM, _LEAST_CM, _MOST_CM = 0.36, 0.055, 2.4, 15.0
_LABEL_CM = 0.3
"""Between two names at an axis, at least."""

_BETTER, _WORSE, _OPEN = "#2a7f62", "#b5523b", "#cfcfcf"
_SIGNS = {"n_better": _BETTER, "n_open": _OPEN, "n_worse": _WORSE}
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
    named = len(first["point"]["hosts"]) <= NAMED_MOST
    blocks = _blocks(first["point"], grouped=not named)
    order = [name for _, names in blocks for name in names]
    rows = {name: place for place, name in enumerate(order)}
    height_cm = min(max(len(rows) * (_ROW_CM if named else _THIN_CM), _LEAST_CM), _MOST_CM)
    figure = Figure(layout="constrained")
    has_places = first["turns"] is not None
    all_axes = figure.subplots(1, len(quantities) + has_places, sharey=True, squeeze=False)[0]
    for axes, quantity in zip(all_axes, quantities, strict=False):
        _draw_ratios(axes, quantity, rows, pair, thin=not named)
    if has_places:
        _draw_places(all_axes[-1], first, rows, thin=not named)
    outliers = {one["name"] for one in first["point"]["outliers"]}
    labels = {float(rows[name]): name for name in order if named or name in outliers}
    if len(blocks) > 1:
        _label_blocks(all_axes, blocks, labels, _LABEL_CM / height_cm * len(rows))
    all_axes[0].set_yticks(list(labels), list(labels.values()), fontsize=7.2)
    all_axes[0].set_ylim(-1.0, len(rows))
    note = [
        f"Points: geometric mean of a host's rounds at {size_label(first['point']['msg_bytes'])};"
        " bars: 95 % t intervals of the rounds.",
        "Dark line and band: mean over hosts and its interval; light band: where a further host is"
        " expected."
        if first["point"]["n"] >= 3
        else "",
        "Right: between which two sizes throughput turns for better; arrows: at every size (left),"
        " or at none (right); no mark: better up to a size only, changing sides more than once,"
        " undecided, or not measured."
        if has_places
        else "",
        "" if named else f"{len(rows)} hosts, sorted; only those that lie off are named.",
        f"In blocks: hosts of one {first['point']['grouped_by']}." if len(blocks) > 1 else "",
    ]
    put_words(figure, height_cm + 1.6, note)
    return Drawn(figure, _forest_table(pair))


def _blocks(point: Mapping[str, Any], *, grouped: bool) -> list[tuple[str, list[str]]]:
    """Return hosts by ratio, in blocks of those that share the text that goes with it most."""
    found: dict[str, list[str]] = {}
    for one in sorted(point["hosts"], key=lambda one: one["ratio"]):
        group = (one["group"] or "not reported") if grouped and point["grouped_by"] else ""
        found.setdefault(str(group), []).append(one["name"])
    ratios = {one["name"]: one["ratio"] for one in point["hosts"]}
    return sorted(found.items(), key=lambda block: ratios[block[1][len(block[1]) // 2]])


def _label_blocks(
    all_axes: Sequence[Axes],
    blocks: Sequence[tuple[str, list[str]]],
    labels: dict[float, str],
    apart: float,
) -> None:
    """Draw lines between blocks, and name each in the middle where that hides no other name."""
    edge = 0
    for text, names in blocks:
        middle = edge + (len(names) - 1) / 2.0
        edge += len(names)
        if all(abs(middle - place) >= apart for place in labels):
            # what a host calls itself is no formula, which dollars would make of it
            labels[middle] = f"{text} ({len(names)})".replace("$", r"\$")
        for axes in all_axes if edge < sum(len(of) for _, of in blocks) else ():
            axes.axhline(edge - 0.5, color=QUIET, lw=0.5, zorder=0.7)


def _draw_ratios(
    axes: Axes, quantity: Mapping[str, Any], rows: Mapping[str, int], pair: Mapping[str, Any],
    *, thin: bool,
) -> None:  # fmt: skip
    point = quantity["point"]
    if point["next_low"] is not None:
        axes.axvspan(point["next_low"], point["next_high"], color=SHADE, lw=0, zorder=0)
        axes.axvspan(point["low"], point["high"], color=GRID, lw=0, zorder=0.5)
        axes.axvline(point["ratio"], color=INK, lw=0.8, zorder=0.8)
    axes.axvline(1.0, color=QUIET, lw=0.8, ls=(0, (3, 2)), zorder=0.9)
    hosts = [one for one in point["hosts"] if one["name"] in rows]
    better_above = quantity["metric"] == THROUGHPUT
    for one in hosts:
        low, high = one["low"], one["high"]
        open_ = low is None or low <= 1.0 <= high
        better = (one["ratio"] > 1.0) == better_above
        color = QUIET if open_ else _BETTER if better else _WORSE
        y = rows[one["name"]]
        if low is not None:
            axes.plot([low, high], [y, y], color=color, lw=0.6 if thin else 1.1, zorder=2)
        axes.plot([one["ratio"]], [y], "o", color=color, ms=1.4 if thin else 3.2, zorder=3)
    axes.set_xscale("log")
    ends = [end for one in hosts for end in (one["low"], one["high"], one["ratio"]) if end]
    _ticks(axes.xaxis, min(ends), max(ends))
    axes.set_xlabel(
        f"{metric_words(quantity['metric'])},\n{pair['implementation']} / {pair['baseline']}"
    )
    axes.tick_params(axis="y", length=0)


_STEPS = (
    (1.8, (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.7)),
    (5.0, (0.2, 0.25, 0.33, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0)),
    (30.0, (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)),
    (math.inf, (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)),
)
"""Ticks of an axis of ratios, by how many times its upper end is the lower one, at most."""


def _ticks(axis: Axis, low: float, high: float) -> None:
    """Put a few round numbers on a logarithmic axis, however short it is."""
    low, high = min(low, 0.98), max(high, 1.02)
    steps = next(steps for most, steps in _STEPS if high / low <= most)
    axis.set_major_locator(
        FixedLocator([step for step in steps if low * 0.97 <= step <= high * 1.03])
    )
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: significant(float(value), 2)))


def _draw_places(
    axes: Axes, quantity: Mapping[str, Any], rows: Mapping[str, int], *, thin: bool
) -> None:
    sizes = [one["msg_bytes"] for one in quantity["sizes"]]
    for one in quantity["turns"]["hosts"]:
        if one["name"] not in rows:
            continue
        y, size = rows[one["name"]], 1.2 if thin else 2.6
        if one["outcome"] == "from":
            axes.plot([one["below_bytes"], one["above_bytes"]], [y, y], color=_BETTER,
                      lw=0.6 if thin else 1.6, marker="|", ms=size, zorder=2)  # fmt: skip
        elif one["outcome"] in ("always", "never"):
            always = one["outcome"] == "always"
            axes.plot([sizes[0] if always else sizes[-1]], [y], "<" if always else ">",
                      color=_BETTER if always else _WORSE, ms=size, zorder=2)  # fmt: skip
    size_axis(axes, pd.Series(sizes), WIDTH_CM / 3 - 1.5)
    axes.set_xlabel("throughput better\nfrom size")
    axes.tick_params(axis="y", length=0)


def _forest_table(pair: Mapping[str, Any]) -> pd.DataFrame:
    parts = []
    for quantity in pair["quantities"]:
        hosts = pd.DataFrame(quantity["point"]["hosts"])[["name", "ratio", "low", "high"]]
        places = pd.DataFrame(
            (quantity["turns"] or {"hosts": []})["hosts"],
            columns=["name", "outcome", "below_bytes", "above_bytes"],
        )
        about = {name: pair[name] for name in ("condition", "implementation", "baseline")} | {
            "metric": quantity["metric"], "msg_bytes": quantity["point"]["msg_bytes"],
            "n_threads": pair["n_threads"],
        }  # fmt: skip
        rows = hosts.merge(places, on="name", how="left").rename(columns={"name": "host"})
        parts.append(rows.assign(**about)[[*about, *rows.columns]])
    return pd.concat(parts, ignore_index=True)


@styled
def draw_sizes(pair: Mapping[str, Any]) -> Drawn:
    """Draw along the sizes the ratio over hosts, and how many hosts gain and lose."""
    quantities: Sequence[Mapping[str, Any]] = pair["quantities"]
    figure = Figure(layout="constrained")
    grid = figure.subplots(2, len(quantities), squeeze=False, height_ratios=[3, 2], sharex="col")
    for column, quantity in enumerate(quantities):
        sizes = pd.DataFrame(quantity["sizes"])
        above, below = grid[0][column], grid[1][column]
        known = sizes[sizes["next_low"].notna()].astype(float)
        for low, high, color in (("next_low", "next_high", SHADE), ("low", "high", GRID)):
            above.fill_between(known["msg_bytes"], known[low], known[high],
                               color=color, lw=0, zorder=0.5)  # fmt: skip
        above.plot(sizes["msg_bytes"], sizes["ratio"], "o-", color=INK, ms=3, lw=1.1)
        above.axhline(1.0, color=QUIET, lw=0.8, ls=(0, (3, 2)))
        above.set_yscale("log")
        ends = sizes[["next_low", "next_high", "ratio"]].astype(float)
        _ticks(above.yaxis, ends.min().min(), ends.max().max())
        what = metric_words(quantity["metric"])
        above.set_title(f"{what}, {pair['implementation']} / {pair['baseline']}")
        _draw_shares(below, sizes)
        size_axis(below, sizes["msg_bytes"], WIDTH_CM / len(quantities) - 1.6)
        below.set_xlabel("message size")
    grid[0][0].set_ylabel("ratio")
    grid[1][0].set_ylabel("share of hosts")
    note = [
        "Line: geometric mean over hosts; dark band: its 95 % interval; light band: where a further"
        " host is expected.",
        "Below: hosts on which it is better (green), worse (red), or open (grey), each by its own"
        " rounds, corrected (Holm) for their number.",
    ]
    put_words(figure, 8.0, note)
    ways = {name: pair[name] for name in ("condition", "implementation", "baseline")}
    table = pd.DataFrame(
        ways | {"metric": quantity["metric"], "n_threads": pair["n_threads"]} | one
        for quantity in quantities
        for one in quantity["sizes"]
    )
    return Drawn(figure, table)


def _draw_shares(axes: Axes, sizes: pd.DataFrame) -> None:
    logs = np.log2(sizes["msg_bytes"].to_numpy(np.float64))
    gap = float(np.diff(logs).min()) if len(logs) > 1 else 2.0
    low, high = 2 ** (logs - 0.4 * gap), 2 ** (logs + 0.4 * gap)
    bottom = np.zeros(len(sizes))
    for name, color in _SIGNS.items():
        share = sizes[name].to_numpy() / sizes["n"].to_numpy()
        axes.bar(low, share, high - low, bottom, align="edge", color=color, lw=0)
        bottom += share
    axes.set_ylim(0, 1)
