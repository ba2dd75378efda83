"""Figures of one condition: speed and cost, counters, and the time that threads take."""

from collections.abc import Sequence

import pandas as pd

from copycost.analysis.metrics import counted_share
from copycost.figures.axes import SCALE_NOTE, scale_of
from copycost.figures.layout import Panel, finish, new_sheet
from copycost.figures.lines import MODES_NOTE, Frame, draw_panels
from copycost.figures.markers import families
from copycost.figures.style import styled
from copycost.figures.tables import (
    Drawn,
    Quantity,
    Tables,
    confidence,
    left_out,
    points,
    spread,
)
from copycost.figures.text import empty_figure, interval_note, size_label
from copycost.observers.perf.events import EVENTS, MISS_LEVELS
from copycost.wording.words import plural

_NOT_CYCLES = {
    "cycles_not_counted": "Cycles were not counted on this host.",
    "cycles_user_mode_only": "Cycles were counted in user mode only and are not shown.",
}
_SWITCHES = "context_switches"
_COUNTERS = {
    **{name: Quantity(EVENTS[name].level or name, "per byte") for name in MISS_LEVELS},
    _SWITCHES: Quantity("context switches", "per message"),
}
_COUNTERS_MOST = 3
_TIME = Quantity("time per message", "µs", 1e-3)
_PANELS_MOST = 15
_COLUMNS_MOST = 3


@styled
def draw(figure: str, tables: Tables) -> Drawn:
    """Draw one of `AUDIT_FIGURES`."""
    drawn = {
        "speed_and_cost": _speed_and_cost,
        "counters": _counters,
        "time_per_message": _time_per_message,
    }
    return drawn[figure](tables)


def _speed_and_cost(tables: Tables) -> Drawn:
    """Draw received bits per second, and what a byte costs both sides, or a sender without any.

    The cost is the best that the run could count: cycles, else CPU time, else reference cycles.
    """
    cost, side = tables.cost, tables.sides[-1]
    throughput = Quantity("throughput", "Gbit/s", 1e-9)
    of_byte = Quantity(f"{cost.label}, {side}", f"{cost.unit}/B")
    data = points(tables, {"throughput_bits_per_s": throughput, cost.column(side): of_byte})
    known = set(data.loc[data["value"].notna(), "quantity"])
    data = data[data["quantity"].isin(known) | (not known)].reset_index(drop=True)
    whose = ""
    if len(tables.sides) == 1:
        whose = "Bytes sent and not lost; the cost is the sender's, since there is no receiver."
    return _over_size(tables, data, whose, [_NOT_CYCLES.get(cost.reason, "")])


def _counters(tables: Tables) -> Drawn:
    """Draw every counter that was counted, both sides together; the note names the others.

    Cache misses are per byte, context switches per message.
    """
    measured = tables.cells[tables.cells["status"] == "measured"]
    side = tables.sides[-1]

    def column(event: str) -> str:
        return f"{event}_per_message" if event == _SWITCHES else f"{side}_{event}_per_byte"

    # a run may do without switches, not without misses
    found = [event for event in MISS_LEVELS if counted_share(measured, column(event)) > 0]
    if measured[column(_SWITCHES)].notna().any():
        found.append(_SWITCHES)
    data = points(tables, {column(event): _COUNTERS[event] for event in found})
    absence = _absence(measured, found, tables.sides)
    if not found:
        return Drawn(empty_figure(absence or f"No measured cells on {tables.condition}."), data)
    if len(families(data["implementation"].unique())) > 1 and len(found) > _COUNTERS_MOST:
        # The cache misses of perf's generic event are those of the last level.
        data = data[data["quantity"] != _COUNTERS["cache_misses"].name]
    whose = "Sender and receiver together."
    if len(tables.sides) == 1:
        whose = "The sender alone, since there is no receiver."
    user_only = measured["user_mode_only"].fillna(False).astype(bool).any()
    return _over_size(
        tables, data, whose, [absence, "Counted in user mode only." if user_only else ""]
    )


