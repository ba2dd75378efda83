"""Figures of what a byte costs by who pays for it: over the wire, and in virtual machines."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from copycost.analysis.metrics import BASELINE
from copycost.analysis.stats.settings import FloatArray
from copycost.figures.markers import in_order, way_styles
from copycost.figures.style import INK, QUIET, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import (
    EMULATED_NOTE,
    NOTE_PT,
    add_tips,
    empty_figure,
    put_words,
    size_label,
)
from copycost.wording.filters import significant
from copycost.wording.words import plural

WIRE_COLUMNS = ("condition", "implementation", "msg_bytes", "n_threads", "part", "ns_per_byte",
                "throughput_gbit_per_s", "link_gbit_per_s", "state")  # fmt: skip
"""Columns of the CSV: medians of the throughput and of one part of the CPU time of both machines
per byte; what the link carries is empty where no device tells its speed. `state` is always
``measured``."""

GUEST_COLUMNS = ("condition", "without", "implementation", "msg_bytes", "n_threads", "part",
                 "ns_per_byte", "without_ns_per_byte", "multiple", "state")  # fmt: skip
"""Columns of the CSV: CPU time per byte of one part of the hypervisors', and of the processes
without guests (medians); `multiple` is that part of the ratio of the whole to the latter, paired by
round. `state` is always ``measured``."""

# title and colour of each part, from the lowest up; told apart with every kind of colour vision
# (Okabe and Ito)
_WIRE_PARTS = {
    "sender_process": ("sending process", "#0072B2"),
    "sender_rest": ("rest of the sender's machine", "#56B4E9"),
    "receiver_process": ("receiving process", "#D55E00"),
    "receiver_rest": ("rest of the receiver's machine", "#E69F00"),
}
_GUEST_PARTS = {
    "vcpu": ("virtual CPUs", "#0072B2"),
    "io": ("QEMU's main loop and I/O threads", "#D55E00"),
    "vhost": ("vhost", "#E69F00"),
    "worker": ("QEMU's other threads", "#CC79A7"),
    "apart": ("process outside of guests", "#999999"),
}
_CONDITIONS_MOST = 3
_WAYS_MOST = 3
# less of a bar is not to be seen
_LEAST_SHARE = 0.001
_DASHED: dict[str, Any] = {"color": INK, "lw": 0.9, "ls": (0, (4, 2))}


@styled
def draw_over_wire(facts: Mapping[str, Any]) -> Drawn:
    """Draw a column per condition: throughput of the ways, then a row of bars for each of them.

    The bars are shares, since small messages cost many times as much as large ones; the whole is
    written above.
    """
    wire = facts["wire"] or {"conditions": []}
    rows = [row for condition in wire["conditions"] for row in _wire_rows(condition)]
    data = pd.DataFrame(rows, columns=list(WIRE_COLUMNS))
    if data.empty:
        return Drawn(empty_figure("The cost per byte to both machines was not measured."), data)
    conditions = list(data["condition"].unique())
    shown = conditions[:_CONDITIONS_MOST]
    kept = data[data["condition"].isin(shown)]
    every_way = list(kept["implementation"].unique())
    ways = in_order(every_way)[:_WAYS_MOST]
    styles = way_styles(ways)
    figure = Figure(layout="constrained")
    grid = figure.subplots(1 + len(ways), len(shown), squeeze=False, sharex="col")
    for (rates, *bars), condition in zip(grid.T, shown, strict=True):
        here = data[data["condition"] == condition]
        rates.set_title(facts["conditions"][condition]["label"])
        by_size = here.groupby("msg_bytes")["link_gbit_per_s"].first()
        places = range(len(by_size))
        for way, axes in zip(ways, bars, strict=True):
            own = here[here["implementation"] == way]
            rate = own.groupby("msg_bytes")["throughput_gbit_per_s"].first()
            values = rate.reindex(by_size.index).to_numpy(dtype=np.float64)
            rates.plot(places, values, gid=f"line-{way}", **styles[way].as_line())
            parts = own.pivot(index="msg_bytes", columns="part", values="ns_per_byte")
            _draw_shares(axes, parts.reindex(by_size.index))
        if by_size.notna().any():
            rates.plot(places, by_size, gid="link", **_DASHED)
        rates.set_ylim(bottom=0.0)
        rates.grid(axis="y")
        bars[-1].set_xlabel("message size")
    grid[0][0].set_ylabel("throughput\n[Gbit/s]")
    for way, (axes, *_) in zip(ways, grid[1:], strict=True):
        axes.set_ylabel(f"{way}\n[% of total ns/B]")
    linked = bool(kept["link_gbit_per_s"].notna().any())
    handles = [Line2D([], [], label=way, **styles[way].as_line()) for way in ways]
    handles += [Line2D([], [], label="link", **_DASHED)] if linked else []
    left = [*conditions[_CONDITIONS_MOST:], *(way for way in every_way if way not in ways)]
    note = [
        f"Medians, {plural(int(data['n_threads'].min()), 'thread')}.",
        "Bars: shares of the CPU time per byte of both machines; above them, the total.",
        "Dashed: what the link carries at its MTU." if linked else "",
        f"Not drawn for lack of room: {', '.join(left)}." if left else "",
    ]
    patches = [Patch(color=colour, label=title) for title, colour in _WIRE_PARTS.values()]
    put_words(figure, 3.2 * (1 + len(ways)), note, [*handles, *patches], handle_length=1.4)
    return Drawn(figure, data)


def _wire_rows(condition: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one condition with the fewest threads, see `WIRE_COLUMNS`."""
    link = condition["link"]
    known = [cell for cell in condition["cells"] if cell["parts"]]
    for cell in _with_fewest_threads(known):
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


