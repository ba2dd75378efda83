"""Panels of points, a colour and marker per number of streams, with fitted lines."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from copycost.figures.style import WIDTH_CM
from copycost.figures.text import LABEL_PT, add_tips, put_words, wrap
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

# told apart with every kind of colour vision (Okabe and Ito), and by their markers
_LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"))
# left of a panel: its vertical axis, or the gap to the one before
_LEFT_OF_PANEL_CM = 1.3


def _by_streams(data: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Yield colour, marker and label of each number of streams, and its rows."""
    for index, (n_threads, part) in enumerate(data.groupby("n_threads")):
        colour, marker = _LOOKS[index % len(_LOOKS)]
        yield colour, marker, plural(int(str(n_threads)), "stream"), part


def draw_points(
    axes: Axes,
    data: pd.DataFrame,
    x: str,
    tip: Callable[[Mapping[Hashable, Any]], str],
    *,
    joined: bool = False,
) -> None:
    """Draw the points of each number of streams: `value`, with an interval from `low` to `high`.

    They are `joined` by lines or not. Those with a true `hollow` are outlines, and their line is
    dotted. What `tip` says of a row stands after the number of streams.
    """
    for colour, marker, label, part in _by_streams(data):
        known = part.dropna(subset=["low", "high"])
        axes.vlines(known[x], known["low"], known["high"], color=colour, linewidth=1.0)
        tips = [f"{label}, {tip(row)}" for row in part.to_dict("records")]
        add_tips(axes, part[x], part["value"], tips)
        for hollow, some in part.groupby("hollow"):
            line: object = (0, (1, 1.5)) if hollow else "-"
            sns.lineplot(
                some, x=x, y="value", color=colour, marker=marker, markeredgecolor=colour,
                markerfacecolor="white" if hollow else colour, linestyle=line if joined else "",
                estimator=None, legend=False, ax=axes,
            )  # fmt: skip


def draw_fits(axes: Axes, data: pd.DataFrame, x: str) -> None:
    """Draw the line through `fitted` for each number of streams, where it was fitted."""
    for colour, _, _, part in _by_streams(data):
        known = part.dropna(subset="fitted").sort_values(x)
        axes.plot(known[x], known["fitted"], color=colour)


def name_panel(axes: Axes, n_columns: int, title: str, x_label: str, y_label: str) -> None:
    """Put the title and the axes' labels of one panel, in lines that are no wider than it is."""
    width_cm = WIDTH_CM / n_columns - _LEFT_OF_PANEL_CM
    quantity, bracket, unit = x_label.partition("[")
    whole = quantity + bracket + unit.replace(" ", NBSP)
    axes.set_title("\n".join(wrap(title, width_cm, LABEL_PT)))
    axes.set(xlabel="\n".join(wrap(whole, width_cm, LABEL_PT)), ylabel=y_label)


def note_on_points(facts: Mapping[str, Any], low: pd.Series) -> str:
    """Return the sentences that say what points and bars are; without a lower end there are none.

    Bars may reach beyond the edge of a panel.
    """
    most = max((point["n"] for curve in facts["curves"] for point in curve["points"]), default=0)
    note = f"Points: medians of up to {most} repetitions."
    if low.notna().any():
        note += f" Bars: {facts['confidence'] * 100:g} % intervals, cut at the edge."
    return note


def finish(
    grid: sns.FacetGrid,
    data: pd.DataFrame,
    note: Sequence[str],
    panels_cm: float,
    *,
    joined: bool = False,
) -> Figure:
    """Put a legend above where there are several numbers of streams, and the note below."""
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="-" if joined else "", label=label)
        for colour, marker, label, _ in _by_streams(data)
    ]
    figure: Figure = grid.figure
    put_words(figure, panels_cm, note, handles if len(handles) > 1 else (), handle_length=2.0)
    return figure
