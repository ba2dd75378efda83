"""Figure: service time of a message against threads, one panel per message size."""

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, thread_axis, value_axis
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.sheet import empty_figure, finish, interval_note, new_sheet, wrapped_shape
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
    sheet = new_sheet(wrapped_shape(len(sizes)), 4.3)
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    cut = False
    parts = [data[data["msg_bytes"] == size] for size in sizes]
    scale = "linear" if all(scale_of(part) == "linear" for part in parts) else "log"
    for place, (size, panel) in enumerate(zip(sizes, parts, strict=True)):
        axes = sheet.flat[place]
        line_panel(axes, panel, "n_threads", tables.implementations, strip)
        thread_axis(axes, data["n_threads"], sheet.panel_width_cm)
        cut |= value_axis(axes, panel, scale, strip.share)
        axes.set_title(format_size(size))
        sheet.label(place, len(sizes), "threads", _QUANTITY.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale]}, one of its own for each message size.",
        CUT_NOTE if cut else "",
        strip.note,
        left_out(every, sizes, "B"),
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
