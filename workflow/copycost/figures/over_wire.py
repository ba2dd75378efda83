"""Figure: throughput over the wire, what the link carries, and who pays for a byte."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from copycost.figures.markers import in_order, way_styles
from copycost.figures.stacked_bars import draw_stacked
from copycost.figures.style import INK, QUIET, styled
from copycost.figures.tables import Drawn, counted
from copycost.figures.text import NOTE_PT, empty_figure, put_words
from copycost.wording.filters import significant

COLUMNS = ("condition", "implementation", "msg_bytes", "n_threads", "part", "ns_per_byte",
           "throughput_gbit_per_s", "link_gbit_per_s", "state")  # fmt: skip
"""Columns of the CSV: medians of the throughput and of one part of the CPU time of both machines
per byte; what the link carries is empty where no device tells its speed. `state` is always
``measured``."""

# told apart with every kind of colour vision (Okabe and Ito)
_PARTS = {
    "sender_process": ("sending process", "#0072B2"),
    "sender_rest": ("rest of the sender's machine", "#56B4E9"),
    "receiver_process": ("receiving process", "#D55E00"),
    "receiver_rest": ("rest of the receiver's machine", "#E69F00"),
}
_CONDITIONS_MOST = 3
_WAYS_MOST = 3
_ROW_CM = 3.2
# above the bars, for what is written there
_ROOM = 1.2


@styled
def draw(facts: Mapping[str, Any]) -> Drawn:
    """Draw a column per condition: throughput of the ways, then a row of bars for each of them."""
    data = cost_table(facts)
    if data.empty:
        return Drawn(empty_figure("The cost per byte to both machines was not measured."), data)
    shown = list(dict.fromkeys(data["condition"]))[:_CONDITIONS_MOST]
    kept = data[data["condition"].isin(shown)]
    ways = in_order(list(dict.fromkeys(kept["implementation"])))[:_WAYS_MOST]
    figure = Figure(layout="constrained")
    rows = figure.subplots(1 + len(ways), len(shown), squeeze=False, sharex="col")
    for column, condition in enumerate(shown):
        here = data[data["condition"] == condition]
        axes = rows[0][column]
        axes.set_title(facts["conditions"][condition]["label"])
        _draw_rates(axes, here, ways)
        for row, way in enumerate(ways, start=1):
            _draw_costs(rows[row][column], here[here["implementation"] == way], here)
        rows[-1][column].set_xlabel("message size")
    rows[0][0].set_ylabel("throughput\n[Gbit/s]")
    for row, way in enumerate(ways, start=1):
        rows[row][0].set_ylabel(f"{way}\n[% of total ns/B]")
    linked = bool(kept["link_gbit_per_s"].notna().any())
    styles = way_styles(ways)
    handles: list[Line2D | Patch] = [
        Line2D([], [], label=way, **styles[way].as_line()) for way in ways
    ]
    if linked:
        handles.append(Line2D([], [], color=INK, lw=0.9, ls=(0, (4, 2)), label="link"))
    handles += [Patch(color=colour, label=title) for title, colour in _PARTS.values()]
    left = [name for name in dict.fromkeys(data["condition"]) if name not in shown]
    left += [name for name in dict.fromkeys(kept["implementation"]) if name not in ways]
    note = [
        f"Medians, {counted(data['n_threads'].min(), 'thread')}.",
        "Bars: shares of the CPU time per byte of both machines; above them, the total.",
        "Dashed: what the link carries at its MTU." if linked else "",
        f"Not drawn for lack of room: {', '.join(left)}." if left else "",
    ]
    put_words(figure, _ROW_CM * (1 + len(ways)), note, handles, handle_length=1.4)
    return Drawn(figure, data)


def cost_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return rates and parts of a byte's cost with the fewest threads, see `COLUMNS`."""
    wire = facts["wire"] or {"conditions": []}
    rows = [row for condition in wire["conditions"] for row in _rows(condition)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(condition: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    link = condition["link"]
    known = [cell for cell in condition["cells"] if cell["parts"]]
    fewest = min((cell["n_threads"] for cell in known), default=1)
    for cell in known:
        if cell["n_threads"] != fewest:
            continue
        told = link and link["believed"] and cell["link_share"]
        rate = cell["throughput"]["median"]
        for part, value in cell["parts"].items():
            yield {
                "condition": condition["slug"],
                **{name: cell[name] for name in ("implementation", "msg_bytes", "n_threads")},
                "part": part,
                "ns_per_byte": value,
                "throughput_gbit_per_s": rate * 1e-9,
                "link_gbit_per_s": rate / cell["link_share"] * 1e-9 if told else np.nan,
                "state": "measured",
            }


def _draw_rates(axes: Axes, data: pd.DataFrame, ways: Sequence[str]) -> None:
    """Draw a line per way, and what the link carries."""
    sizes = sorted(set(data["msg_bytes"]))
    styles = way_styles(ways)
    for way in ways:
        rates = data[data["implementation"] == way].groupby("msg_bytes")["throughput_gbit_per_s"]
        values = rates.first().reindex(sizes).to_numpy(dtype=np.float64)
        axes.plot(range(len(sizes)), values, gid=f"line-{way}", **styles[way].as_line())
    link = data.groupby("msg_bytes")["link_gbit_per_s"].first().reindex(sizes)
    if link.notna().any():
        axes.plot(range(len(sizes)), link, color=INK, lw=0.9, ls=(0, (4, 2)), gid="link")
    axes.set_ylim(bottom=0.0)
    axes.grid(axis="y")


def _draw_costs(axes: Axes, data: pd.DataFrame, every: pd.DataFrame) -> None:
    """Draw one bar per size, its parts upon each other; what is below 0 hangs below.

    Shares, since small messages cost many times as much as large ones; the whole is written above.
    """
    sizes = sorted(set(every["msg_bytes"]))
    parts = data.pivot(index="msg_bytes", columns="part", values="ns_per_byte").reindex(sizes)
    whole = parts.sum(axis="columns", min_count=1)
    above = draw_stacked(axes, parts.mul(100.0 / whole, axis="index"), _PARTS, "%")
    for place, (top, value) in enumerate(zip(above, whole, strict=True)):
        if value > 0.0:
            axes.annotate(
                f"{significant(value, 2)} ns", (place, top), (0, 2), textcoords="offset points",
                ha="center", fontsize=NOTE_PT, color=QUIET, annotation_clip=False,
            )  # fmt: skip
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), _ROOM * max(100.0, above.max()))
    axes.set_yticks((0, 50, 100))
