"""Figure: duration of a send against threads: median and 99th percentile, by message size."""

from copycost.figures.axes import SCALE_NOTE, scale_of
from copycost.figures.layout import Panel, finish, groups_of, new_sheet
from copycost.figures.line_panels import Frame, draw_panels, size_title
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

_QUANTITIES = {
    "service_median_ns": Quantity("median", "µs", 1e-3),
    "service_p99_ns": Quantity("p99", "µs", 1e-3),
}
_COLUMNS_MOST = 3
_TAIL = "service_p99_ns"


@styled
def draw(tables: Tables) -> Drawn:
    """Draw how long a send takes, over the sampled ones, against the number of threads.

    Rows are median and 99th percentile, columns are message sizes; each panel has an axis of its
    own, since a large message takes a thousand times as long as a small one. Where there are too
    many implementations for one panel, their families are the rows, and only the 99th percentile
    is drawn.
    """
    data = points(tables, _QUANTITIES)
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No sampled sends on {tables.condition}."), data)
    groups = groups_of(data)
    crowded = len(groups) > 1
    # sizes that were added for one number of threads show nothing along the threads
    counts = data.groupby("msg_bytes")["n_threads"].transform("nunique")
    every = data.loc[counts == counts.max(), "msg_bytes"]
    sizes = spread(every, _COLUMNS_MOST)
    shown = data[data["msg_bytes"].isin(sizes)]
    if crowded:
        shown = shown[shown["quantity"] == _QUANTITIES[_TAIL].name]
    shown = shown.reset_index(drop=True)
    row = None if crowded else "quantity"
    sheet = new_sheet(shown, 3.6, column="msg_bytes", row=row, groups=groups)

    def frame_of(panel: Panel) -> Frame:
        name = panel.data["quantity"].iloc[0]
        title = size_title(sheet, panel) if panel.place < sheet.n_columns else ""
        return Frame(scale_of(panel.data, "log"), f"{name} [µs]", title)

    of_panels = draw_panels(sheet, shown, "n_threads", tables.implementations, frame_of)
    note = [
        "Duration of sampled sends, from the call to its return.",
        interval_note(shown, confidence(tables.summary)),
        f"{SCALE_NOTE['log']}, one of its own in each panel.",
        *of_panels,
        left_out(every, sizes, "B"),
    ]
    return Drawn(finish(sheet, shown, tables.legend, note), shown)
