"""Draws the ratios of two sides, and writes and typesets the report of a comparison."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from copycost.analysis.json_values import Facts
from copycost.audit.report import typeset
from copycost.compare.runs.facts import cells_table
from copycost.compare.runs.folders import end_of
from copycost.compare.runs.tables import ABOUT, NAMES, table_rows
from copycost.figures.axes import size_axis
from copycost.figures.layout import finish, groups_of, new_sheet
from copycost.figures.lines import draw_lines
from copycost.figures.markers import in_order
from copycost.figures.output import save
from copycost.figures.style import INK, styled
from copycost.figures.tables import Drawn, Legend
from copycost.records.files import write_json
from copycost.report.render import Format
from copycost.wording.words import plural

TITLE = "Two sides compared"
_ROW_CM = 4.6
_PANELS_MOST = 12
_REACH = (1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0, 5.0, 10.0)
"""How far the vertical axis goes to either side of 1: the same ratio up and down."""


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
        for number, figure in enumerate(figures_of(cells, name), 1):
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
    sides = [facts["sides"][side] for side in ("a", "b")]
    names = [
        name(runs[0]["folder"]) + (f" and {len(runs) - 1} more" if len(runs) > 1 else "")
        for runs in sides
    ]
    return f"A: {names[0]}; B: {names[1]}"


def figures_of(cells: pd.DataFrame, quantity: str) -> Iterator[Drawn]:
    """Yield the figures of a quantity: a panel per condition and number of threads, a few each."""
    rows = cells[cells["quantity"] == quantity].copy()
    rows["panel"] = [
        f"{condition}, {plural(n_threads, 'thread')}"
        for condition, n_threads in zip(rows["condition"], rows["n_threads"], strict=True)
    ]
    rows = rows.sort_values(["condition", "n_threads"], kind="stable")
    panels = list(dict.fromkeys(rows["panel"]))
    for first in range(0, len(panels), _PANELS_MOST):
        part = rows[rows["panel"].isin(panels[first : first + _PANELS_MOST])]
        yield _draw(part.reset_index(drop=True))


@styled
def _draw(rows: pd.DataFrame) -> Drawn:
    data = rows.assign(value=rows["ratio"], lower_mode=np.nan, upper_mode=np.nan, n=rows["n_b"])
    names = in_order(list(dict.fromkeys(data["implementation"])))
    sheet = new_sheet(data, _ROW_CM, column="panel", share_y=True, groups=groups_of(data))
    reach = _reach(data)
    ticks = [1.0]  # and a few ratios to either side of it, each as far from the one before
    for tick in _REACH:
        if tick <= reach and np.log(tick / max(ticks)) >= 0.3 * np.log(reach):
            ticks += [tick, 1 / tick]
    for panel in sheet.panels():
        axes = panel.axes
        axes.set_yscale("log")
        axes.axhline(1.0, color=INK, lw=0.8, zorder=1.2)
        draw_lines(axes, panel.data, "msg_bytes", names)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        axes.set_ylim(1 / reach, reach)
        axes.yaxis.set_major_locator(FixedLocator(sorted(ticks)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
        axes.grid(axis="y")
        if sheet.is_top(panel):
            axes.set_title(str(panel.data["panel"].iloc[0]))
        sheet.label(panel.place, "message size", "B / A")
    note = ["Vertical axis logarithmic, as far down as up; an interval may go on beyond it."]
    figure = finish(sheet, data, Legend(tuple(names), {}), note)
    return Drawn(figure, rows)


def _reach(data: pd.DataFrame) -> float:
    """Return the least reach that holds every ratio, and most intervals."""
    ends = data[["low", "high"]].to_numpy(dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.abs(np.log(ends)).max(axis=1)
        least = float(np.abs(np.log(data["ratio"].to_numpy(dtype=np.float64))).max())
    known = far[np.isfinite(far)]
    wanted = max(least, float(np.quantile(known, 0.9)) if known.size else 0.0)
    return next((one for one in _REACH if np.log(one) >= wanted * 1.02), float(np.exp(least * 1.1)))
