"""Figure: cost per byte against message size, for the sender, the receiver and both."""

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, size_axis
from copycost.figures.layout import finish, groups_of, new_sheet
from copycost.figures.lines import context_note, line_panel, missing_strip
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

_ROWS_MOST = 4
_COLUMNS_MOST = 2
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
        {cost.column(side): Quantity(f"{shown.name}, {side}", shown.unit) for side in tables.sides},
    )
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    every, groups = data["n_threads"], groups_of(data)
    alone, crowded = len(tables.sides) == 1, len(groups) > 1
    # Where families are the rows, or sides no columns, thread counts take their place.
    most = _ROWS_MOST if not crowded else _COLUMNS_MOST if alone else 1
    counts = spread(every, most)
    data = data[every.isin(counts)].reset_index(drop=True)
    if alone:
        sheet = new_sheet(data, 4.2, column="n_threads", share_y=True, groups=groups)
    elif crowded:
        sheet = new_sheet(data, 3.9, column="quantity", share_y=True, groups=groups)
    else:
        sheet = new_sheet(data, 4.0, row="n_threads", column="quantity", share_y=True)
    scale = scale_of(data)
    strip = missing_strip(data, tables.implementations, sheet)
    cut = False
    for panel in sheet.panels():
        cut |= line_panel(panel, "msg_bytes", tables.implementations, scale, strip)
        size_axis(panel.axes, data["msg_bytes"], sheet.panel_width_cm)
        first = panel.data.iloc[0]
        side = str(first["quantity"]).rpartition(", ")[2]
        if sheet.is_top(panel):
            panel.axes.set_title(f"{side}, {counted(first['n_threads'], 'thread')}")
        sheet.label(panel.place, "message size", shown.label)
    note = [
        "Of the sender alone, since nobody receives." if alone else "",
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale.kind]}, the same in all panels.",
        _WHY.get(cost.reason, ""),
        context_note(sheet),
        CUT_NOTE if cut else "",
        strip.note,
        left_out(every, counts, "threads"),
    ]
    return Drawn(finish(sheet, data, tables.legend, note), data)
