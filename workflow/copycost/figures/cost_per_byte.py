"""Figure: cost per byte against message size, for the sender, the receiver and both."""

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, size_axis, value_axis
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
    sheet = new_sheet((len(counts), len(_SIDES)), 4.0, share_y="all")
    scale = scale_of(data)
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    cut = False
    for place in range(len(counts) * len(_SIDES)):
        count, side = counts[place // len(_SIDES)], _SIDES[place % len(_SIDES)]
        axes = sheet.flat[place]
        panel = data[data["quantity"].str.endswith(f", {side}") & (data["n_threads"] == count)]
        line_panel(axes, panel, "msg_bytes", tables.implementations, strip)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        cut |= value_axis(axes, data, scale, strip.share)
        axes.set_title(f"{side}, {counted(count, 'thread')}")
        sheet.label(place, len(counts) * len(_SIDES), "message size", shown.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale]}, the same in all panels.",
        _WHY.get(cost.reason, ""),
        CUT_NOTE if cut else "",
        strip.note,
        left_out(every, counts, "threads"),
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
