"""Figure: cache misses per byte and context switches per message against message size."""

from collections.abc import Mapping, Sequence

import pandas as pd

from copycost.analysis.metrics import counted_share
from copycost.figures.axes import SCALE_NOTE, Scale, scale_of
from copycost.figures.layout import Panel, Sheet, finish, groups_of, new_sheet
from copycost.figures.line_panels import Frame, draw_panels
from copycost.figures.markers import Family
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
from copycost.figures.text import empty_figure, interval_note
from copycost.perf.events import EVENTS, MISS_LEVELS

_SWITCHES = "context_switches"
_QUANTITIES = {
    **{name: Quantity(EVENTS[name].level or name, "per byte") for name in MISS_LEVELS},
    _SWITCHES: Quantity("context switches", "per message"),
}
_COLUMNS_MOST = 4
_COUNTERS_MOST = 3
_PANELS_MOST = 9


@styled
def draw(tables: Tables) -> Drawn:
    """Draw every counter that was counted, both sides together; the note names the others.

    One counter alone is drawn in wide panels; of several, each has a row, with one column per
    thread count. The panels of one counter share their vertical axis.
    """
    measured = tables.cells[tables.cells["status"] == "measured"]
    side = tables.sides[-1]
    found = [event for event in _QUANTITIES if _is_counted(measured, event, side)]
    data = points(tables, {_column(event, side): _QUANTITIES[event] for event in found})
    if not found:
        reason = _absence(measured, found, tables.sides)
        return Drawn(empty_figure(reason or f"No measured cells on {tables.condition}."), data)
    groups = groups_of(data)
    crowded = len(groups) > 1 and len(found) > 1
    if crowded and len(found) > _COUNTERS_MOST:
        # The cache misses of perf's generic event are those of the last level.
        data = data[data["quantity"] != _QUANTITIES["cache_misses"].name]
    every = data["n_threads"]
    counts = spread(every, _columns_most(len(found), len(groups)))
    data = data[every.isin(counts)].reset_index(drop=True)
    sheet = _sheet(data, groups)
    scales = {str(name): scale_of(part) for name, part in data.groupby("quantity", sort=False)}
    labels = {quantity.name: quantity.label for quantity in _QUANTITIES.values()}

    def frame_of(panel: Panel) -> Frame:
        name, n_threads = panel.data[["quantity", "n_threads"]].iloc[0]
        if crowded:
            return Frame(scales[name], "", labels[name])
        is_top = panel.place < len(counts)
        return Frame(scales[name], labels[name], counted(n_threads, "thread") if is_top else "")

    of_panels = draw_panels(sheet, data, "msg_bytes", tables.implementations, frame_of)
    note = [
        "The sender alone, since nobody receives." if len(tables.sides) == 1
        else "Sender and receiver together.",
        counted(counts[0], "thread") + "." if crowded else "",
        interval_note(data, confidence(tables.summary)),
        _scale_note(scales),
        _absence(measured, found, tables.sides),
        "Counted in user mode only." if _user_mode(measured) else "",
        *of_panels,
        left_out(every, counts, "threads"),
    ]  # fmt: skip
    return Drawn(finish(sheet, data, tables.legend, note), data)


def _columns_most(n_counters: int, n_groups: int) -> int:
    """Return the thread counts that have room: the more counters, the fewer."""
    if n_groups > 1:
        return _COLUMNS_MOST - 1 if n_counters == 1 else 1
    return _PANELS_MOST if n_counters == 1 else _COLUMNS_MOST


def _sheet(data: pd.DataFrame, groups: Sequence[Family]) -> Sheet:
    """Return panels by counter and thread count, or by counter and family."""
    if data["quantity"].nunique() == 1:
        return new_sheet(data, 4.8, column="n_threads", share_y=True, groups=groups)
    if len(groups) > 1:
        return new_sheet(data, 4.2, column="quantity", groups=groups)
    return new_sheet(data, 3.7, row="quantity", column="n_threads", share_y="row")


def _column(event: str, side: str) -> str:
    return f"{event}_per_message" if event == _SWITCHES else f"{side}_{event}_per_byte"


def _scale_note(scales: Mapping[str, Scale]) -> str:
    """Return one sentence per kind of scale, naming the counters where they differ."""
    kinds = list(dict.fromkeys(scale.kind for scale in scales.values()))
    if len(kinds) == 1:
        return f"{SCALE_NOTE[kinds[0]]}."
    return " ".join(
        f"{SCALE_NOTE[kind]}: {', '.join(name for name in scales if scales[name].kind == kind)}."
        for kind in kinds
    )


def _is_counted(measured: pd.DataFrame, event: str, side: str) -> bool:
    """Return whether an event was counted; a run may do without switches, not without misses."""
    if event in MISS_LEVELS:
        return counted_share(measured, _column(event, side)) > 0
    return bool(measured[_column(event, side)].notna().any())


def _absence(measured: pd.DataFrame, found: Sequence[str], sides: Sequence[str]) -> str:
    """Return the sentence that says which counters were not counted, and perf's word for why."""
    if measured.empty:
        return ""
    parts = []
    for event, quantity in _QUANTITIES.items():
        if event not in found:
            status = pd.concat(
                [measured[f"{side}_{event}_status"] for side in sides if side in _SIDES]
            )
            said = status.dropna().mode()
            why = "no status" if said.empty else str(said.iloc[0]).replace("_", " ")
            parts.append(f"{quantity.name} ({'read 0' if why == 'counted' else why})")
    return f"Not counted on this host: {', '.join(parts)}." if parts else ""


_SIDES = ("sender", "receiver")


def _user_mode(measured: pd.DataFrame) -> bool:
    return bool(measured["user_mode_only"].fillna(False).astype(bool).any())
