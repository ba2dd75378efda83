"""The sheet a figure stands on: panels between a legend above and a note below."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from copycost.figures.style import CM, QUIET, RC, WIDTH_CM, looks

_NOTE_PT = 7.2
_LABEL_PT = 8.5
_NOTE_ROW_CM = 0.37
_LEGEND_ROW_CM = 0.44
_LEGEND_HANDLE_CM = 1.9
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

    @property
    def panel_height_cm(self) -> float:
        """Return the height inside one panel's axes, about."""
        return self.row_height_cm - 1.0

    def label(self, place: int, n_panels: int, x_label: str, y_label: str) -> None:
        """Label the axes of panel number `place` where no neighbour says it already."""
        axes, n_columns = self.flat[place], self.panels.shape[1]
        if place % n_columns == 0:
            # A label that is longer than its axis puts the unit on a second line.
            long = text_width_cm(y_label, _LABEL_PT) > self.panel_height_cm
            axes.set_ylabel(y_label.replace(" [", "\n[") if long else y_label)
        if place // n_columns == (n_panels - 1) // n_columns:
            axes.set_xlabel(x_label)
        elif n_panels % n_columns == 0:
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
    sheet: Sheet,
    data: pd.DataFrame,
    implementations: Sequence[str],
    note: Sequence[str],
    extra_cm: float = 0.0,
) -> Figure:
    """Hide unused panels, put the legend above and the note below, and size the figure.

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
    for axes in sheet.flat:
        if not (axes.has_data() or axes.patches):
            axes.set_visible(False)
    handles = _legend_handles(data, implementations)
    columns = _legend_columns([str(handle.get_label()) for handle in handles])
    legend_cm = -(-len(handles) // columns) * _LEGEND_ROW_CM if handles else 0.0
    lines = wrap(" ".join(filter(None, note)), WIDTH_CM - 0.4, _NOTE_PT)
    note_cm = len(lines) * _NOTE_ROW_CM
    panels_cm = sheet.panels.shape[0] * sheet.row_height_cm + extra_cm
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
    for word in text.split():
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
    level = "" if confidence is None else f"{confidence * 100:g} % "
    return f"Points: median of {few}{most} repetitions; bars: {level}bootstrap interval."
