"""The sheet a figure stands on: panels between a legend above and a note below."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from copycost.figures.style import CM, QUIET, RC, WIDTH_CM, looks
from copycost.stats.medians import METHOD

_NOTE_PT = 7.2
_LABEL_PT = 8.5
_NOTE_ROW_CM = 0.37
_LEGEND_ROW_CM = 0.44
_LEGEND_HANDLE_CM = 1.9
_PAD_CM = 0.15
_WRAP_WIDE = 6

NBSP = "\N{NO-BREAK SPACE}"
"""Keeps a number and what follows it on one line of a note."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A figure with a grid of panels, one per value of a column of its data, or of two.

    Attributes
    ----------
    grid
        The panels; those of a wrapped column are read line by line.
    n_columns
        Panels side by side.
    panel_width_cm
        Width inside one panel's axes, about.
    row_height_cm
        Height of one row of panels with titles and ticks.
    """

    grid: sns.FacetGrid
    n_columns: int
    panel_width_cm: float
    row_height_cm: float

    @property
    def figure(self) -> Figure:
        """Return the whole sheet."""
        return self.grid.figure

    @property
    def n_panels(self) -> int:
        """Return the number of panels."""
        return int(self.grid.axes.size)

    @property
    def panel_height_cm(self) -> float:
        """Return the height inside one panel's axes, about."""
        return self.row_height_cm - 1.0

    def panels(self) -> Iterator[tuple[int, Axes, pd.DataFrame]]:
        """Return each panel's number, axes and part of the data, in reading order."""
        for (row, column, _), part in self.grid.facet_data():
            place = row * self.n_columns + column
            yield place, self.grid.axes.flat[place], part

    def label(self, place: int, x_label: str, y_label: str) -> None:
        """Label the axes of panel number `place` where no neighbour says it already."""
        axes, last = self.grid.axes.flat[place], self.n_panels - 1
        axes.set(xlabel="", ylabel="")
        if place % self.n_columns == 0:
            # A label that is longer than its axis puts the unit on a second line.
            long = text_width_cm(y_label, _LABEL_PT) > self.panel_height_cm
            axes.set_ylabel(y_label.replace(" [", "\n[") if long else y_label)
        if place // self.n_columns == last // self.n_columns:
            axes.set_xlabel(x_label)
        elif self.n_panels % self.n_columns == 0:
            axes.tick_params(labelbottom=False)


def new_sheet(
    data: pd.DataFrame,
    row_height_cm: float,
    *,
    column: str,
    row: str | None = None,
    n_columns: int | None = None,
    share_y: Literal["row"] | bool = False,
) -> Sheet:
    """Return an empty sheet as wide as the text.

    Parameters
    ----------
    data
        The points of the figure.
    row_height_cm
        Height of one row of panels with its titles and ticks.
    column, row
        The columns of `data` that a panel stands for one value of. Without `row`, the panels of
        `column` are wrapped.
    n_columns
        Panels side by side when wrapped; without it, two, or three where there are many.
    share_y
        Which panels share a vertical axis: all, those of a row, or none.
    """
    n_values = int(data[column].nunique())
    if row is not None:
        n_columns = n_values
    elif n_columns is None:
        n_columns = min(n_values, 2 if n_values <= _WRAP_WIDE else 3)
    grid = sns.FacetGrid(
        data,
        col=column,
        row=row,
        col_wrap=n_columns if row is None else None,
        sharex=False,
        sharey=share_y,
    )
    # The grid made its figure through pyplot, which would keep it for ever.
    plt.close(grid.figure)
    grid.figure.set_layout_engine("constrained")
    for axes in grid.axes.flat:
        axes.set_title("")
    beside_axes_cm = 0.9 if share_y else 1.6
    return Sheet(grid, n_columns, WIDTH_CM / n_columns - beside_axes_cm, row_height_cm)


