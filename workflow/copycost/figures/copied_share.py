"""Figure: share of zero-copy completions that the kernel copied, against message size."""

from copycost.figures.axes import size_axis
from copycost.figures.lines import line_panel, missing_strip
from copycost.figures.sheet import empty_figure, finish, interval_note, new_sheet, wrapped_shape
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Quantity, Tables, confidence, counted, points

_QUANTITY = Quantity("completions copied", "%", 100)


@styled
def draw(tables: Tables) -> Drawn:
    """Draw how often the kernel copied although it was asked not to, per thread count."""
    data = points(tables, {"zc_copied_share": _QUANTITY})
    # Implementations that never ask for zero copy have no such share; they are not missing.
    asking = data.loc[data["value"].notna(), "implementation"].unique()
    data = data[data["implementation"].isin(asking)].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(f"No zero-copy completions on {tables.testbed}."), data)
    counts = sorted(data["n_threads"].unique())
    sheet = new_sheet(wrapped_shape(len(counts)), 3.9, share_y="all")
    strip = missing_strip(data, tables.implementations, sheet.panel_height_cm)
    for place, count in enumerate(counts):
        axes = sheet.flat[place]
        panel = data[data["n_threads"] == count]
        line_panel(axes, panel, "msg_bytes", tables.implementations, strip)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        axes.grid(axis="y")
        axes.set_ylim(-4, 106 / (1 - strip.share))
        axes.set_yticks([0, 25, 50, 75, 100])
        axes.set_title(counted(count, "thread"))
        sheet.label(place, len(counts), "message size", _QUANTITY.label)
    note = [
        "100 %: the kernel copied every message that was sent with zero copy; 0 %: none.",
        interval_note(data, confidence(tables.summary)),
        strip.note,
    ]
    return Drawn(finish(sheet, data, tables.implementations, note), data)
