"""Figure: service time of a message against threads, one panel per message size."""

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, thread_axis
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.sheet import empty_figure, finish, interval_note, new_sheet
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
from copycost.sizes import format_size

_QUANTITY = Quantity("service time", "µs", 1e-3)
_PANELS_MOST = 15


@styled
def draw(tables: Tables) -> Drawn:
    """Draw the mean time that one thread spends on one message against the number of threads.

    Each panel has its own vertical axis from 0: a large message takes a thousand times as long as
    a small one, and the question is what threads add to either.
    """
    data = points(tables, {"service_mean_ns": _QUANTITY})
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.testbed}."), data)
    every = data["msg_bytes"]
    sizes = spread(every, _PANELS_MOST)
    data = data[every.isin(sizes)].reset_index(drop=True)
    sheet = new_sheet(data, 4.3, column="msg_bytes")
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    kinds = {scale_of(part).kind for _, part in data.groupby("msg_bytes")}
    kind = "linear" if kinds == {"linear"} else "log"
    cut = False
    for place, axes, part in sheet.panels():
        scale = scale_of(part, kind)
        cut |= line_panel(axes, part, "n_threads", tables.implementations, scale, strip)
        thread_axis(axes, data["n_threads"], sheet.panel_width_cm)
        axes.set_title(format_size(part["msg_bytes"].iloc[0]))
        sheet.label(place, "threads", _QUANTITY.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[kind]}, one of its own for each message size.",
        CUT_NOTE if cut else "",
        strip.note,
        left_out(every, sizes, "B"),
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
