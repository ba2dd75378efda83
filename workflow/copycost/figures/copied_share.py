"""Figure: share of zero-copy completions that the kernel copied, against message size."""

from copycost.figures.axes import Scale
from copycost.figures.layout import finish, groups_of, new_sheet
from copycost.figures.line_panels import Frame, draw_panels, threads_title
from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Quantity, Tables, confidence, points
from copycost.figures.text import empty_figure, interval_note
from copycost.wording.percent import NBSP

_QUANTITY = Quantity("completions copied", "%", 100)
_ONE_ROW = 4
_WHOLE = Scale("linear", -4.0, 106.0, 1.0)


@styled
def draw(tables: Tables) -> Drawn:
    """Draw how often the kernel copied although it was asked not to, per thread count."""
    data = points(tables, {"zc_copied_share": _QUANTITY})
    # Implementations that never ask for zero copy have no such share; they are not missing.
    asking = data.loc[data["value"].notna(), "implementation"].unique()
    data = data[data["implementation"].isin(asking)].reset_index(drop=True)
    if data.empty:
        return Drawn(empty_figure(f"No zero-copy completions on {tables.condition}."), data)
    n_counts = data["n_threads"].nunique()
    sheet = new_sheet(
        data,
        3.9,
        column="n_threads",
        # Mostly every share is the same, which takes little room to show.
        n_columns=n_counts if n_counts <= _ONE_ROW else None,
        share_y=True,
        groups=groups_of(data),
    )
    of_panels = draw_panels(
        sheet,
        data,
        "msg_bytes",
        tables.implementations,
        lambda panel: Frame(_WHOLE, _QUANTITY.label, threads_title(sheet, panel)),
    )
    for panel in sheet.panels():
        panel.axes.set_yticks([0, 25, 50, 75, 100])
    note = [
        f"100{NBSP}%: the kernel copied every message sent with zero copy; 0{NBSP}%: none.",
        interval_note(data, confidence(tables.summary)),
        *of_panels,
    ]
    return Drawn(finish(sheet, data, tables.legend, note), data)
