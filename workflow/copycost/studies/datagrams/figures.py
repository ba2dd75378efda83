"""Figures of the datagrams: bitrate and loss against size, and what one costs."""

import itertools
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from copycost.figures.panels import (
    Series,
    draw_fits,
    draw_points,
    finish,
    name_panel,
    note_on_points,
)
from copycost.figures.style import styled
from copycost.figures.tables import Drawn
from copycost.figures.text import empty_figure
from copycost.figures.tips import value_tip
from copycost.studies.shared_facts import differing, panel_of, scaled_ends
from copycost.wording.filters import exact_size, thousands

_SERIES = Series("msg_bytes", "value", "low", "high", "fitted")
_PANEL_CM = 5.2
# so many panels beside each other can be read
_PANELS_MOST = 4
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
    panels = list(dict.fromkeys(data["panel"]))
    left = panels[_PANELS_MOST:]
    shown = data[~data["panel"].isin(left)]
    grid = sns.FacetGrid(shown, col="panel", row="row", sharex=False, sharey=False)
    for (row, panel), axes in grid.axes_dict.items():
        part = data[(data["panel"] == panel) & (data["row"] == row)]
        draw_points(
            axes, part.assign(hollow=part["quantity"] == "received"), _SERIES, _tip,
            joined=not is_cost,
        )  # fmt: skip
        if is_cost:
            fitted = part["fitted"].astype(float)
            # a logarithmic axis has no place for 0 and less
            draw_fits(axes, part.assign(fitted=fitted.where(fitted > 0)), _SERIES)
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda ns, _: thousands(ns)))
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            top = float(part["value"].max())
            axes.set_ylim(0, top * 1.12 if top > 0 else 1)
        _size_axis(axes, part["msg_bytes"])
        title, y_label = (f"{panel}, {row}", _COST) if is_cost else (panel, row)
        x_label = "datagram size" if row == grid.row_names[-1] else ""
        name_panel(axes, len(grid.col_names), title, x_label, y_label)
    note = [
        _COST_LOOKS if is_cost else _RATE_LOOKS,
        note_on_points(facts, data["low"], cut=not is_cost),
        f"Not drawn for lack of room: {'; '.join(left)}." if left else "",
    ]
    figure = finish(grid, data, note, 2 * _PANEL_CM, joined=not is_cost)
    return Drawn(figure, data.drop(columns="row"))


def _tip(row: Mapping[Hashable, Any]) -> str:
    return f"{exact_size(row['msg_bytes'])}: {row['quantity']} {value_tip(row)}"


def _size_axis(axes: Axes, sizes: pd.Series) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    shown: list[int] = []
    for size in sorted(sizes.unique()):
        if not shown or size >= _LEAST_STEP * shown[-1]:
            shown.append(int(size))
    axes.set_xticks(shown, [exact_size(size) for size in shown], rotation=45, ha="right")
