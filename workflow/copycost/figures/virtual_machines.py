"""Figure: what a byte costs with virtual machines, by who uses it, against without."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from copycost.analysis.metrics import BASELINE
from copycost.figures.stacked_bars import draw_stacked
from copycost.figures.style import INK, styled
from copycost.figures.tables import Drawn, counted
from copycost.figures.text import EMULATED_NOTE, empty_figure, put_words

COLUMNS = ("condition", "without", "implementation", "msg_bytes", "n_threads", "part",
           "ns_per_byte", "without_ns_per_byte", "multiple", "state")  # fmt: skip
"""Columns of the CSV: CPU time per byte of one part of the hypervisors', and of the processes
without guests (medians); `multiple` is that part of the ratio of the whole to the latter, paired by
round. `state` is always ``measured``."""

# told apart with every kind of colour vision (Okabe and Ito)
_PARTS = {
    "vcpu": ("virtual CPUs", "#0072B2"),
    "io": ("QEMU's main loop and I/O threads", "#D55E00"),
    "vhost": ("vhost", "#E69F00"),
    "worker": ("QEMU's other threads", "#CC79A7"),
    "apart": ("process outside of guests", "#999999"),
}
# less of a bar is not to be seen
_LEAST_SHARE = 0.001
_PANELS_MOST = 3
_PANEL_CM = 6.0


@styled
def draw(facts: Mapping[str, Any]) -> Drawn:
    """Draw bars of the hypervisors' CPU time, as multiples of the processes' without guests.

    One way to send with the fewest threads; a panel per condition in guests.
    """
    data = cost_table(facts)
    if data.empty:
        return Drawn(empty_figure("Not measured: the cost per byte in guests and without."), data)
    shown = list(dict.fromkeys(data["condition"]))[:_PANELS_MOST]
    figure = Figure(layout="constrained")
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    for axes, condition in zip(panels, shown, strict=True):
        here = data[data["condition"] == condition]
        parts = here.pivot(index="msg_bytes", columns="part", values="multiple")
        draw_stacked(axes, parts.sort_index(), _PARTS, "times")
        axes.axhline(1.0, color=INK, lw=0.9, ls=(0, (4, 2)), gid="without")
        axes.set_xlabel("message size")
        label = facts["conditions"][condition]["label"]
        without = here["without"].iloc[0]
        axes.set_title(f"{label}\n(1 is {without})")  # three panels leave no room for one line
    panels[0].set_ylabel("CPU time per byte\n[times that without guests]")
    looks = [look for part, look in _PARTS.items() if part in set(data["part"])]
    handles = [Patch(color=colour, label=title) for title, colour in looks]
    first = data.iloc[0]
    emulated = any(facts["conditions"][name]["emulated"] for name in shown)
    note = [
        f"{first['implementation']}, {counted(first['n_threads'], 'thread')};"
        " ratios paired by round.",
        "Line: what the two processes take without guests.",
        EMULATED_NOTE if emulated else "",
    ]  # fmt: skip
    put_words(figure, _PANEL_CM, note, handles, handle_length=1.4)
    return Drawn(figure, data)


def cost_table(facts: Mapping[str, Any]) -> pd.DataFrame:
    """Return the parts of a byte's cost with fewest threads, see `COLUMNS`."""
    rows = [
        {
            "condition": pair["slug"],
            "without": pair["without"],
            **{name: cell[name] for name in ("implementation", "msg_bytes", "n_threads")},
            "part": part,
            "ns_per_byte": share * cell["outside"]["median"],
            "without_ns_per_byte": cell["cost"]["median"],
            "multiple": share * cell["price"]["value"],
            "state": "measured",
        }
        for pair in (facts["virtual"] or {"compared": []})["compared"]
        for cell in _chosen(pair["cells"])
        for part, share in cell["parts"].items()
        if share >= _LEAST_SHARE
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _chosen(cells: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the cells of one way, two_copy if there is one, with the fewest threads."""
    known = [cell for cell in cells if cell["parts"] and cell["price"]]
    ways = [cell["implementation"] for cell in known]
    fewest = min((cell["n_threads"] for cell in known), default=1)
    way = BASELINE if BASELINE in ways else next(iter(ways), "")
    chosen = [
        cell for cell in known if cell["implementation"] == way and cell["n_threads"] == fewest
    ]
    return sorted(chosen, key=lambda cell: int(cell["msg_bytes"]))
