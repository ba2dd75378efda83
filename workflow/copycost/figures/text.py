"""Text on figures: how wide it is, where it breaks, and what every note says."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from copycost.figures.style import CM, RC, WIDTH_CM
from copycost.percent import NBSP
from copycost.stats.medians import METHOD

LABEL_PT = 8.5
NOTE_PT = 7.2


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
