"""Figure: copying and zero-copy sends where nobody has to copy, with the sizes where they cross."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from copycost.analysis.labels import copied_labels
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.figures.axes import scale_of
from copycost.figures.layout import Panel, finish, new_sheet
from copycost.figures.line_panels import Frame, draw_panels
from copycost.figures.lines import MODES_NOTE
from copycost.figures.markers import CROWD, in_order
from copycost.figures.style import INK, QUIET, SHADE, styled
from copycost.figures.tables import (
    COLUMNS,
    Drawn,
    Legend,
    Quantity,
    counted,
    left_out,
    points_of,
    rows_of,
)
from copycost.figures.text import NOTE_PT, empty_figure, interval_note
from copycost.grid.capabilities import capability_of, split_implementation
from copycost.wording.filters import size as size_text
from copycost.wording.filters import span

_THROUGHPUT = Quantity("throughput", "Gbit/s", 1e-9)
_CONDITIONS_MOST = 3
_ZERO_COPY = "zero_copy"


@styled
def draw(facts: Mapping[str, Any], summary: pd.DataFrame) -> Drawn:
    """Draw throughput and the sender's cost per byte, a column per place where the bytes lie.

    The crossover marked is that of zero_copy over two_copy in throughput: the two sizes between
    which they change places.
    """
    known = facts["conditions"]
    slugs = [slug for slug in facts["grid"]["conditions"] if known[slug]["sender_only"]]
    parts = {slug: _points(facts, summary, slug) for slug in slugs}
    shown = [slug for slug in slugs if parts[slug]["value"].notna().any()][:_CONDITIONS_MOST]
    if not shown:
        data = pd.concat(parts.values()) if parts else pd.DataFrame(columns=list(COLUMNS))
        return Drawn(empty_figure("Nothing was measured where nobody has to copy."), data)
    every = pd.concat([parts[slug] for slug in shown], ignore_index=True)
    n_threads = int(every["n_threads"].min())
    data = every[every["n_threads"] == n_threads].reset_index(drop=True)
    names = in_order(facts["grid"]["implementations"])
    sheet = new_sheet(data, 5.4, row="quantity", column="condition", share_y="row")
    scales = {name: scale_of(part, "log") for name, part in data.groupby("quantity")}

    def frame_of(panel: Panel) -> Frame:
        quantity, unit, slug = panel.data[["quantity", "unit", "condition"]].iloc[0]
        title = known[slug]["label"] if quantity == _THROUGHPUT.name else ""
        return Frame(scales[quantity], f"{quantity} [{unit}]", title)

    of_panels = draw_panels(sheet, data, "msg_bytes", names, frame_of)
    for panel in sheet.panels():
        quantity, slug = panel.data[["quantity", "condition"]].iloc[0]
        if quantity == _THROUGHPUT.name:
            _mark_crossover(panel.axes, _crossover(known[slug], n_threads))
    note = [
        f"The sender's cost alone, {counted(n_threads, 'thread')}.",
        interval_note(data, facts["method"]["statistics"]["confidence"]),
        "Vertical axes logarithmic.",
        f"Band: the two sizes between which {_ZERO_COPY} and {BASELINE} change places."
        if any((_crossover(known[slug], n_threads) or {}).get("change") for slug in shown) else "",
        MODES_NOTE if data["lower_mode"].notna().any() else "",
        *of_panels,
        left_out(every["n_threads"], [n_threads], "threads"),
        _crowded_out([known[slug] for slug in shown]),
    ]  # fmt: skip
    labels = copied_labels(pd.concat([rows_of(summary, slug) for slug in shown]))
    return Drawn(finish(sheet, data, Legend(names, labels), note), data)


def _points(facts: Mapping[str, Any], summary: pd.DataFrame, slug: str) -> pd.DataFrame:
    """Return throughput and cost of those that ask for zero copy, and of what they stand beside."""
    known = facts["conditions"][slug]
    mine = rows_of(summary, slug)
    kept = _wanted(known)[:CROWD]
    cost = Quantity(known["cost_label"], f"{facts['cost']['unit']}/B")
    return points_of(
        slug,
        mine[mine["implementation"].isin(kept)],
        in_order(facts["grid"]["implementations"]),
        {THROUGHPUT: _THROUGHPUT, known["cost_column"]: cost},
    )


def _wanted(known: Mapping[str, Any]) -> list[str]:
    """Return the two that copy, then all that ask for zero copy."""
    names = in_order(known["grid"]["implementations"])
    asking = [name for name in names if capability_of(split_implementation(name)[0]).zero_copy]
    return [BASELINE, "one_copy", *asking]


def _crowded_out(known: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence that names those for which a panel has no room."""
    names = in_order(name for one in known for name in _wanted(one)[CROWD:])
    return f"Not drawn for want of room: {', '.join(names)}." if names else ""


def _crossover(known: Mapping[str, Any], n_threads: int) -> Mapping[str, Any] | None:
    """Return what zero_copy beside two_copy is along the sizes."""
    pair = known["crossovers"].get(f"{_ZERO_COPY}_vs_{BASELINE}")
    rows = [row for row in pair["by_threads"] if row["n_threads"] == n_threads] if pair else []
    return rows[0] if rows else None


_OTHERWISE = {
    "always": f"{_ZERO_COPY} ahead at every size",
    "never": f"{_ZERO_COPY} behind at every size",
    "undecided": "undecided where they cross",
    "mixed": "they cross more than once",
}


def _mark_crossover(axes: Axes, found: Mapping[str, Any] | None) -> None:
    """Mark the bracket of the crossover, or say what there is instead of one."""
    if found is None:
        return
    change = found["change"]
    if change is None:
        axes.annotate(
            _OTHERWISE.get(found["outcome"], ""), (1, 0), (-3, 3), fontsize=NOTE_PT, ha="right",
            xycoords="axes fraction", textcoords="offset points", color=QUIET, zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )  # fmt: skip
        return
    low, high = change["below_bytes"], change["above_bytes"]
    axes.axvspan(low, high, color=SHADE, lw=0, zorder=0.5, gid="crossover")
    axes.annotate(
        span(low, high, size_text), (math.sqrt(low * high), 0), (0, 3), fontsize=NOTE_PT,
        xycoords=("data", "axes fraction"), textcoords="offset points", color=INK, ha="center",
        annotation_clip=False,
    )  # fmt: skip