def _with_fewest_threads(cells: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    fewest = min((cell["n_threads"] for cell in cells), default=1)
    return [cell for cell in cells if cell["n_threads"] == fewest]


def _draw_shares(axes: Axes, parts: pd.DataFrame) -> None:
    """Draw bars of 100 %, with the whole, in ns, above each."""
    whole = parts.sum(axis="columns", min_count=1)
    above = _draw_stacked(axes, parts.mul(100.0 / whole, axis="index"), _WIRE_PARTS, "%")
    for place, (top, value) in enumerate(zip(above, whole, strict=True)):
        if value > 0.0:
            axes.annotate(
                f"{significant(value, 2)} ns", (place, top), (0, 2), textcoords="offset points",
                ha="center", fontsize=NOTE_PT, color=QUIET, annotation_clip=False,
            )  # fmt: skip
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1.2 * max(100.0, above.max()))
    axes.set_yticks((0, 50, 100))


def _draw_stacked(
    axes: Axes, parts: pd.DataFrame, looks: Mapping[str, tuple[str, str]], unit: str
) -> FloatArray:
    """Draw one bar per size, its parts upon each other; return how high each bar reaches.

    The bars stand at 0, 1 and so on, in the order of the rows of `parts`: a row per size in bytes,
    a column per part. What is missing is not drawn; what is below 0 hangs below.
    """
    places = range(len(parts))
    above, below = np.zeros(len(parts)), np.zeros(len(parts))
    for part, (title, colour) in looks.items():
        values = parts.get(part, pd.Series(0.0, parts.index)).fillna(0.0).to_numpy(np.float64)
        if not values.any():
            continue
        base = np.where(values >= 0.0, above, below)
        axes.bar(places, values, 0.7, bottom=base, color=colour, edgecolor="white", lw=0.4)
        tips = [
            f"{size_label(size)}, {title}: {significant(value)} {unit}"
            for size, value in zip(parts.index, values, strict=True)
        ]
        add_tips(axes, [*map(float, places)], list(base + values / 2), tips)
        above, below = above + values.clip(min=0.0), below + values.clip(max=0.0)
    axes.set_xticks(places, [size_label(size) for size in parts.index])
    axes.grid(axis="y")
    return above


@styled
def draw_virtual_machines(facts: Mapping[str, Any]) -> Drawn:
    """Draw bars of the hypervisors' CPU time, as multiples of the processes' without guests.

    One way to send with the fewest threads; a panel per condition in guests.
    """
    pairs = (facts["virtual"] or {"compared": []})["compared"]
    rows = [row for pair in pairs for row in _guest_rows(pair)]
    data = pd.DataFrame(rows, columns=list(GUEST_COLUMNS))
    if data.empty:
        return Drawn(empty_figure("Not measured: the cost per byte in guests and without."), data)
    shown = list(data["condition"].unique())[:_CONDITIONS_MOST]
    figure = Figure(layout="constrained")
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    for axes, condition in zip(panels, shown, strict=True):
        here = data[data["condition"] == condition]
        parts = here.pivot(index="msg_bytes", columns="part", values="multiple")
        _draw_stacked(axes, parts.sort_index(), _GUEST_PARTS, "times")
        axes.axhline(1.0, gid="without", **_DASHED)
        axes.set_xlabel("message size")
        label = facts["conditions"][condition]["label"]
        without = here["without"].iloc[0]
        axes.set_title(f"{label}\n(1 is {without})")  # three panels leave no room for one line
    panels[0].set_ylabel("CPU time per byte\n[times that without guests]")
    drawn = set(data["part"])
    handles = [
        Patch(color=colour, label=title)
        for part, (title, colour) in _GUEST_PARTS.items()
        if part in drawn
    ]
    first = data.iloc[0]
    note = [
        f"{first['implementation']}, {plural(int(first['n_threads']), 'thread')};"
        " ratios paired by round.",
        "Line: what the two processes take without guests.",
        EMULATED_NOTE if any(facts["conditions"][name]["emulated"] for name in shown) else "",
    ]
    put_words(figure, 6.0, note, handles, handle_length=1.4)
    return Drawn(figure, data)


def _guest_rows(pair: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one way, two_copy if there is one, see `GUEST_COLUMNS`."""
    known = [cell for cell in pair["cells"] if cell["parts"] and cell["price"]]
    ways = [cell["implementation"] for cell in known]
    way = BASELINE if BASELINE in ways else next(iter(ways), "")
    chosen = [cell for cell in _with_fewest_threads(known) if cell["implementation"] == way]
    for cell in sorted(chosen, key=lambda cell: int(cell["msg_bytes"])):
        for part, share in cell["parts"].items():
            if share >= _LEAST_SHARE:
                yield {
                    "condition": pair["slug"],
                    "without": pair["without"],
                    **{name: cell[name] for name in ("implementation", "msg_bytes", "n_threads")},
                    "part": part,
                    "ns_per_byte": share * cell["outside"]["median"],
                    "without_ns_per_byte": cell["cost"]["median"],
                    "multiple": share * cell["price"]["value"],
                    "state": "measured",
                }
