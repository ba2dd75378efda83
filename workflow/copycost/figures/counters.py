"""Figure: cache misses per byte and context switches per message against message size."""

from collections.abc import Mapping, Sequence

import pandas as pd

from copycost.analysis.metrics import MISS_LEVELS, counted_share
from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, Scale, scale_of, size_axis
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.sheet import empty_figure, finish, interval_note, new_sheet
from copycost.figures.style import styled
from copycost.figures.tables import (
    Drawn,
    Quantity,
    Tables,
    confidence,
    counted,
    left_out,
    points,
    spread,
)

_SWITCHES = "context_switches"
_QUANTITIES = {
    "l1d_load_misses": Quantity("L1d load misses", "per byte"),
    "llc_load_misses": Quantity("LLC load misses", "per byte"),
    "cache_misses": Quantity("cache misses", "per byte"),
    _SWITCHES: Quantity("context switches", "per message"),
}
_COLUMNS_MOST = 4
_PANELS_MOST = 9


@styled
def draw(tables: Tables) -> Drawn:
    """Draw every counter that was counted, both sides together; the note names the others.

    One counter alone is drawn in wide panels; of several, each has a row, with one column per
    thread count. The panels of one counter share their vertical axis.
    """
    measured = tables.cells[tables.cells["status"] == "measured"]
    found = [event for event in _QUANTITIES if _is_counted(measured, event)]
    data = points(tables, {_column(event): _QUANTITIES[event] for event in found})
    if not found:
        reason = _absence(measured, found) or f"No measured cells on {tables.testbed}."
        return Drawn(empty_figure(reason), data)
    every = data["n_threads"]
    alone = len(found) == 1
    counts = spread(every, _PANELS_MOST if alone else _COLUMNS_MOST)
    data = data[every.isin(counts)].reset_index(drop=True)
    sheet = (
        new_sheet(data, 4.8, column="n_threads", share_y=True)
        if alone
        else new_sheet(data, 3.7, row="quantity", column="n_threads", share_y="row")
    )
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    scales = {str(name): scale_of(part) for name, part in data.groupby("quantity", sort=False)}
    labels = {quantity.name: quantity.label for quantity in _QUANTITIES.values()}
    cut = False
    for place, axes, part in sheet.panels():
        name = str(part["quantity"].iloc[0])
        cut |= line_panel(axes, part, "msg_bytes", tables.implementations, scales[name], strip)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        if place < len(counts):
            axes.set_title(counted(part["n_threads"].iloc[0], "thread"))
        sheet.label(place, "message size", labels[name])
    note = [
        "Sender and receiver together.",
        interval_note(data, confidence(tables.summary)),
        _scale_note(scales),
        _absence(measured, found),
        "Counted in user mode only." if _user_mode(measured) else "",
        CUT_NOTE if cut else "",
        strip.note,
        left_out(every, counts, "threads"),
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)


def _column(event: str) -> str:
    return f"{event}_per_message" if event == _SWITCHES else f"both_{event}_per_byte"


def _scale_note(scales: Mapping[str, Scale]) -> str:
    """Return one sentence per kind of scale, naming the counters where they differ."""
    kinds = list(dict.fromkeys(scale.kind for scale in scales.values()))
    if len(kinds) == 1:
        return f"{SCALE_NOTE[kinds[0]]}."
    return " ".join(
        f"{SCALE_NOTE[kind]}: {', '.join(name for name in scales if scales[name].kind == kind)}."
        for kind in kinds
    )


def _is_counted(measured: pd.DataFrame, event: str) -> bool:
    """Return whether an event was counted; a run may do without switches, not without misses."""
    if event in MISS_LEVELS:
        return counted_share(measured, _column(event)) > 0
    return bool(measured[_column(event)].notna().any())


def _absence(measured: pd.DataFrame, found: Sequence[str]) -> str:
    """Return the sentence that says which counters were not counted, and perf's word for why."""
    if measured.empty:
        return ""
    parts = []
    for event, quantity in _QUANTITIES.items():
        if event not in found:
            status = pd.concat([measured[f"{side}_{event}_status"] for side in _SIDES])
            said = status.dropna().mode()
            why = "no status" if said.empty else str(said.iloc[0]).replace("_", " ")
            parts.append(f"{quantity.name} ({'read 0' if why == 'counted' else why})")
    return f"Not counted on this host: {', '.join(parts)}." if parts else ""


_SIDES = ("sender", "receiver")


def _user_mode(measured: pd.DataFrame) -> bool:
    return bool(measured["user_mode_only"].fillna(False).astype(bool).any())
