"""Lines in a panel: one per implementation, with intervals, and marks where a cell is missing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.markers import CARETDOWN, CARETUP
from matplotlib.patches import Rectangle
from matplotlib.transforms import blended_transform_factory, offset_copy

from copycost.figures.axes import CUT_NOTE, Scale, size_axis, thread_axis, value_axis
from copycost.figures.layout import Panel, Sheet
from copycost.figures.markers import way_styles
from copycost.figures.style import EDGE, SHADE
from copycost.figures.text import add_tips, point_tips

_ROW_CM = 0.32
_STRIP_MOST = 0.6
_ENDLESS = 1e9
_DODGE_PT = 2.4
_DODGE_MOST_PT = 9.0
_ALONG = {"msg_bytes": ("message size", size_axis), "n_threads": ("threads", thread_axis)}
_EVERYWHERE = (-math.inf, math.inf)

MODES_NOTE = "Dotted bars: repetitions in two clusters, a dash at the median of each."
"""Explains what stands for the interval of such a cell."""


def draw_lines(
    axes: Axes,
    data: pd.DataFrame,
    x: str,
    implementations: Sequence[str],
    limits: tuple[float, float] = _EVERYWHERE,
) -> bool:
    """Draw one line with intervals per implementation over the column `x`.

    A cell without a value interrupts its line. Points of different implementations stand side by
    side by a few printer's points, so that no bar hides another; their data stay exact. Where the
    repetitions of a cell fall into two clusters, the medians of both stand instead of an interval,
    joined by a dotted bar. A caret says that an interval reaches beyond the `limits`; tell if there
    is any.
    """
    styles = way_styles(implementations)
    names = [name for name in implementations if (data["implementation"] == name).any()]
    step = min(_DODGE_PT, _DODGE_MOST_PT / max(1, len(names) - 1))
    figure = axes.get_figure(root=True)
    cut = False
    for place, name in enumerate(names):
        aside = (place - (len(names) - 1) / 2) * step
        shift = offset_copy(axes.transData, figure, x=aside, units="points")
        colour = styles[name].colour
        rows = data[data["implementation"] == name].sort_values(x)
        if rows["value"].notna().any():
            rows["stretch"] = rows["value"].isna().cumsum()
            sns.lineplot(
                rows, x=x, y="value", units="stretch", estimator=None, legend=False, ax=axes,
                gid=f"line-{name}", transform=shift, **styles[name].as_line(),
            )  # fmt: skip
        for cell in rows.dropna(subset="lower_mode").to_dict("records"):
            axes.plot(
                [cell[x]] * 2, [cell["lower_mode"], cell["upper_mode"]], color=colour, lw=0.9,
                ls=":", marker="_", ms=7.0, mew=1.6, zorder=2.2, transform=shift,
                gid=f"modes-{name}",
            )  # fmt: skip
        # one interval around the middle of two clusters would tell of neither
        known = rows[rows["low"].notna() & rows["high"].notna() & rows["lower_mode"].isna()]
        # An interval without an end (its exponential overflowed) is drawn beyond any panel.
        high = known["high"].clip(upper=known["value"].abs() * _ENDLESS)
        reach = np.array([known["value"] - known["low"], high - known["value"]])
        axes.errorbar(
            known[x].to_numpy(), known["value"].to_numpy(),
            # A rounding error may put the end of a narrow interval past its median.
            yerr=np.clip(reach, 0, None), fmt="none", ecolor=colour, elinewidth=0.9,
            capthick=0.9, label=name, transform=shift, zorder=1.9,
        )  # fmt: skip
        for edge, beyond, caret in (
            (limits[0], known["low"] < limits[0], CARETDOWN),
            (limits[1], known["high"] > limits[1], CARETUP),
        ):
            if beyond.any():
                cut = True
                axes.plot(
                    known.loc[beyond, x], [edge] * int(beyond.sum()), ls="none", marker=caret, ms=4,
                    color=colour, zorder=2.6, transform=shift, gid=f"cut-{name}",
                )  # fmt: skip
        add_tips(axes, rows[x], rows["value"], point_tips(rows), shift)
    return cut


@dataclass(frozen=True, slots=True)
class Strip:
    """The grey strip at the top of every panel, where cells with missing repetitions are marked.

    Implementations have a row each, from the top, in a panel at most `n_rows`. It is a `share` of
    the panel's height (0..1); 0 where nothing is missing, without a note then.
    """

    names: tuple[str, ...]
    n_rows: int
    share: float
    note: str


def missing_strip(data: pd.DataFrame, implementations: Sequence[str], sheet: Sheet) -> Strip:
    """Return the strip that the missing repetitions of a whole figure need."""
    missing = data[_is_missing(data)]
    names = tuple(name for name in implementations if (missing["implementation"] == name).any())
    n_rows = max(len([name for name in names if name in group.members]) for group in sheet.families)
    hollow = ["skipped"] if (missing["n_skipped"] > 0).any() else []
    hollow += ["uncounted"] if (missing["state"] == "not counted").any() else []
    kinds = [f"{' or '.join(hollow)} (hollow mark)"] if hollow else []
    kinds += ["failed (crossed mark)"] if (missing["n_failed"] > 0).any() else []
    note = f"Grey strip: cells with {' and '.join(kinds)} repetitions." if kinds else ""
    return Strip(names, n_rows, min(_STRIP_MOST, _ROW_CM / sheet.panel_height_cm * n_rows), note)


def _is_missing(data: pd.DataFrame) -> pd.Series:
    return (data["state"] != "measured") | (data["n_failed"] > 0) | (data["n_skipped"] > 0)


def _mark_missing(
    axes: Axes, data: pd.DataFrame, x: str, implementations: Sequence[str], strip: Strip
) -> None:
    """Mark cells that lack a repetition in the strip at the top of the panel.

    The mark is the implementation's own marker, hollow, in a row of its own, and crossed where a
    repetition failed: it can be told apart without colour.
    """
    styles = way_styles(implementations)
    missing = data[_is_missing(data)]
    bottom = 1 - strip.share
    # Above the bars, below the marks.
    grey = Rectangle((0, bottom), 1, strip.share, color=SHADE, lw=0, zorder=2.4)
    grey.set_transform(axes.transAxes)
    axes.add_patch(grey)
    where = blended_transform_factory(axes.transData, axes.transAxes)
    names = [name for name in strip.names if (data["implementation"] == name).any()]
    for place, name in enumerate(names):
        level = 1 - strip.share * (place + 0.5) / strip.n_rows
        cells = missing[missing["implementation"] == name]
        failed = cells[cells["n_failed"] > 0]
        shapes = [(styles[name].marker, cells), ("x", failed)]
        for shape, rows in [one for one in shapes if len(one[1])]:
            (marks,) = axes.plot(
                rows[x], [level] * len(rows), marker=shape, clip_on=False, zorder=3,
                transform=where, gid=f"missing-{name}", **styles[name].as_hole(),
            )  # fmt: skip
            marks.set_in_layout(False)


def line_panel(
    panel: Panel, x: str, implementations: Sequence[str], scale: Scale, strip: Strip
) -> bool:
    """Draw a panel: its lines, its vertical axis, and the marks of what is missing or cut off.

    Lines of other families are only there to be compared with: thin, grey, without points. Tell
    whether an interval is cut off at the edge.
    """
    axes = panel.axes
    leads = panel.data["implementation"].isin(panel.family.members)
    data, behind = panel.data[leads], panel.data[~leads]
    if behind["value"].notna().any():
        sns.lineplot(
            behind, x=x, y="value", units="implementation", estimator=None, legend=False, ax=axes,
            color=EDGE, linewidth=0.8, marker=".", markersize=3, markeredgecolor=EDGE, zorder=1.5,
        )  # fmt: skip
    cut = draw_lines(axes, data, x, implementations, (scale.low, scale.high))
    value_axis(axes, scale, strip.share)
    if strip.names:
        _mark_missing(axes, data, x, implementations, strip)
    return cut


class Frame(NamedTuple):
    """What stands around the lines of a panel; without a title where another one says it."""

    scale: Scale
    y_label: str
    title: str = ""


def draw_panels(
    sheet: Sheet,
    data: pd.DataFrame,
    x: str,
    implementations: Sequence[str],
    frame_of: Callable[[Panel], Frame],
) -> list[str]:
    """Draw the lines of every panel of a sheet, and return what the figure's note says of them.

    Of the points of all panels, ``msg_bytes`` or ``n_threads`` lies along the horizontal axis; the
    implementations are all of the run, in the order of every legend.
    """
    x_label, axis = _ALONG[x]
    strip = missing_strip(data, implementations, sheet)
    cut = False
    for panel in sheet.panels():
        frame = frame_of(panel)
        cut |= line_panel(panel, x, implementations, frame.scale, strip)
        axis(panel.axes, data[x], sheet.panel_width_cm)
        if frame.title:
            panel.axes.set_title(frame.title)
        sheet.label(panel.place, x_label, frame.y_label)
    return [sheet.context_note, CUT_NOTE if cut else "", strip.note]