def _absence(measured: pd.DataFrame, found: Sequence[str], sides: Sequence[str]) -> str:
    """Return the sentence that says which counters were not counted, and perf's word for why."""
    if measured.empty:
        return ""
    parts = []
    for event, quantity in _COUNTERS.items():
        if event not in found:
            names = [f"{side}_{event}_status" for side in sides if side != "both"]
            said = pd.concat([measured[name] for name in names]).dropna().mode()
            why = "no status" if said.empty else str(said.iloc[0]).replace("_", " ")
            parts.append(f"{quantity.name} ({'read 0' if why == 'counted' else why})")
    return f"Not counted on this host: {', '.join(parts)}." if parts else ""


def _over_size(tables: Tables, data: pd.DataFrame, whose: str, note: Sequence[str]) -> Drawn:
    """Draw the points of every quantity against message size.

    Each quantity has a row, with one column per thread count; of a single thread count, or where
    families of implementations are the rows, the quantities stand side by side. The panels of a
    quantity share their vertical axis. The note below says `whose` first, and `note` last.
    """
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    every, names = data["n_threads"], list(dict.fromkeys(data["quantity"]))
    groups = families(data["implementation"].unique())
    crowded, alone = len(groups) > 1, len(names) == 1
    # so many columns can be read; panels of one quantity alone are wrapped
    most = (3 if alone else 1) if crowded else (9 if alone else 4)
    counts = spread(every, most)
    data = data[every.isin(counts)].reset_index(drop=True)
    labels = {
        name: f"{name} [{unit}]" if unit else name
        for name, unit in zip(data["quantity"], data["unit"], strict=True)
    }
    scales = {name: scale_of(data[data["quantity"] == name]) for name in names}
    beside = not alone and len(counts) == 1

    def frame_of(panel: Panel) -> Frame:
        name, n_threads = panel.data[["quantity", "n_threads"]].iloc[0]
        if beside:
            return Frame(scales[name], "", labels[name] if sheet.is_top(panel) else "")
        is_top = sheet.is_top(panel) if alone else panel.place < len(counts)
        return Frame(scales[name], labels[name], plural(int(n_threads), "thread") if is_top else "")

    if beside:
        sheet = new_sheet(data, 4.2, column="quantity", groups=groups)
    elif alone:
        sheet = new_sheet(data, 4.8, column="n_threads", share_y=True, groups=groups)
    else:
        sheet = new_sheet(data, 3.7, row="quantity", column="n_threads", share_y="row")
    of_panels = draw_panels(sheet, data, "msg_bytes", tables.implementations, frame_of)
    of_kind: dict[str, list[str]] = {}
    for name, scale in scales.items():
        of_kind.setdefault(scale.kind, []).append(name)
    said = [
        whose,
        f"{plural(counts[0], 'thread')}." if beside else "",
        interval_note(data, confidence(tables.summary)),
        *(
            f"{SCALE_NOTE[kind]}{': ' + ', '.join(of) if len(of_kind) > 1 else ''}."
            for kind, of in of_kind.items()
        ),
        MODES_NOTE if data["lower_mode"].notna().any() else "",
        *note,
        *of_panels,
        left_out(every, counts, "threads"),
    ]
    return Drawn(finish(sheet, data, tables.legend, said), data)


def _time_per_message(tables: Tables) -> Drawn:
    """Draw the mean time that one thread spends on one message, a panel per message size.

    Against the number of threads, each panel with its own vertical axis from 0: a large message
    takes a thousand times as long as a small one, and the question is what threads add to either.
    """
    data = points(tables, {"service_mean_ns": _TIME})
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    every, groups = data["msg_bytes"], families(data["implementation"].unique())
    sizes = spread(every, _COLUMNS_MOST if len(groups) > 1 else _PANELS_MOST)
    data = data[every.isin(sizes)].reset_index(drop=True)
    sheet = new_sheet(data, 4.3, column="msg_bytes", groups=groups)
    kinds = {scale_of(part).kind for _, part in data.groupby("msg_bytes")}
    kind = "linear" if kinds == {"linear"} else "log"

    def frame_of(panel: Panel) -> Frame:
        title = size_label(panel.data["msg_bytes"].iloc[0]) if sheet.is_top(panel) else ""
        return Frame(scale_of(panel.data, kind), _TIME.label, title)

    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[kind]}, with a separate scale for each message size.",
        *draw_panels(sheet, data, "n_threads", tables.implementations, frame_of),
        left_out(every, sizes, "B"),
    ]
    return Drawn(finish(sheet, data, tables.legend, note), data)
