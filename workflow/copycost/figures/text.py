"""Text on figures: where it breaks, what every note says, and what is shown under the pointer."""

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.transforms import Transform

from copycost.analysis.stats.estimates import METHOD
from copycost.figures.style import CM, QUIET, RC, WIDTH_CM
from copycost.wording.filters import exact_size, significant
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

LABEL_PT = 8.5
NOTE_PT = 7.2

_LEGEND_ROW_CM = 0.44
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


def put_words(
    figure: Figure,
    panels_cm: float,
    note: Iterable[str],
    handles: Sequence[Artist] = (),
    *,
    handle_length: float = 3.2,
    beside_cm: float = 0.0,
) -> None:
    """Put a legend above the panels and a note below, and size the figure of constrained layout.

    It has the height of all panels, and of both; empty sentences of the note are passed over. A
    handle has so many heights of a letter; a legend beside the panels needs a width.
    """
    legend_cm = _legend_above(figure, handles, handle_length) if handles else 0.0
    lines = wrap(" ".join(filter(None, note)), WIDTH_CM - 0.4, NOTE_PT)
    note_cm = len(lines) * _NOTE_ROW_CM
    height_cm = legend_cm + panels_cm + note_cm + 2 * _PAD_CM
    figure.set_size_inches(WIDTH_CM * CM, height_cm * CM)
    bottom, top = (note_cm + _PAD_CM) / height_cm, (legend_cm + _PAD_CM) / height_cm
    rect = (0, bottom, 1 - beside_cm / WIDTH_CM, 1 - bottom - top)
    figure.set_layout_engine("constrained", rect=rect, w_pad=0.06, h_pad=0.05)
    figure.text(
        0.008, 0.06 / height_cm, "\n".join(lines),
        fontsize=NOTE_PT, color=QUIET, va="bottom", ha="left", linespacing=1.35,
    )  # fmt: skip


def _legend_above(figure: Figure, handles: Sequence[Artist], handle_length: float) -> float:
    """Put a legend over all panels, in as many columns as have room; return its height [cm]."""
    widths = np.array([text_width_cm(str(handle.get_label()), LABEL_PT) for handle in handles])
    # the handle, and the gaps around it, in heights of a letter
    handle_cm = (handle_length + 3.2) * LABEL_PT / 72 / CM

    def fits(columns: int) -> bool:
        """Tell whether so many columns do, each as wide as its longest label and handle."""
        parts = np.array_split(widths, columns)
        return sum(float(part.max()) + handle_cm for part in parts) <= WIDTH_CM

    columns = next(filter(fits, range(len(handles), 1, -1)), 1)
    figure.legend(
        handles=handles, ncols=columns, loc="upper left", borderpad=0.2,
        handlelength=handle_length, columnspacing=1.8, bbox_to_anchor=(0, 1), labelspacing=0.35,
    )  # fmt: skip
    return -(-len(handles) // columns) * _LEGEND_ROW_CM


_MARK = "tip:"
_LINK = re.compile(
    rf'<a xlink:href="{_MARK}([^"]*)".*?<use [^>]*x="([^"]*)" y="([^"]*)".*?</a>', re.DOTALL
)
_CIRCLE = r'<circle cx="\2" cy="\3" r="5" fill="none" pointer-events="all">'


def add_tips(
    axes: Axes,
    x: Sequence[float] | pd.Series,
    y: Sequence[float] | pd.Series,
    tips: Sequence[str],
    transform: Transform | None = None,
) -> None:
    """Lay an invisible mark with its words over each point that has a value.

    The marks carry them as links, all that matplotlib knows to write per point of a collection;
    `titled` makes titles of them in the SVG, which a browser shows under the pointer.
    """
    points = pd.DataFrame({"x": list(x), "y": list(y), "tip": list(tips)}).dropna()
    if points.empty:
        return
    marks = axes.scatter(
        points["x"], points["y"], alpha=0, linewidths=0, zorder=9,
        transform=transform or axes.transData, gid="tips",
    )  # fmt: skip
    marks.set_urls([_MARK + tip for tip in points["tip"]])
    marks.set_in_layout(False)


def point_tips(rows: pd.DataFrame) -> list[str]:
    """Return the words of each row of a figure's points (see `tables.COLUMNS`)."""
    return [
        f"{row['implementation']}, {size_label(row['msg_bytes'])}, "
        f"{plural(int(row['n_threads']), 'thread')}: {row['quantity']} {value_tip(row)}"
        for row in rows.to_dict("records")
    ]


def value_tip(row: Mapping[Hashable, Any]) -> str:
    """Return a value with its unit and what is known of it: an interval, or two clusters."""
    unit = row.get("unit", "1")
    unit = "" if unit == "1" else f" {unit}"
    if pd.isna(row["value"]):
        return "not measured"
    if pd.notna(row.get("lower_mode")):
        modes = f"{significant(row['lower_mode'])} or {significant(row['upper_mode'])}"
        return f"{modes}{unit}, in two clusters"
    said = f"{significant(row['value'])}{unit}"
    if all(pd.notna(row[end]) and math.isfinite(row[end]) for end in ("low", "high")):
        said += f" ({significant(row['low'])} to {significant(row['high'])})"
    return said


def titled(svg: str) -> str:
    """Return an SVG in which the marks of `add_tips` are circles with a title."""
    return _LINK.sub(rf'<g class="tip">{_CIRCLE}<title>\1</title></circle></g>', svg)
