"""Axes: size and thread ticks, and a vertical scale that says what it is."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from copycost.figures.text import size_label

_EDGE_CM = 0.33
_DENSE_BELOW = 80.0
_FEW_BELOW = 5.0
_LINEAR_REACH = 2.0
_LOG_REACH = 4.0
_LOG_FROM = 20.0
"""Spread of the values (largest / smallest) above which a linear axis would flatten the small."""


def size_axis(axes: Axes, sizes: Iterable[int], width_cm: float) -> None:
    """Make a log2 axis of message sizes: a tick at each size, labels where there is room."""
    _log2_axis(axes, sizes, size_label, width_cm, label_cm=1.45)


def thread_axis(axes: Axes, counts: Iterable[int], width_cm: float) -> None:
    """Make a log2 axis of thread counts."""
    _log2_axis(axes, counts, str, width_cm, label_cm=0.6)


def _log2_axis(
    axes: Axes, shown: Iterable[int], name: Callable[[int], str], width_cm: float, label_cm: float
) -> None:
    values = sorted(set(shown))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    # labels of an axis are at least so far apart, as a logarithm
    least = math.log2(values[-1] / values[0]) / max(1, int(width_cm / label_cm))
    labelled = values[:1]
    for value in values[1:]:
        if math.log2(value / labelled[-1]) >= least * 0.999:
            labelled.append(value)
    axes.set_xticks(values, [name(v) if v in labelled else "" for v in values])
    # Room for half a marker that stands a little beside its tick.
    margin = 1.25 if len(values) < 2 else (values[-1] / values[0]) ** (_EDGE_CM / width_cm)
    axes.set_xlim(values[0] / margin, values[-1] * margin)


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis that shows all its values honestly: ``linear`` (from 0), ``log``, ``symlog``.

    The last is logarithmic, and linear next to 0. `low` and `high` are the ends of the axis, in the
    unit of the values, of which `least` is the smallest above 0.
    """

    kind: str
    low: float
    high: float
    least: float


def scale_of(data: pd.DataFrame, kind: str | None = None) -> Scale:
    """Return the axis for the values and intervals of `data`.

    A wide spread is drawn on a log axis; where it holds zeros, the axis is linear between 0 and
    the smallest value above 0. Intervals widen the axis, up to a point: two repetitions that
    differ give an interval over several decades, beside which nothing else could be seen. A `kind`
    is taken instead of what the spread asks for.
    """
    known = data["value"].dropna()
    if known.empty:
        return Scale("linear", 0.0, 1.0, 1.0)
    positive = known[known > 0]
    least, most = (positive.min(), known.max()) if len(positive) else (1.0, 0.0)
    if kind is None:
        narrow = most / least <= _LOG_FROM
        kind = "linear" if narrow else "log" if (known > 0).all() else "symlog"
    reach = _LINEAR_REACH if kind == "linear" else _LOG_REACH
    top = min(max(most, data["high"].max()), most * reach) if data["high"].notna().any() else most
    if kind == "linear":
        return Scale(kind, 0.0, float(top) * 1.06 or 1.0, float(least))
    bottom = least
    if data["low"].notna().any():
        bottom = max(min(least, data["low"].min()), least / reach)
    return Scale(kind, float(bottom) / 1.25 if kind == "log" else 0.0, float(top) * 1.25, least)


def value_axis(
    axes: Axes, scale: Scale, strip: float = 0.0, *, along: Literal["x", "y"] = "y"
) -> None:
    """Scale an axis of values, the vertical one unless told, and keep its last `strip` (0..1) free.

    A narrow logarithmic axis has labels between its decades, too.
    """
    axis: Axis = getattr(axes, f"{along}axis")
    axes.grid(axis=along)
    if scale.kind == "linear":
        axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    elif scale.kind == "log":
        axes.set(**{f"{along}scale": "log"})
        reach = scale.high / scale.low
        dense = (1.0, 2.0, 5.0) if reach < _DENSE_BELOW else (1.0,)
        few = MaxNLocator(nbins=4, steps=[1, 2, 5, 10])
        axis.set_major_locator(
            few if reach < _FEW_BELOW else LogLocator(base=10, subs=dense, numticks=12)
        )
        axis.set_minor_locator(LogLocator(base=10, subs=tuple(range(2, 10)), numticks=30))
    else:
        axes.set_yscale("symlog", linthresh=scale.least, linscale=0.5)
        # A decade next to the linear part would touch the label of 0.
        first = math.ceil(math.log10(scale.least * 1.5))
        decades = [10.0**power for power in range(first, math.floor(math.log10(scale.high)) + 1)]
        axis.set_major_locator(FixedLocator([0.0, *decades]))
        axis.set_minor_locator(NullLocator())
    transform = axis.get_transform()
    base, full = transform.transform(np.array([scale.low, scale.high]))
    raised = base + (full - base) / (1 - strip)
    last = float(transform.inverted().transform(np.array([raised]))[0])
    axes.set(**{f"{along}lim": (scale.low, last)})
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float, _position: object = None) -> str:
    """Write a tick without exponent: 0.00001, 0.5, 20 or 100000."""
    return np.format_float_positional(value, precision=4, fractional=False, trim="-")


SCALE_NOTE = {
    "linear": "Vertical axis from 0",
    "log": "Vertical axis logarithmic",
    "symlog": "Vertical axis logarithmic, linear next to 0",
}
"""How a note under the figure names the scale."""

CUT_NOTE = "Carets at the edge: the interval extends beyond the axis."
"""What a note says where an interval is longer than its axis."""

EDGE_NOTE = "Intervals that end at the edge extend beyond it."
"""The same where no mark says so."""
