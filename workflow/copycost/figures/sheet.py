"""The sheet a figure stands on: panels between a legend above and a note below."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from copycost.figures.style import CM, QUIET, WIDTH_CM, looks

_NOTE_PT = 7.2
_NOTE_CHARACTERS = 126
_NOTE_ROW_CM = 0.37
_LEGEND_ROW_CM = 0.44
_LEGEND_CHARACTERS = 88
_PAD_CM = 0.15


@dataclass(frozen=True, slots=True)
class Sheet:
    """A figure with a grid of panels.

    Attributes
    ----------
    figure
        The whole sheet.
    panels
        Shape (rows, columns).
    panel_width_cm
        Width inside one panel's axes, about.
    row_height_cm
        Height of one row of panels with titles and ticks.
    """

    figure: Figure
    panels: np.ndarray
    panel_width_cm: float
    row_height_cm: float

    @property
    def flat(self) -> list[Axes]:
        """Return the panels in reading order."""
        return list(self.panels.flat)

    def label(self, place: int, n_panels: int, x_label: str, y_label: str) -> None:
        """Label the axes of panel number `place` where no neighbour says it already."""
        axes, n_columns = self.flat[place], self.panels.shape[1]
        if place % n_columns == 0:
            axes.set_ylabel(y_label)
        if place + n_columns >= n_panels:
            axes.set_xlabel(x_label)
        else:
            axes.tick_params(labelbottom=False)


def new_sheet(
    shape: tuple[int, int], row_height_cm: float, *, share_y: Literal["none", "row", "all"] = "none"
) -> Sheet:
    """Return an empty sheet as wide as the text.

    Parameters
    ----------
    shape
        Rows and columns of panels.
    row_height_cm
        Height of one row with its titles and ticks.
    share_y
        Which panels share a vertical axis: ``none``, ``row`` or ``all``.
    """
    figure = Figure(layout="constrained")
    panels = figure.subplots(*shape, squeeze=False, sharey=share_y)
    beside_axes_cm = 1.6 if share_y == "none" else 0.9
    return Sheet(figure, panels, WIDTH_CM / shape[1] - beside_axes_cm, row_height_cm)


def wrapped_shape(n_panels: int, n_wide: int = 6) -> tuple[int, int]:
    """Return rows and columns for panels that are read line by line.

    Two columns keep panels wide; beyond `n_wide` panels a third keeps them on one page.
    """
    columns = min(n_panels, 2 if n_panels <= n_wide else 3)
    return -(-n_panels // columns), columns


def finish(
    sheet: Sheet, data: pd.DataFrame, implementations: Sequence[str], note: Sequence[str]
) -> Figure:
    """Hide unused panels, put the legend above and the note below, and size the figure.

    Parameters
    ----------
    sheet
        The sheet with its panels drawn.
    data
        The points of the figure (see `tables.COLUMNS`); decides what the legend explains.
    implementations
        All implementations of the run, in order.
    note
        Sentences that say how to read the figure.
    """
    for axes in sheet.flat:
        if not axes.has_data():
            axes.set_visible(False)
    handles = _legend_handles(data, implementations)
    columns = _legend_columns([str(handle.get_label()) for handle in handles])
    legend_cm = -(-len(handles) // columns) * _LEGEND_ROW_CM if handles else 0.0
    lines = textwrap.wrap(" ".join(filter(None, note)), _NOTE_CHARACTERS)
    note_cm = len(lines) * _NOTE_ROW_CM
    height_cm = legend_cm + sheet.panels.shape[0] * sheet.row_height_cm + note_cm + 2 * _PAD_CM
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


def _legend_columns(labels: Sequence[str]) -> int:
    """Return how many columns of labels fit the width; handles take about seven characters."""
    longest = max((len(label) for label in labels), default=0) + 9
    return max(1, min(len(labels), _LEGEND_CHARACTERS // longest))


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
    figure.text(0.5, 0.5, textwrap.fill(sentence, 85), ha="center", va="center")
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
    level = "" if confidence is None else f"{confidence * 100:g} % "
    return f"Points: median of {few}{most} repetitions; bars: {level}bootstrap interval."
