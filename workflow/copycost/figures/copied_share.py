"""Figure: share of zero-copy completions that the kernel copied, against message size."""

from copycost.figures.axes import CUT_NOTE, Scale, size_axis
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.sheet import NBSP, empty_figure, finish, interval_note, new_sheet
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Quantity, Tables, confidence, counted, points

_QUANTITY = Quantity("completions copied", "%", 100)
_WHOLE = Scale("linear", -4.0, 106.0, 1.0)


@styled
def draw(tables: Tables) -> Drawn:
    """Draw how often the kernel copied although it was asked not to, per thread count."""
    data = points(tables, {"zc_copied_share": _QUANTITY})
    # Implementations that never ask for zero copy have no such share; they are not missing.
    asking = data.loc[data["value"].notna(), "implementation"].unique()
    data = data[data["implementation"].isin(asking)].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(f"No zero-copy completions on {tables.testbed}."), data)
    sheet = new_sheet(data, 3.9, column="n_threads", share_y=True)
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    cut = False
    for place, axes, part in sheet.panels():
        cut |= line_panel(axes, part, "msg_bytes", tables.implementations, _WHOLE, strip)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        axes.set_yticks([0, 25, 50, 75, 100])
        axes.set_title(counted(part["n_threads"].iloc[0], "thread"))
        sheet.label(place, "message size", _QUANTITY.label)
    note = [
        f"100{NBSP}%: the kernel copied every message sent with zero copy; 0{NBSP}%: none.",
        interval_note(data, confidence(tables.summary)),
        CUT_NOTE if cut else "",
        strip.note,
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
