"""Text on figures: how wide it is, where it breaks, and what every note says."""

from collections.abc import Iterable, Sequence
from functools import cache

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from copycost.figures.style import CM, QUIET, RC, WIDTH_CM
from copycost.stats.estimates import METHOD
from copycost.wording.filters import exact_size
from copycost.wording.numbers import NBSP

LABEL_PT = 8.5
NOTE_PT = 7.2
LEGEND_ROW_CM = 0.44
"""Height of a row of any legend above panels [cm]."""

_NOTE_ROW_CM = 0.37
_PAD_CM = 0.15


@cache
def text_width_cm(text: str, points: float) -> float:
    """Return the width of a line of text in the figures' typeface."""
    if not text:
        return 0.0  # matplotlib has no outline of nothing
    font = FontProperties(family=RC["font.family"], size=points)
    outline = TextPath((0, 0), text, prop=font).vertices
    return float(outline[:, 0].max()) / 72 / CM if len(outline) else 0.0


def size_label(n_bytes: int) -> str:
    """Return a size to the byte, with the digits grouped as in the report's text."""
    return exact_size(int(n_bytes)).replace(NBSP, " ")


def wrap(text: str, width_cm: float, points: float) -> list[str]:
    """Break a text at its spaces into lines that are no wider than `width_cm`."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and text_width_cm(f"{lines[-1]} {word}", points) <= width_cm:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


EMULATED_NOTE = (
    "Emulated guests: rates and times are not those of a machine with hardware virtualisation."
)


def empty_figure(sentence: str) -> Figure:
    """Return a low figure that says why there is nothing to draw."""
    figure = Figure(figsize=(WIDTH_CM * CM, 3 * CM))
    figure.text(
        0.5, 0.5, "\n".join(wrap(sentence, WIDTH_CM - 2, LABEL_PT)), ha="center", va="center"
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


def note_lines(sentences: Iterable[str]) -> list[str]:
    """Return the lines of a note; empty sentences are passed over."""
    return wrap(" ".join(filter(None, sentences)), WIDTH_CM - 0.4, NOTE_PT)


def put_note(
    figure: Figure,
    lines: Sequence[str],
    panels_cm: float,
    above_cm: float = 0.0,
    beside_cm: float = 0.0,
) -> None:
    """Put the lines of a note below the panels, and size the figure of constrained layout.

    It has the height of all panels; a legend above or beside them needs a height and a width.
    """
    note_cm = len(lines) * _NOTE_ROW_CM
    height_cm = above_cm + panels_cm + note_cm + 2 * _PAD_CM
    figure.set_size_inches(WIDTH_CM * CM, height_cm * CM)
    engine = figure.get_layout_engine()
    assert engine is not None
    bottom, top = (note_cm + _PAD_CM) / height_cm, (above_cm + _PAD_CM) / height_cm
    width = 1 - beside_cm / WIDTH_CM
    engine.set(rect=(0, bottom, width, 1 - bottom - top), w_pad=0.06, h_pad=0.05)  # type: ignore[call-arg]
    if lines:
        figure.text(
            0.008, 0.06 / height_cm, "\n".join(lines),
            fontsize=NOTE_PT, color=QUIET, va="bottom", ha="left", linespacing=1.35,
        )  # fmt: skip
