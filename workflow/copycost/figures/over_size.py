"""Lines of several quantities against message size, as two figures of each condition have them."""

from collections.abc import Sequence

import pandas as pd

from copycost.figures.axes import SCALE_NOTE, scale_of
from copycost.figures.layout import Panel, finish, groups_of, new_sheet
from copycost.figures.lines import MODES_NOTE, Frame, draw_panels
from copycost.figures.tables import Drawn, Tables, confidence, counted, left_out, spread
from copycost.figures.text import interval_note


def draw_over_size(tables: Tables, data: pd.DataFrame, whose: str, note: Sequence[str]) -> Drawn:
    """Draw the points of every quantity of a condition.

    Each quantity has a row, with one column per thread count; of a single thread count, or where
    families of implementations are the rows, the quantities stand side by side. The panels of a
    quantity share their vertical axis. The note below says `whose` first, and `note` last.
    """
    every, names = data["n_threads"], list(dict.fromkeys(data["quantity"]))
    groups = groups_of(data)
    crowded, alone = len(groups) > 1, len(names) == 1
    # so many columns can be read; panels of one quantity alone are wrapped
    most = (3 if alone else 1) if crowded else (9 if alone else 4)
    counts = spread(every, most)
    data = data[every.isin(counts)].reset_index(drop=True)
    labels = {
        name: f"{name} [{unit}]" if unit else name
        for name, unit in zip(data["quantity"], data["unit"], strict=True)
    }
    scales = {name: scale_of(data[data["quantity"] == name]) for name in names}
    beside = not alone and len(counts) == 1

    def frame_of(panel: Panel) -> Frame:
        name, n_threads = panel.data[["quantity", "n_threads"]].iloc[0]
        if beside:
            return Frame(scales[name], "", labels[name] if sheet.is_top(panel) else "")
        is_top = sheet.is_top(panel) if alone else panel.place < len(counts)
        return Frame(scales[name], labels[name], counted(n_threads, "thread") if is_top else "")

    if beside:
        sheet = new_sheet(data, 4.2, column="quantity", groups=groups)
    elif alone:
        sheet = new_sheet(data, 4.8, column="n_threads", share_y=True, groups=groups)
    else:
        sheet = new_sheet(data, 3.7, row="quantity", column="n_threads", share_y="row")
    of_panels = draw_panels(sheet, data, "msg_bytes", tables.implementations, frame_of)
    of_kind: dict[str, list[str]] = {}
    for name, scale in scales.items():
        of_kind.setdefault(scale.kind, []).append(name)
    scale_notes = [
        f"{SCALE_NOTE[kind]}: {', '.join(those)}." if len(of_kind) > 1 else f"{SCALE_NOTE[kind]}."
        for kind, those in of_kind.items()
    ]
    said = [
        whose,
        f"{counted(counts[0], 'thread')}." if beside else "",
        interval_note(data, confidence(tables.summary)),
        *scale_notes,
        MODES_NOTE if data["lower_mode"].notna().any() else "",
        *note,
        *of_panels,
        left_out(every, counts, "threads"),
    ]
    return Drawn(finish(sheet, data, tables.legend, said), data)
