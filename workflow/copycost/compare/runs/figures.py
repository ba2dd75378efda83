"""Figures of the ratios of two sides: a panel per condition and number of threads."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from copycost.figures.axes import size_axis
from copycost.figures.layout import finish, groups_of, new_sheet
from copycost.figures.lines import draw_lines
from copycost.figures.markers import in_order
from copycost.figures.style import INK, styled
from copycost.figures.tables import Drawn, Legend
from copycost.wording.words import plural

_ROW_CM = 4.6
_PANELS_MOST = 12
_REACH = (1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0, 5.0, 10.0)
"""How far the vertical axis goes to either side of 1: the same ratio up and down."""


def figures_of(cells: pd.DataFrame, quantity: str) -> Iterator[Drawn]:
    """Yield the figures of one quantity, of a few panels each.

    Parameters
    ----------
    cells
        As `copycost.compare.runs.facts.CELL_COLUMNS` says.
    """
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
    ticks = _ticks(reach)
    for panel in sheet.panels():
        axes = panel.axes
        axes.set_yscale("log")
        axes.axhline(1.0, color=INK, lw=0.8, zorder=1.2)
        draw_lines(axes, panel.data, "msg_bytes", names)
        size_axis(axes, data["msg_bytes"], sheet.panel_width_cm)
        axes.set_ylim(1 / reach, reach)
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
        axes.grid(axis="y")
        if sheet.is_top(panel):
            axes.set_title(str(panel.data["panel"].iloc[0]))
        sheet.label(panel.place, "message size", "B / A")
    note = ["Vertical axis logarithmic, as far down as up; an interval may go on beyond it."]
    figure = finish(sheet, data, Legend(tuple(names), {}), note)
    return Drawn(figure, rows)


def _ticks(reach: float) -> list[float]:
    """Return 1 and a few ratios to either side of it, each as far from the one before."""
    kept = [1.0]
    for tick in _REACH:
        if tick <= reach and np.log(tick / kept[-1]) >= 0.3 * np.log(reach):
            kept.append(tick)
    return sorted({*kept, *(1 / tick for tick in kept)})


def _reach(data: pd.DataFrame) -> float:
    """Return the least reach that holds every ratio, and most intervals."""
    ends = data[["low", "high"]].to_numpy(dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.abs(np.log(ends)).max(axis=1)
        least = float(np.abs(np.log(data["ratio"].to_numpy(dtype=np.float64))).max())
    known = far[np.isfinite(far)]
    wanted = max(least, float(np.quantile(known, 0.9)) if known.size else 0.0)
    return next((one for one in _REACH if np.log(one) >= wanted * 1.02), float(np.exp(least * 1.1)))
