"""Lines in a panel: one per implementation, with intervals, and marks where a cell is missing."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import Transform, blended_transform_factory, offset_copy

from copycost.figures.style import SHADE, looks

_ROW = 0.08
_ROWS_MOST = 0.6
_DODGE_PT = 2.4
_DODGE_MOST_PT = 9.0


def draw_lines(axes: Axes, data: pd.DataFrame, x: str, implementations: Sequence[str]) -> None:
    """Draw one line with intervals per implementation over the column `x`.

    A cell without a value interrupts its line. Points of different implementations stand side by
    side by a few printer's points, so that no bar hides another; their data stay exact.
    """
    styles = looks(implementations)
    drawn = [name for name in implementations if (data["implementation"] == name).any()]
    for place, name in enumerate(drawn):
        rows = data[data["implementation"] == name].sort_values(x)
        known = rows["low"].notna() & rows["high"].notna()
        reach = np.array([rows["value"] - rows["low"], rows["high"] - rows["value"]])
        axes.errorbar(
            rows[x].to_numpy(),
            rows["value"].to_numpy(),
            # A percentile interval may miss its median by a rounding error.
            yerr=np.clip(reach, 0, None) if known.any() else None,
            elinewidth=0.9,
            capthick=0.9,
            label=name,
            transform=_shifted(axes, _dodge(place, len(drawn))),
            **styles[name].as_line(),
        )


def _shifted(axes: Axes, points: float) -> Transform:
    figure = axes.get_figure(root=True)
    return offset_copy(axes.transData, figure, x=points, units="points")


def _dodge(place: int, n: int) -> float:
    """Return the sideways shift, in points, of line number `place` of `n`."""
    step = min(_DODGE_PT, _DODGE_MOST_PT / max(1, n - 1))
    return (place - (n - 1) / 2) * step


def is_missing(data: pd.DataFrame) -> pd.Series:
    """Return which points lack at least one repetition."""
    return (data["n_failed"] > 0) | (data["n_skipped"] > 0)


def missing_note(data: pd.DataFrame) -> str:
    """Return the sentence that explains the marks of `mark_missing`, where there are any."""
    if not is_missing(data).any():
        return ""
    return "Grey strip: cells with skipped (hollow mark) or failed (crossed) repetitions."


def missing_strip(data: pd.DataFrame) -> float:
    """Return the share of the panel's height that `mark_missing` needs at the top."""
    n_rows = int(data.loc[is_missing(data), "implementation"].nunique())
    return min(_ROWS_MOST, _ROW * n_rows)


def mark_missing(
    axes: Axes, data: pd.DataFrame, x: str, implementations: Sequence[str], strip: float
) -> None:
    """Mark cells with failed or skipped repetitions in the top `strip` (0..1) of the panel.

    The mark is the implementation's own marker, hollow, in a row of its own, and crossed where a
    repetition failed: it can be told apart without colour.
    """
    styles = looks(implementations)
    missing = data[is_missing(data)]
    rows = [name for name in implementations if (missing["implementation"] == name).any()]
    height = min(_ROW, strip / max(1, len(rows)))
    if strip:
        axes.add_patch(
            Rectangle((0, 1 - strip), 1, strip, transform=axes.transAxes, color=SHADE, lw=0)
        )
    where = blended_transform_factory(axes.transData, axes.transAxes)
    for place, name in enumerate(rows):
        level = 1 - height * (place + 0.5)
        for cell in missing[missing["implementation"] == name].to_dict("records"):
            for shape in (styles[name].marker, *(["x"] if cell["n_failed"] > 0 else [])):
                mark = Line2D([cell[x]], [level], marker=shape, **styles[name].as_hole())
                mark.set(transform=where, clip_on=False, gid=f"missing-{name}-{cell[x]}")
                axes.add_artist(mark)


def line_panel(
    axes: Axes, data: pd.DataFrame, x: str, implementations: Sequence[str], strip: float
) -> None:
    """Draw the lines of a panel and the marks of what is missing in it."""
    draw_lines(axes, data, x, implementations)
    mark_missing(axes, data, x, implementations, strip)
