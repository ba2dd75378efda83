"""Figure: throughput against message size, one panel per thread count."""

from copycost.figures.axes import SCALE_NOTE, scale_of
from copycost.figures.layout import finish, groups_of, new_sheet
from copycost.figures.line_panels import Frame, draw_panels, threads_title
from copycost.figures.lines import MODES_NOTE
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

_QUANTITY = Quantity("throughput", "Gbit/s", 1e-9)
_COLUMNS_MOST = 3


@styled
def draw(tables: Tables) -> Drawn:
    """Draw received bits per second against message size.

    All panels share one vertical axis, so that thread counts can be compared by eye.
    """
    data = points(tables, {"throughput_bits_per_s": _QUANTITY})
    if data["value"].isna().all():
        return Drawn(empty_figure(f"No measured cells on {tables.condition}."), data)
    every, groups = data["n_threads"], groups_of(data)
    counts = spread(every, _COLUMNS_MOST if len(groups) > 1 else len(every))
    data = data[every.isin(counts)].reset_index(drop=True)
    row_cm = 5.2 if len(groups) == 1 else 3.9
    sheet = new_sheet(data, row_cm, column="n_threads", share_y=True, groups=groups)
    scale = scale_of(data)
    of_panels = draw_panels(
        sheet,
        data,
        "msg_bytes",
        tables.implementations,
        lambda panel: Frame(scale, _QUANTITY.label, threads_title(sheet, panel)),
    )
    note = [
        "Bytes are those sent and not lost, since nobody receives." if len(tables.sides) == 1
        else "",
        interval_note(data, confidence(tables.summary)),
        f"{SCALE_NOTE[scale.kind]}, the same in all panels.",
        MODES_NOTE if data["lower_mode"].notna().any() else "",
        *of_panels,
        left_out(every, counts, "threads"),
    ]  # fmt: skip
    return Drawn(finish(sheet, data, tables.legend, note), data)
