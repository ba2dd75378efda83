"""Figures of the datagrams: bitrate and loss against size, and what one costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from copycost.figures.style import CM, WIDTH_CM, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import NOTE_PT, empty_figure, put_note, wrap
from copycost.sizes import format_size

_PANEL_CM = 5.2
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_MARKERS = ("o", "s", "^", "D")
_NOTHING = "No datagrams were measured."


def draw(name: str, facts: Mapping[str, Any]) -> Drawn:
    """Draw the figure of that name."""
    return {"bitrate_and_loss": draw_bitrate_and_loss, "cost": draw_cost}[name](facts)


def points_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per point and quantity of every curve, the table behind both figures.

    Columns
    -------
    panel : str
        Testbed, and driver where there are several.
    n_streams, datagram_bytes : int
    quantity : str
        ``sent``, ``received`` [Gbit/s], ``loss`` [%], ``sender``, ``receiver`` [ns per datagram].
    value, low, high : float
        Median and interval.
    fitted : float
        Of the two-term cost; NaN elsewhere.
    state : str
        ``measured``.
    """
    several = len({curve["driver"] for curve in facts["curves"]}) > 1
    rows: list[dict[str, Any]] = []
    for curve in facts["curves"]:
        panel = str(curve["testbed"]) + (f", {curve['driver']}" if several else "")
        for point in curve["points"]:
            for quantity, column, scale in _QUANTITIES:
                found = point[column]
                if found is None:
                    continue
                cost = curve["costs"].get(quantity)
                size = point["datagram_bytes"]
                rows.append(
                    {
                        "panel": panel,
                        "n_streams": curve["n_streams"],
                        "datagram_bytes": size,
                        "quantity": quantity,
                        "value": found["median"] * scale,
                        "low": None if found["low"] is None else found["low"] * scale,
                        "high": None if found["high"] is None else found["high"] * scale,
                        "fitted": None
                        if cost is None
                        else cost["fixed_ns"]["value"] + cost["ns_per_byte"]["value"] * size,
                        "state": "measured",
                    }
                )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


_QUANTITIES = (
    ("sent", "sent_bits_per_s", 1e-9),
    ("received", "bits_per_s", 1e-9),
    ("loss", "loss", 100.0),
    ("sender", "sender_ns", 1.0),
    ("receiver", "receiver_ns", 1.0),
)
_COLUMNS = (
    "panel",
    "n_streams",
    "datagram_bytes",
    "quantity",
    "value",
    "low",
    "high",
    "fitted",
    "state",
)


@styled
def draw_bitrate_and_loss(facts: Mapping[str, Any]) -> Drawn:
    """Draw what is sent and received, and below it the share that is lost, against size."""
    data = points_table(facts)
    data = data[data["quantity"].isin(["sent", "received", "loss"])].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(_NOTHING), data)
    data["row"] = np.where(data["quantity"] == "loss", "loss [%]", "bitrate [Gbit/s]")
    grid = _grid(data)
    for (row, panel), axes in grid.axes_dict.items():
        part = data[(data["panel"] == panel) & (data["row"] == row)]
        for quantity, some in part.groupby("quantity"):
            _lines(axes, some, hollow=quantity == "received")
        _finish_axes(axes, part, panel, row, int(row.startswith("loss")))
        top = float(part["value"].max())
        axes.set_ylim(0, top * 1.12 if top > 0 else 1)
    note = ["Filled, solid: sent, and loss. Hollow, dotted: received.", _points_note(facts, data)]
    drawn = data.drop(columns="row")
    return Drawn(_finish(grid, data, note), drawn)


@styled
def draw_cost(facts: Mapping[str, Any]) -> Drawn:
    """Draw CPU time per datagram against size, for both sides, with the two-term fit."""
    data = points_table(facts)
    data = data[data["quantity"].isin(["sender", "receiver"])].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(_NOTHING), data)
    data["row"] = data["quantity"]
    grid = _grid(data)
    for (side, panel), axes in grid.axes_dict.items():
        part = data[(data["panel"] == panel) & (data["row"] == side)]
        _lines(axes, part, hollow=False, joined=False)
        for index, (_, stream) in enumerate(part.groupby("n_streams")):
            fitted = stream.dropna(subset="fitted")
            sns.lineplot(
                fitted[fitted["fitted"] > 0],
                x="datagram_bytes",
                y="fitted",
                color=_COLOURS[index % len(_COLOURS)],
                estimator=None,
                legend=False,
                ax=axes,
            )
        _finish_axes(
            axes, part, f"{panel}, {side}", "CPU [ns per datagram]", int(side == "receiver")
        )
        axes.set_yscale("log")
    note = ["Lines: a fixed cost and a cost per byte, fitted.", _points_note(facts, data)]
    return Drawn(_finish(grid, data, note), data.drop(columns="row"))


def _grid(data: pd.DataFrame) -> sns.FacetGrid:
    grid = sns.FacetGrid(
        data, col="panel", row="row", sharex=False, sharey=False, height=_PANEL_CM * CM
    )
    grid.figure.set_layout_engine("constrained")
    return grid


def _lines(axes: Axes, data: pd.DataFrame, *, hollow: bool, joined: bool = True) -> None:
    """Draw one quantity, a colour and marker per number of streams."""
    for index, (n_streams, part) in enumerate(data.groupby("n_streams")):
        colour = _COLOURS[index % len(_COLOURS)]
        known = part.dropna(subset=["low", "high"])
        axes.vlines(known["datagram_bytes"], known["low"], known["high"], color=colour, lw=0.9)
        sns.lineplot(
            part,
            x="datagram_bytes",
            y="value",
            color=colour,
            marker=_MARKERS[index % len(_MARKERS)],
            markerfacecolor="white" if hollow else colour,
            markeredgecolor=colour,
            linestyle=((0, (1, 1.5)) if hollow else "-") if joined else "",
            label=None if hollow else f"{n_streams} stream{'s' if n_streams != 1 else ''}",
            estimator=None,
            legend=False,
            ax=axes,
        )


def _finish_axes(axes: Axes, data: pd.DataFrame, title: str, y_label: str, row: int) -> None:
    """Label the axes of one panel, the horizontal one only in the lowest row."""
    sizes = sorted(data["datagram_bytes"].unique())
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    # 1000 and 1472 B stand next to each other
    shown = [size for i, size in enumerate(sizes) if i == 0 or size >= 2 * sizes[i - 1]]
    axes.set_xticks(shown, [format_size(int(size)) for size in shown], rotation=45, ha="right")
    axes.set(xlabel="" if row == 0 else "datagram size", ylabel=y_label)
    axes.set_title(title)


def _points_note(facts: Mapping[str, Any], data: pd.DataFrame) -> str:
    most = max((point["n"] for curve in facts["curves"] for point in curve["points"]), default=0)
    note = f"Points: medians of up to {most} repetitions."
    if data["low"].notna().any():
        note += f" Bars: {facts['confidence'] * 100:g} % intervals."
    return note


def _finish(grid: sns.FacetGrid, data: pd.DataFrame, note: Sequence[str]) -> Figure:
    figure: Figure = grid.figure
    axes = grid.axes.flat[0]
    handles, labels = axes.get_legend_handles_labels()
    if data["n_streams"].nunique() > 1:
        axes.legend(handles, labels, loc="upper left")
    put_note(figure, wrap(" ".join(note), WIDTH_CM, NOTE_PT), 2 * _PANEL_CM)
    return figure
