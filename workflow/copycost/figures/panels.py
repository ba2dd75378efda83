"""Panels of points: a colour and marker per number of streams, fitted lines, the note below."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from copycost.figures.style import CM, WIDTH_CM
from copycost.figures.text import LABEL_PT, LEGEND_ROW_CM, NOTE_PT, put_note, wrap
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

# told apart with every kind of colour vision (Okabe and Ito), and by their markers
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_MARKERS = ("o", "s", "^", "D")
# left of a panel: its vertical axis, or the gap to the one before
_LEFT_OF_PANEL_CM = 0.9


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How the points of one number of streams look."""

    colour: str
    marker: str
    label: str


def line_styles_of(data: pd.DataFrame) -> Iterator[tuple[LineStyle, pd.DataFrame]]:
    """Yield the rows of each number of streams, and how they look."""
    for index, (n_threads, part) in enumerate(data.groupby("n_threads")):
        colour, marker = _COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)]
        yield LineStyle(colour, marker, plural(int(str(n_threads)), "stream")), part


PANELS_MOST = 4
"""So many panels beside each other can be read."""


def with_room(data: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the rows of the first `PANELS_MOST` panels, and a note that names the others."""
    panels = list(dict.fromkeys(data["panel"]))
    shown, left = panels[:PANELS_MOST], panels[PANELS_MOST:]
    note = f"Not drawn for lack of room: {'; '.join(left)}." if left else ""
    return data[data["panel"].isin(shown)].reset_index(drop=True), note


def grid_of(
    data: pd.DataFrame, row: str | None, panel_cm: float, *, share_y: bool
) -> sns.FacetGrid:
    """Return panels, a column for each value of `panel`, and a row for each value of `row`."""
    grid = sns.FacetGrid(
        data, col="panel", row=row, sharex=False, sharey="row" if share_y else False,
        height=panel_cm * CM,
    )  # fmt: skip
    grid.figure.set_layout_engine("constrained")
    return grid


def name_panel(grid: sns.FacetGrid, axes: Axes, title: str, x_label: str, y_label: str) -> None:
    """Put the title and the axes' labels of one panel, in lines that are no wider than it is."""
    width_cm = WIDTH_CM / len(grid.col_names) - _LEFT_OF_PANEL_CM
    quantity, bracket, unit = x_label.partition("[")
    whole = quantity + bracket + unit.replace(" ", NBSP)
    axes.set_title("\n".join(wrap(title, width_cm, LABEL_PT)))
    axes.set(xlabel="\n".join(wrap(whole, width_cm, LABEL_PT)), ylabel=y_label)


def draw_intervals(
    axes: Axes, data: pd.DataFrame, x: str, ends: tuple[str, str], look: LineStyle
) -> None:
    """Draw the intervals as vertical bars, where there are any."""
    known = data.dropna(subset=list(ends))
    axes.vlines(known[x], known[ends[0]], known[ends[1]], color=look.colour, linewidth=1.0)


def draw_fits(axes: Axes, data: pd.DataFrame, x: str, y: str) -> None:
    """Draw a fitted line for each number of streams, where it was fitted."""
    for look, part in line_styles_of(data):
        known = part.dropna(subset=y).sort_values(x)
        sns.lineplot(known, x=x, y=y, color=look.colour, estimator=None, legend=False, ax=axes)


def note_on_points(facts: Mapping[str, Any], low: pd.Series, *, cut: bool = False) -> str:
    """Return the sentences that say what points and bars are; without a lower end there are none.

    Bars that are cut may reach beyond the edge of the panel.
    """
    most = max((point["n"] for curve in facts["curves"] for point in curve["points"]), default=0)
    note = f"Points: medians of up to {most} repetitions."
    if low.notna().any():
        level = f"{facts['confidence'] * 100:g} %"
        note += f" Bars: {level} intervals{', cut at the edge' if cut else ''}."
    return note


def finish(
    grid: sns.FacetGrid, data: pd.DataFrame, note: Sequence[str], panels_cm: float
) -> Figure:
    """Put a legend above where there are several numbers of streams, and the note below."""
    figure: Figure = grid.figure
    axes = grid.axes.flat[0]
    handles, labels = axes.get_legend_handles_labels()
    legend_cm = 0.0
    if data["n_threads"].nunique() > 1 and handles:
        # above all panels: within one, it would lie on points
        figure.legend(
            handles, labels, loc="upper left", ncols=len(handles), borderpad=0.2,
            columnspacing=1.8, bbox_to_anchor=(0, 1),
        )  # fmt: skip
        legend_cm = LEGEND_ROW_CM
    put_note(figure, wrap(" ".join(note), WIDTH_CM, NOTE_PT), panels_cm, legend_cm)
    return figure
