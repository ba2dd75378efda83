"""Draws the ratios of two sides, and writes and typesets the report of a comparison."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.compare.audit.report import typeset
from copycost.compare.runs.facts import cells_table
from copycost.compare.runs.tables import ABOUT, NAMES, end_of, table_rows
from copycost.figures.axes import SCALE_NOTE, scale_of, size_axis, value_axis
from copycost.figures.layout import finish, new_sheet
from copycost.figures.lines import draw_lines
from copycost.figures.markers import families, in_order
from copycost.figures.output import save
from copycost.figures.style import INK, styled
from copycost.figures.tables import Drawn, Legend
from copycost.records.files import write_json
from copycost.report.typeset import Format
from copycost.wording.words import plural

TITLE = "Two sides compared"
_ROW_CM = 4.6
_PANELS_MOST = 12


def write_report(facts: Facts, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """Write facts, the table of cells, figures and the report into a folder; return the reports."""
    drawn = folder / "figures" / "ratios"
    drawn.mkdir(parents=True, exist_ok=True)
    write_json(facts, folder / "facts.json")
    cells = cells_table(facts)
    cells.to_csv(folder / "cells.csv", index=False)
    figures: list[Path] = []
    shown: dict[str, list[str]] = {}
    for quantity in facts["quantities"]:
        name = quantity["name"]
        shown[name] = []
        for number, figure in enumerate(figures_of(cells[cells["quantity"] == name]), 1):
            svg = drawn / f"{name}_{number}.svg"
            save(figure, svg)
            figures.append(svg)
            shown[name].append(f"assets/ratios/{svg.name}")
    return typeset(
        "between_runs.qmd.j2", folder, figures, formats, title=TITLE, subtitle=_sides(facts, str),
        running=_sides(facts, end_of), compared=facts, rows=table_rows(facts), names=NAMES,
        figures=shown, **ABOUT,
    )  # fmt: skip


def _sides(facts: Facts, name: Callable[[str], str]) -> str:
    names = [
        name(runs[0]["folder"]) + (f" and {len(runs) - 1} more" if len(runs) > 1 else "")
        for runs in facts["sides"].values()
    ]
    return f"A: {names[0]}; B: {names[1]}"


def figures_of(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Yield the figures of a quantity: a panel per condition and number of threads, a few each."""
    rows = rows.sort_values(["condition", "n_threads"], kind="stable")
    threads = [plural(n_threads, "thread") for n_threads in rows["n_threads"]]
    rows = rows.assign(panel=rows["condition"] + ", " + threads)
    panels = rows["panel"].unique()
    for first in range(0, len(panels), _PANELS_MOST):
        part = rows[rows["panel"].isin(panels[first : first + _PANELS_MOST])]
        yield _draw(part.reset_index(drop=True))


@styled
def _draw(rows: pd.DataFrame) -> Drawn:
    data = rows.assign(value=rows["ratio"], lower_mode=np.nan, upper_mode=np.nan, n=rows["n_b"])
    names = in_order(list(dict.fromkeys(data["implementation"])))
    sheet = new_sheet(data, _ROW_CM, column="panel", share_y=True, groups=families(names))
    for panel in sheet.panels():
        axes = panel.axes
        axes.axhline(1.0, color=INK, lw=0.8, zorder=1.2)
        draw_lines(axes, panel.data, "msg_bytes", names)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        value_axis(axes, scale_of(data, "log"))
        if sheet.is_top(panel):
            axes.set_title(str(panel.data["panel"].iloc[0]))
        sheet.label(panel.place, "message size", "B / A")
    note = [f"{SCALE_NOTE['log']}; an interval may extend beyond it."]
    return Drawn(finish(sheet, data, Legend(tuple(names), {}), note), rows)
