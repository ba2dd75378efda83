"""Figures of the datagrams: bitrate and loss against size, and what one costs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from copycost.figures.panels import (
    draw_fits,
    draw_intervals,
    finish,
    grid_of,
    line_styles_of,
    name_panel,
    note_on_points,
    with_room,
)
from copycost.figures.style import styled
from copycost.figures.tables import Drawn
from copycost.figures.text import empty_figure
from copycost.figures.tips import add_tips, value_tip
from copycost.wording.filters import exact_size, thousands

_PANEL_CM = 5.2
# from one labelled size to the next: labels of closer ones would overlap
_LEAST_STEP = 1.4
_NOTHING = "No datagrams were measured."


def draw(name: str, facts: Mapping[str, Any]) -> Drawn:
    """Draw the figure of that name."""
    return {"bitrate_and_loss": draw_bitrate_and_loss, "cost": draw_cost}[name](facts)


def points_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per point and quantity of every curve, the table behind both figures.

    `sent` and `received` are in Gbit/s, `loss` in %, the cost of `sender` and `receiver` in ns per
    datagram; `fitted` is NaN where neither term of a cost is seen.
    """
    several = len({curve["implementation"] for curve in facts["curves"]}) > 1
    rows = []
    for curve in facts["curves"]:
        parts = [str(curve["testbed"])]
        parts += ["emulated"] if curve["emulated"] else []
        parts += [str(curve["implementation"])] if several else []
        panel = ", ".join(parts)
        for point in curve["points"]:
            for quantity, column, scale in _QUANTITIES:
                found = point[column]
                if found is None:
                    continue
                cost = curve["costs"].get(quantity)
                size = point["msg_bytes"]
                fitted = None
                if cost is not None and cost["kind"] != "neither":
                    fitted = cost["fixed_ns"]["value"] + cost["ns_per_byte"]["value"] * size
                ends = (
                    None if found[end] is None else found[end] * scale
                    for end in ("median", "low", "high")
                )
                rows.append((panel, curve["n_threads"], size, quantity, *ends, fitted, "measured"))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


_QUANTITIES = (
    ("sent", "sent_bits_per_s", 1e-9),
    ("received", "bits_per_s", 1e-9),
    ("loss", "loss", 100.0),
    ("sender", "sender_ns", 1.0),
    ("receiver", "receiver_ns", 1.0),
)
_COLUMNS = (
    "panel", "n_threads", "msg_bytes", "quantity", "value", "low", "high", "fitted", "state",
)  # fmt: skip


@styled
def draw_bitrate_and_loss(facts: Mapping[str, Any]) -> Drawn:
    """Draw what is sent and received, and below it the share that is lost, against size."""
    data = points_table(facts)
    data = data[data["quantity"].isin(["sent", "received", "loss"])].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(_NOTHING), data)
    data["row"] = np.where(data["quantity"] == "loss", "loss [%]", "bitrate [Gbit/s]")
    shown, left = with_room(data)
    grid = grid_of(shown, "row", _PANEL_CM, share_y=False)
    for (row, panel), axes in grid.axes_dict.items():
        part = data[(data["panel"] == panel) & (data["row"] == row)]
        for quantity, some in part.groupby("quantity"):
            _lines(axes, some, hollow=quantity == "received")
        _finish_axes(grid, axes, part, panel, row, int(row.startswith("loss")))
        top = float(part["value"].max())
        axes.set_ylim(0, top * 1.12 if top > 0 else 1)
    looks = "Filled, solid: sent, or loss. Hollow, dotted: received."
    note = [looks, note_on_points(facts, data["low"], cut=True), left]
    return Drawn(finish(grid, data, note, 2 * _PANEL_CM), data.drop(columns="row"))


@styled
def draw_cost(facts: Mapping[str, Any]) -> Drawn:
    """Draw CPU time per datagram against size, for both sides, with the two-term fit."""
    data = points_table(facts)
    data = data[data["quantity"].isin(["sender", "receiver"])].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(_NOTHING), data)
    data["row"] = data["quantity"]
    shown, left = with_room(data)
    grid = grid_of(shown, "row", _PANEL_CM, share_y=False)
    for (side, panel), axes in grid.axes_dict.items():
        part = data[(data["panel"] == panel) & (data["row"] == side)]
        _lines(axes, part, hollow=False, joined=False)
        fitted = part["fitted"].astype(float)
        # a logarithmic axis has no place for 0 and less
        draw_fits(axes, part.assign(fitted=fitted.where(fitted > 0)), "msg_bytes", "fitted")
        title, is_last = f"{panel}, {side}", int(side == "receiver")
        _finish_axes(grid, axes, part, title, "CPU time [ns per datagram]", is_last)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda ns, _: thousands(ns)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    lines = "Lines: fits of a fixed cost plus a cost per byte."
    note = [lines, note_on_points(facts, data["low"]), left]
    return Drawn(finish(grid, data, note, 2 * _PANEL_CM), data.drop(columns="row"))


def _lines(axes: Axes, data: pd.DataFrame, *, hollow: bool, joined: bool = True) -> None:
    """Draw one quantity, a colour and marker per number of streams."""
    for look, part in line_styles_of(data):
        draw_intervals(axes, part, "msg_bytes", ("low", "high"), look)
        tips = [
            f"{look.label}, {exact_size(row['msg_bytes'])}: {row['quantity']} {value_tip(row)}"
            for row in part.to_dict("records")
        ]
        add_tips(axes, part["msg_bytes"], part["value"], tips)
        sns.lineplot(
            part, x="msg_bytes", y="value", color=look.colour, marker=look.marker,
            markerfacecolor="white" if hollow else look.colour, markeredgecolor=look.colour,
            linestyle=((0, (1, 1.5)) if hollow else "-") if joined else "",
            label=None if hollow else look.label, estimator=None, legend=False, ax=axes,
        )  # fmt: skip


def _finish_axes(
    grid: sns.FacetGrid, axes: Axes, data: pd.DataFrame, title: str, y_label: str, row: int
) -> None:
    """Label the axes of one panel, the horizontal one only in the lowest row."""
    sizes = sorted(data["msg_bytes"].unique())
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    shown: list[int] = []
    for size in sizes:
        if not shown or size >= _LEAST_STEP * shown[-1]:
            shown.append(int(size))
    axes.set_xticks(shown, [exact_size(size) for size in shown], rotation=45, ha="right")
    name_panel(grid, axes, title, "" if row == 0 else "datagram size", y_label)
