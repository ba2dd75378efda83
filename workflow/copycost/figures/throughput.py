"""Figure: throughput against message size, one panel per thread count."""

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, size_axis, value_axis
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.sheet import empty_figure, finish, interval_note, new_sheet, wrapped_shape
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Quantity, Tables, confidence, counted, points

_QUANTITY = Quantity("throughput", "Gbit/s", 1e-9)


@styled
def draw(tables: Tables) -> Drawn:
    """Draw received bits per second against message size.

    All panels share one vertical axis, so that thread counts can be compared by eye.
    """
    data = points(tables, {"throughput_bits_per_s": _QUANTITY})
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.testbed}."), data)
    counts = sorted(data["n_threads"].unique())
    sheet = new_sheet(wrapped_shape(len(counts)), 5.2, share_y="all")
    scale = scale_of(data)
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    cut = False
    for place, count in enumerate(counts):
        axes = sheet.flat[place]
        panel = data[data["n_threads"] == count]
        line_panel(axes, panel, "msg_bytes", tables.implementations, strip)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        cut |= value_axis(axes, data, scale, strip.share)
        axes.set_title(counted(count, "thread"))
        sheet.label(place, len(counts), "message size", _QUANTITY.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale]}, the same in all panels.",
        CUT_NOTE if cut else "",
        strip.note,
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
