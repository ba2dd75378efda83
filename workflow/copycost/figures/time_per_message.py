"""Figure: time per message against threads, one panel per message size; of audited tables."""

import pandas as pd

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, size_axis, thread_axis
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
from copycost.figures.text import empty_figure, interval_note, size_label

_QUANTITY = Quantity("time per message", "µs", 1e-3)
_PANELS_MOST = 15
_COLUMNS_MOST = 3


@styled
def draw(tables: Tables) -> Drawn:
    """Draw the mean time that one thread spends on one message.

    Against the number of threads, each panel with its own vertical axis from 0: a large message
    takes a thousand times as long as a small one, and the question is what threads add to either.
    With a single thread count, against message size instead.
    """
    data = points(tables, {"service_mean_ns": _QUANTITY})
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    if data["n_threads"].nunique() == 1 and data["msg_bytes"].nunique() > 1:
        return _against_size(tables, data)
    every, groups = data["msg_bytes"], groups_of(data)
    sizes = spread(every, _COLUMNS_MOST if len(groups) > 1 else _PANELS_MOST)
    data = data[every.isin(sizes)].reset_index(drop=True)
    sheet = new_sheet(data, 4.3, column="msg_bytes", groups=groups)
    strip = missing_strip(data, tables.implementations, sheet)
    kinds = {scale_of(part).kind for _, part in data.groupby("msg_bytes")}
    kind = "linear" if kinds == {"linear"} else "log"
    cut = False
    for panel in sheet.panels():
        scale = scale_of(panel.data, kind)
        cut |= line_panel(panel, "n_threads", tables.implementations, scale, strip)
        thread_axis(panel.axes, data["n_threads"], sheet.panel_width_cm)
        if sheet.is_top(panel):
            panel.axes.set_title(size_label(panel.data["msg_bytes"].iloc[0]))
        sheet.label(panel.place, "threads", _QUANTITY.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[kind]}, one of its own for each message size.",
        context_note(sheet),
        CUT_NOTE if cut else "",
        strip.note,
        left_out(every, sizes, "B"),
    ]
    return Drawn(finish(sheet, data, tables.legend, note), data)


def _against_size(tables: Tables, data: pd.DataFrame) -> Drawn:
    groups = groups_of(data)
    sheet = new_sheet(data, 5.2 if len(groups) == 1 else 3.9, column="n_threads", groups=groups)
    strip = missing_strip(data, tables.implementations, sheet)
    scale = scale_of(data)
    cut = False
    for panel in sheet.panels():
        cut |= line_panel(panel, "msg_bytes", tables.implementations, scale, strip)
        size_axis(panel.axes, data["msg_bytes"], sheet.panel_width_cm)
        if sheet.is_top(panel):
            panel.axes.set_title(counted(panel.data["n_threads"].iloc[0], "thread"))
        sheet.label(panel.place, "message size", _QUANTITY.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale.kind]}.",
        context_note(sheet),
        CUT_NOTE if cut else "",
        strip.note,
    ]
    return Drawn(finish(sheet, data, tables.legend, note), data)
