"""Figure: how long round trips take, from the usual to the rare, one panel per message size."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from copycost.analysis.conditions import with_condition
from copycost.config.testbeds import is_wire
from copycost.figures.axes import SCALE_NOTE, scale_of, value_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.markers import families, in_order, way_styles
from copycost.figures.style import EDGE, styled
from copycost.figures.tables import Drawn, Legend, left_out, spread
from copycost.figures.text import add_tips, empty_figure, size_label, value_tip
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

COLUMNS = ("condition", "implementation", "msg_bytes", "n_threads", "quantile", "quantity", "unit",
           "value", "low", "high", "n", "state")  # fmt: skip
"""Columns of the CSV: `value` is the median of the repetitions, `low` and `high` the extremes."""

_SIZES_MOST = 3
_THREADS_MOST = 2
_TICKS = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


@styled
def draw(facts: Mapping[str, Any], curves: pd.DataFrame) -> Drawn:
    """Draw time against percentile, whose axis stretches the rare end.

    Rows are numbers of threads, columns message sizes; all panels share both axes. One condition is
    drawn, the first with a curve: several would differ in their way through the kernel rather than
    in how they send. Where there are too many implementations for one panel, their families are the
    rows, and the fewest threads alone are drawn.
    """
    data = curve_table(curves)
    told = facts["round_trips"]["conditions"] if facts.get("round_trips") else []
    # placements that only a few cells have are told elsewhere; the network first, as on page one
    known = {one["slug"]: one for one in sorted(told, key=lambda one: not is_wire(one["slug"]))}
    data = data[data["condition"].isin([*known])].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure("No round trips were measured."), data)
    condition, *others = (slug for slug in known if (data["condition"] == slug).any())
    first = data[data["condition"] == condition]
    groups = families(first["implementation"].unique())
    counts = spread(first["n_threads"], 1 if len(groups) > 1 else _THREADS_MOST)
    first = first[first["n_threads"].isin(counts)]
    sizes = spread(first["msg_bytes"], _SIZES_MOST)
    shown = first[first["msg_bytes"].isin(sizes)].reset_index(drop=True)
    names = in_order({*facts["grid"]["implementations"], *data["implementation"]})
    several = len(counts) > 1
    sheet = new_sheet(
        shown, 4.2 if several else 6.0, column="msg_bytes", row="n_threads" if several else None,
        n_columns=len(sizes), share_y=True, groups=groups,
    )  # fmt: skip
    scale = scale_of(shown, "log")
    for panel in sheet.panels():
        _draw_panel(panel.axes, panel.data, panel.family.members, names)
        value_axis(panel.axes, scale)
        _percentile_axis(panel.axes, shown, sheet.panel_width_cm)
        if sheet.is_top(panel):
            size, n_threads = (panel.data[key].iloc[0] for key in ("msg_bytes", "n_threads"))
            panel.axes.set_title(f"{size_label(size)}, {plural(int(n_threads), 'thread')}")
        sheet.label(panel.place, "percentile", "round-trip time [µs]")
    most = int(shown["n"].max())
    note = [
        f"On {condition}.",
        f"Lines: median of {most}{NBSP}repetitions at each percentile; shaded: their range."
        if most > 1 else "Lines: one repetition.",
        "Horizontal axis stretched towards high percentiles;",
        f"{SCALE_NOTE[scale.kind].lower()}.",
        sheet.context_note,
        left_out(data["msg_bytes"], sizes, "B"),
        left_out(data["n_threads"], counts, "threads"),
        f"Not drawn: {', '.join(others)}." if others else "",
    ]  # fmt: skip
    labels = {name: label for name, label in known[condition]["labels"].items() if label}
    legend = Legend(names, labels, bool(known[condition].get("emulated")))
    return Drawn(finish(sheet, shown, legend, note), data)


def curve_table(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the curves over repetitions, see `COLUMNS`; times in µs."""
    rows = with_condition(curves[curves["quantile"] < 1.0])
    key = ["condition", "implementation", "msg_bytes", "n_threads", "quantile"]
    found = rows.groupby(key, sort=True)["ns"].agg(["median", "min", "max", "count"]).reset_index()
    n_most = found.groupby(key[:-1])["count"].transform("max")
    # Where only some repetitions reach a percentile, their median would be one of other ones.
    found = found[found["count"] == n_most]
    found = found.rename(columns={"median": "value", "min": "low", "max": "high", "count": "n"})
    scaled = {name: found[name] * 1e-3 for name in ("value", "low", "high")}
    table = found.assign(**scaled, quantity="round trip", unit="µs", state="measured")
    return table[list(COLUMNS)].reset_index(drop=True)


def _draw_panel(
    axes: Axes, data: pd.DataFrame, members: Sequence[str], implementations: Sequence[str]
) -> None:
    styles = way_styles(implementations)
    data = data.assign(nines=_nines(data["quantile"]))
    behind = data[~data["implementation"].isin(members)]
    if len(behind):
        sns.lineplot(
            behind, x="nines", y="value", units="implementation", estimator=None, legend=False,
            ax=axes, color=EDGE, linewidth=0.8, zorder=1.5,
        )  # fmt: skip
    for name in members:
        rows = data[data["implementation"] == name]
        if rows.empty:
            continue
        look = styles[name].as_line() | {"markevery": max(1, len(rows) // 5)}
        sns.lineplot(rows, x="nines", y="value", estimator=None, legend=False, ax=axes,
                     gid=f"line-{name}", **look)  # fmt: skip
        tips = [
            f"{name}, {row['quantile'] * 100:.4g}th percentile: {value_tip(row)}"
            for row in rows.to_dict("records")
        ]
        add_tips(axes, rows["nines"], rows["value"], tips)
        axes.fill_between(rows["nines"], rows["low"], rows["high"], color=styles[name].colour,
                          alpha=0.14, lw=0, zorder=1.2)  # fmt: skip


def _nines(quantiles: pd.Series) -> pd.Series:
    """Return how many nines a quantile has: 0.9 is 1, 0.99 is 2."""
    return pd.Series(-np.log10(1.0 - quantiles.to_numpy(dtype=np.float64)), index=quantiles.index)


def _percentile_axis(axes: Axes, data: pd.DataFrame, width_cm: float) -> None:
    most = -np.log10(1.0 - data["quantile"].max())
    # The labels of 0 and 50 % lie close to each other where there is little room.
    ticks = [0.0, *_TICKS] if width_cm >= 5.0 else _TICKS
    places = {-np.log10(1.0 - tick): f"{tick * 100:.10g}" for tick in ticks}
    shown = [place for place in places if place <= most + 0.01]
    axes.set_xticks(shown, [places[place] for place in shown])
    axes.set_xlim(-0.03 * most, most * 1.03)
    axes.grid(axis="x")
