"""Figure: cost per byte against message size, for the sender, the receiver and both."""

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, size_axis
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

_SIDES = ("sender", "receiver", "both")
_ROWS_MOST = 4
_WHY = {
    "cycles_not_counted": "Cycles were not counted on this host.",
    "cycles_user_mode_only": "Cycles were counted in user mode only and are not shown.",
}


@styled
def draw(tables: Tables) -> Drawn:
    """Draw what a received byte costs each side; rows are thread counts, columns are sides.

    The cost is the best that the run could count: cycles, else CPU time, else reference cycles;
    the axis and the note say which. All panels share one vertical axis.
    """
    cost = tables.cost
    shown = Quantity(cost.label, f"{cost.unit}/B")
    data = points(
        tables,
        {cost.column(side): Quantity(f"{shown.name}, {side}", shown.unit) for side in _SIDES},
    )
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.testbed}."), data)
    every = data["n_threads"]
    counts = spread(every, _ROWS_MOST)
    data = data[every.isin(counts)].reset_index(drop=True)
    sheet = new_sheet(data, 4.0, row="n_threads", column="quantity", share_y=True)
    scale = scale_of(data)
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    cut = False
    for place, axes, part in sheet.panels():
        cut |= line_panel(axes, part, "msg_bytes", tables.implementations, scale, strip)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        side = _SIDES[place % len(_SIDES)]
        axes.set_title(f"{side}, {counted(part['n_threads'].iloc[0], 'thread')}")
        sheet.label(place, "message size", shown.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale.kind]}, the same in all panels.",
        _WHY.get(cost.reason, ""),
        CUT_NOTE if cut else "",
        strip.note,
        left_out(every, counts, "threads"),
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
