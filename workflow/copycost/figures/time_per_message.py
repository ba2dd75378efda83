"""Figure: time per message against threads, one panel per message size; of audited tables."""

from copycost.figures.axes import SCALE_NOTE, scale_of
from copycost.figures.layout import Panel, finish, groups_of, new_sheet
from copycost.figures.lines import Frame, draw_panels
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Quantity, Tables, confidence, left_out, points, spread
from copycost.figures.text import empty_figure, interval_note, size_label

_QUANTITY = Quantity("time per message", "µs", 1e-3)
_PANELS_MOST = 15
_COLUMNS_MOST = 3


@styled
def draw(tables: Tables) -> Drawn:
    """Draw the mean time that one thread spends on one message.

    Against the number of threads, each panel with its own vertical axis from 0: a large message
    takes a thousand times as long as a small one, and the question is what threads add to either.
    """
    data = points(tables, {"service_mean_ns": _QUANTITY})
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    every, groups = data["msg_bytes"], groups_of(data)
    sizes = spread(every, _COLUMNS_MOST if len(groups) > 1 else _PANELS_MOST)
    data = data[every.isin(sizes)].reset_index(drop=True)
    sheet = new_sheet(data, 4.3, column="msg_bytes", groups=groups)
    kinds = {scale_of(part).kind for _, part in data.groupby("msg_bytes")}
    kind = "linear" if kinds == {"linear"} else "log"

    def frame_of(panel: Panel) -> Frame:
        size = size_label(panel.data["msg_bytes"].iloc[0])
        title = size if sheet.is_top(panel) else ""
        return Frame(scale_of(panel.data, kind), _QUANTITY.label, title)

    of_panels = draw_panels(sheet, data, "n_threads", tables.implementations, frame_of)
    note = [
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[kind]}, with a separate scale for each message size.",
        *of_panels,
        left_out(every, sizes, "B"),
    ]
    return Drawn(finish(sheet, data, tables.legend, note), data)
