"""Figures of the datagrams: bitrate and loss against size, and what one costs."""

import itertools
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
from copycost.studies.shared_facts import differing, panel_of, scaled_ends
from copycost.wording.filters import exact_size, thousands

_PANEL_CM = 5.2
# from one labelled size to the next: labels of closer ones would overlap
_LEAST_STEP = 1.4
_NOTHING = "No datagrams were measured."
_COST = "CPU time [ns per datagram]"
_COST_LOOKS = "Lines: fits of a fixed cost plus a cost per byte."
_RATE_LOOKS = "Filled, solid: sent, or loss. Hollow, dotted: received."


def points_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per point and quantity of every curve, the table behind both figures.

    `sent` and `received` are in Gbit/s, `loss` in %, the cost of `sender` and `receiver` in ns per
    datagram; `fitted` is NaN where neither term of a cost is seen.
    """
    more = differing(facts["curves"], "implementation")
    rows = []
    for curve in facts["curves"]:
        panel = panel_of(curve, *more)
        for point, (quantity, column, scale) in itertools.product(curve["points"], _QUANTITIES):
            if point[column] is None:
                continue
            cost, size = curve["costs"].get(quantity), point["msg_bytes"]
            fitted = None
            if cost is not None and cost["kind"] != "neither":
                fitted = cost["fixed_ns"]["value"] + cost["ns_per_byte"]["value"] * size
            ends = scaled_ends(point[column], scale)
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
def draw(name: str, facts: Mapping[str, Any]) -> Drawn:
    """Draw ``bitrate_and_loss``, or the ``cost`` of a datagram, against its size.

    The first has what is sent and received, and below it the share that is lost; the second CPU
    time per datagram for both sides, with the two-term fit.
    """
    is_cost = name == "cost"
    data = points_table(facts)
    data = data[data["quantity"].isin(["sender", "receiver"]) == is_cost].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(_NOTHING), data)
    rates = np.where(data["quantity"] == "loss", "loss [%]", "bitrate [Gbit/s]")
    data["row"] = data["quantity"] if is_cost else rates
    shown, left = with_room(data)
    grid = grid_of(shown, "row", _PANEL_CM, share_y=False)
    for (row, panel), axes in grid.axes_dict.items():
        part = data[(data["panel"] == panel) & (data["row"] == row)]
        if is_cost:
            _lines(axes, part, hollow=False, joined=False)
            fitted = part["fitted"].astype(float)
            # a logarithmic axis has no place for 0 and less
            draw_fits(axes, part.assign(fitted=fitted.where(fitted > 0)), "msg_bytes", "fitted")
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda ns, _: thousands(ns)))
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            for quantity, some in part.groupby("quantity"):
                _lines(axes, some, hollow=quantity == "received")
            top = float(part["value"].max())
            axes.set_ylim(0, top * 1.12 if top > 0 else 1)
        _size_axis(axes, part["msg_bytes"])
        title, y_label = (f"{panel}, {row}", _COST) if is_cost else (panel, row)
        name_panel(grid, axes, title, "datagram size" if row == grid.row_names[-1] else "", y_label)
    looks = _COST_LOOKS if is_cost else _RATE_LOOKS
    note = [looks, note_on_points(facts, data["low"], cut=not is_cost), left]
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


def _size_axis(axes: Axes, sizes: pd.Series) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    shown: list[int] = []
    for size in sorted(sizes.unique()):
        if not shown or size >= _LEAST_STEP * shown[-1]:
            shown.append(int(size))
    axes.set_xticks(shown, [exact_size(size) for size in shown], rotation=45, ha="right")
