"""Figure: throughput against message size, one panel per thread count."""

from copycost.figures.axes import CUT_NOTE, SCALE_NOTE, scale_of, size_axis
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.sheet import empty_figure, finish, interval_note, new_sheet
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
    sheet = new_sheet(data, 5.2, column="n_threads", share_y=True)
    scale = scale_of(data)
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    cut = False
    for place, axes, part in sheet.panels():
        cut |= line_panel(axes, part, "msg_bytes", tables.implementations, scale, strip)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        axes.set_title(counted(part["n_threads"].iloc[0], "thread"))
        sheet.label(place, "message size", _QUANTITY.label)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale.kind]}, the same in all panels.",
        CUT_NOTE if cut else "",
        strip.note,
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
