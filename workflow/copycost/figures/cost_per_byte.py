"""Figure: cost per byte against message size, one panel per thread count."""

from copycost.figures.axes import SCALE_NOTE, scale_of
from copycost.figures.layout import Panel, finish, groups_of, new_sheet
from copycost.figures.line_panels import Frame, draw_panels, threads_title
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
from copycost.figures.text import empty_figure, interval_note

_COLUMNS_MOST = 2
_WHY = {
    "cycles_not_counted": "Cycles were not counted on this host.",
    "cycles_user_mode_only": "Cycles were counted in user mode only and are not shown.",
}


@styled
def draw(tables: Tables) -> Drawn:
    """Draw what a received byte costs both sides together, or the sender where nobody receives.

    The cost is the best that the run could count: cycles, else CPU time, else reference cycles; the
    axis and the note say which. All panels share one vertical axis.
    """
    cost, side = tables.cost, tables.sides[-1]
    shown = Quantity(cost.label, f"{cost.unit}/B")
    data = points(tables, {cost.column(side): Quantity(f"{shown.name}, {side}", shown.unit)})
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    every, groups = data["n_threads"], groups_of(data)
    counts = spread(every, _COLUMNS_MOST if len(groups) > 1 else len(every))
    data = data[every.isin(counts)].reset_index(drop=True)
    sheet = new_sheet(data, 4.4, column="n_threads", share_y=True, groups=groups)
    scale = scale_of(data)

    def frame_of(panel: Panel) -> Frame:
        threads = threads_title(sheet, panel)
        return Frame(scale, shown.label, f"{side}, {threads}" if threads else "")

    of_panels = draw_panels(sheet, data, "msg_bytes", tables.implementations, frame_of)
    note = [
        "Of the sender alone, since nobody receives." if len(tables.sides) == 1 else "",
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale.kind]}, the same in all panels.",
        _WHY.get(cost.reason, ""),
        *of_panels,
        left_out(every, counts, "threads"),
    ]
    return Drawn(finish(sheet, data, tables.legend, note), data)