def finish(
    sheet: Sheet,
    data: pd.DataFrame,
    implementations: Sequence[str],
    note: Sequence[str],
    extra_cm: float = 0.0,
) -> Figure:
    """Put the legend above and the note below, and size the figure.

    Parameters
    ----------
    sheet
        The sheet with its panels drawn.
    data
        The points of the figure (see `tables.COLUMNS`); decides what the legend explains.
    implementations
        All implementations of the run, in order; none, where no legend is wanted.
    note
        Sentences that say how to read the figure; empty ones are passed over.
    extra_cm
        Height that something between panels and note needs.
    """
    handles = _legend_handles(data, implementations)
    columns = _legend_columns([str(handle.get_label()) for handle in handles])
    legend_cm = -(-len(handles) // columns) * _LEGEND_ROW_CM if handles else 0.0
    lines = wrap(" ".join(filter(None, note)), WIDTH_CM - 0.4, _NOTE_PT)
    note_cm = len(lines) * _NOTE_ROW_CM
    n_rows = -(-sheet.n_panels // sheet.n_columns)
    panels_cm = n_rows * sheet.row_height_cm + extra_cm
    height_cm = legend_cm + panels_cm + note_cm + 2 * _PAD_CM
    figure = sheet.figure
    figure.set_size_inches(WIDTH_CM * CM, height_cm * CM)
    engine = figure.get_layout_engine()
    assert engine is not None
    bottom, top = (note_cm + _PAD_CM) / height_cm, (legend_cm + _PAD_CM) / height_cm
    engine.set(rect=(0, bottom, 1, 1 - bottom - top), w_pad=0.06, h_pad=0.05)  # type: ignore[call-arg]
    if handles:
        figure.legend(
            handles=handles, ncols=columns, loc="upper left", borderpad=0.2, handlelength=3.2,
            columnspacing=1.8, bbox_to_anchor=(0, 1), labelspacing=0.35,
        )  # fmt: skip
    if lines:
        figure.text(
            0.008, 0.06 / height_cm, "\n".join(lines),
            fontsize=_NOTE_PT, color=QUIET, va="bottom", ha="left", linespacing=1.35,
        )  # fmt: skip
    return figure


def text_width_cm(text: str, points: float) -> float:
    """Return the width of a line of text in the figures' typeface."""
    font = FontProperties(family=RC["font.family"], size=points)
    outline = TextPath((0, 0), text, prop=font).vertices
    return float(outline[:, 0].max()) / 72 / CM if len(outline) else 0.0


def wrap(text: str, width_cm: float, points: float) -> list[str]:
    """Break a text at its spaces into lines that are no wider than `width_cm`."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and text_width_cm(f"{lines[-1]} {word}", points) <= width_cm:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _legend_columns(labels: Sequence[str]) -> int:
    """Return how many columns of labels, each with its line before it, fit the width."""
    longest = max((text_width_cm(label, _LABEL_PT) for label in labels), default=0.0)
    return max(1, min(len(labels), int(WIDTH_CM / (longest + _LEGEND_HANDLE_CM))))


def _legend_handles(data: pd.DataFrame, implementations: Sequence[str]) -> list[Line2D]:
    styles = looks(implementations)
    handles = []
    for name in implementations:
        if (data["implementation"] == name).any():
            handles.append(Line2D([], [], **styles[name].as_line(), label=name))
    return handles


def empty_figure(sentence: str) -> Figure:
    """Return a low figure that says why there is nothing to draw."""
    figure = Figure(figsize=(WIDTH_CM * CM, 3 * CM))
    figure.text(
        0.5, 0.5, "\n".join(wrap(sentence, WIDTH_CM - 2, _LABEL_PT)), ha="center", va="center"
    )
    return figure


def interval_note(data: pd.DataFrame, confidence: float | None) -> str:
    """Return the sentence that says what a point and its bar are."""
    measured = data[data["n"] > 0]
    if measured.empty:
        return ""
    most = int(measured["n"].max())
    if most == 1:
        return "Points: one repetition each, so there is no interval."
    few = "" if (measured["n"] == most).all() else "up to "
    level = "" if confidence is None else f"{confidence * 100:g}{NBSP}% "
    return f"Points: median of {few}{most}{NBSP}repetitions; bars: {level}{METHOD}."
