"""Figures of the datagrams: bitrate and loss against size, and what one costs."""

import itertools
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from copycost.figures.axes import scale_of, size_axis, value_axis
from copycost.figures.panels import draw_fits, draw_points, finish, name_panel, note_on_points
from copycost.figures.style import WIDTH_CM, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import empty_figure, value_tip
from copycost.studies.shared_facts import panels, scaled_ends
from copycost.wording.filters import exact_size

_PANEL_CM = 5.2
# so many panels beside each other can be read
_PANELS_MOST = 4
_AXIS_CM = 1.6
_NOTHING = "No datagrams were measured."
_COST = "CPU time [ns per datagram]"
_COST_LOOKS = "Lines: fits of a fixed cost plus a cost per byte."
_RATE_LOOKS = "Filled, solid: sent, or loss. Hollow, dotted: received."


def points_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per point and quantity of every curve, the table behind both figures.

    `sent` and `received` are in Gbit/s, `loss` in %, the cost of `sender` and `receiver` in ns per
    datagram; `fitted` is NaN where neither term of a cost is seen, or two terms are no description.
    """
    rows = []
    for panel, curve in panels(facts["curves"], "implementation"):
        for point, (quantity, column, scale) in itertools.product(curve["points"], _QUANTITIES):
            if point[column] is None:
                continue
            cost, size = curve["costs"].get(quantity), point["msg_bytes"]
            fitted = None
            if cost is not None and cost["kind"] not in ("neither", "no_sum"):
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
    left = list(dict.fromkeys(data["panel"]))[_PANELS_MOST:]
    shown = data[~data["panel"].isin(left)]
    grid = sns.FacetGrid(shown, col="panel", row="row", sharex=False, sharey=False)
    for (row, panel), axes in grid.axes_dict.items():
        part = data[(data["panel"] == panel) & (data["row"] == row)]
        part = part.assign(hollow=part["quantity"] == "received")
        draw_points(axes, part, "msg_bytes", _tip, joined=not is_cost)
        if is_cost:
            fitted = part["fitted"].astype(float)
            # a logarithmic axis has no place for 0 and less
            draw_fits(axes, part.assign(fitted=fitted.where(fitted > 0)), "msg_bytes")
        value_axis(axes, scale_of(part, "log" if is_cost else "linear"))
        size_axis(axes, part["msg_bytes"], WIDTH_CM / len(grid.col_names) - _AXIS_CM)
        title, quantity = (f"{panel}, {row}", _COST) if is_cost else (panel, row)
        y_label = quantity if panel == grid.col_names[0] else ""
        x_label = "datagram size" if row == grid.row_names[-1] else ""
        name_panel(axes, len(grid.col_names), title, x_label, y_label)
    note = [
        _COST_LOOKS if is_cost else _RATE_LOOKS,
        note_on_points(facts, data["low"]),
        f"Not drawn for lack of room: {'; '.join(left)}." if left else "",
    ]
    figure = finish(grid, data, note, 2 * _PANEL_CM, joined=not is_cost)
    return Drawn(figure, data.drop(columns="row"))


def _tip(row: Mapping[Hashable, Any]) -> str:
    return f"{exact_size(row['msg_bytes'])}: {row['quantity']} {value_tip(row)}"
