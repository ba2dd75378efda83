"""Panels of lines against size or threads, alike in all figures, and what notes say of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd

from copycost.figures.axes import CUT_NOTE, Scale, size_axis, thread_axis
from copycost.figures.layout import Panel, Sheet
from copycost.figures.lines import context_note, line_panel, missing_strip
from copycost.figures.text import size_label

_ALONG = {"msg_bytes": ("message size", size_axis), "n_threads": ("threads", thread_axis)}


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

    Parameters
    ----------
    data
        The points of all panels.
    x
        The column along the horizontal axis: ``msg_bytes`` or ``n_threads``.
    implementations
        All of the run, in the order of every legend.
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
    return [context_note(sheet), CUT_NOTE if cut else "", strip.note]


def size_title(sheet: Sheet, panel: Panel) -> str:
    """Return the title of a panel of one message size, where it needs one."""
    return size_label(panel.data["msg_bytes"].iloc[0]) if sheet.is_top(panel) else ""
