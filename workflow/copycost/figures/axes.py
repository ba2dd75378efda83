"""Axes: size and thread ticks, and a vertical scale that says what it is."""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from copycost.sizes import format_size

_EDGE_CM = 0.33
_DENSE_BELOW = 50.0
_REACH = 4.0
_LOG_FROM = 20.0
"""Spread of the values (largest / smallest) above which a linear axis would flatten the small."""


def size_axis(axes: Axes, sizes: Iterable[int], width_cm: float) -> None:
    """Make a log2 axis of message sizes: a tick at each size, labels where there is room."""
    _log2_axis(axes, sorted(set(sizes)), format_size, width_cm, label_cm=1.45)


def thread_axis(axes: Axes, counts: Iterable[int], width_cm: float) -> None:
    """Make a log2 axis of thread counts."""
    _log2_axis(axes, sorted(set(counts)), str, width_cm, label_cm=0.6)


def _log2_axis(
    axes: Axes, values: Sequence[int], name: Callable[[int], str], width_cm: float, label_cm: float
) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    shown = _spaced(values, max(1, int(width_cm / label_cm)))
    axes.set_xticks(values, [name(v) if v in shown else "" for v in values])
    # Room for half a marker that stands a little beside its tick.
    margin = 1.25 if len(values) < 2 else (values[-1] / values[0]) ** (_EDGE_CM / width_cm)
    axes.set_xlim(values[0] / margin, values[-1] * margin)


def _spaced(values: Sequence[int], n_gaps: int) -> set[int]:
    """Return the values to label so that labels are at least 1 / `n_gaps` of the axis apart."""
    if len(values) <= 1:
        return set(values)
    least = math.log2(values[-1] / values[0]) / n_gaps
    shown = [values[0]]
    for value in values[1:]:
        if math.log2(value / shown[-1]) >= least * 0.999:
            shown.append(value)
    return set(shown)


def scale_of(data: pd.DataFrame) -> str:
    """Return ``linear``, ``log`` or ``symlog``, whichever shows all values honestly.

    A linear axis starts at 0. A wide spread is drawn on a log axis; where it holds zeros, the axis
    is linear between 0 and the smallest value above 0.
    """
    known = data["value"].dropna()
    positive = known[known > 0]
    if positive.empty or positive.max() / positive.min() <= _LOG_FROM:
        return "linear"
    return "log" if (known > 0).all() else "symlog"


def value_axis(axes: Axes, data: pd.DataFrame, scale: str, strip: float = 0.0) -> bool:
    """Scale the vertical axis to the values and keep the top `strip` (0..1) of the panel free.

    Intervals widen the axis too, up to a point: two repetitions that differ give an interval over
    several decades, beside which nothing else could be seen.

    Returns
    -------
    bool
        Whether an interval reaches beyond the axis.
    """
    known = data["value"].dropna()
    axes.grid(axis="y")
    if known.empty:
        axes.set_ylim(0, 1)
        axes.set_yticks([])
        return False
    ends = data[["low", "high"]].dropna()
    most = float(known.max())
    if scale == "linear":
        top = min(float(max(most, ends["high"].max())) if len(ends) else most, most * 2)
        low, high = 0.0, top * 1.06 or 1.0
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    else:
        least = float(known[known > 0].min())
        top = min(float(max(most, ends["high"].max())) if len(ends) else most, most * _REACH)
        bottom = max(float(min(least, ends["low"].min())) if len(ends) else least, least / _REACH)
        low, high = bottom / 1.25 if scale == "log" else 0.0, top * 1.25
        _log_ticks(axes, least, high, scale)
    transform = axes.yaxis.get_transform()
    base, full = transform.transform(np.array([low, high]))
    raised = base + (full - base) / (1 - strip)
    axes.set_ylim(low, float(transform.inverted().transform(np.array([raised]))[0]))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_minor_formatter(NullFormatter())
    return bool((ends["low"] < low).any() or (ends["high"] > high).any())


def _log_ticks(axes: Axes, least: float, high: float, scale: str) -> None:
    if scale == "log":
        axes.set_yscale("log")
        dense = (1.0, 2.0, 5.0) if high / least < _DENSE_BELOW else (1.0,)
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=dense, numticks=12))
        axes.yaxis.set_minor_locator(LogLocator(base=10, subs=tuple(range(2, 10)), numticks=30))
        return
    axes.set_yscale("symlog", linthresh=least, linscale=0.5)
    # A decade next to the linear part would touch the label of 0.
    first = math.ceil(math.log10(least * 1.5))
    decades = [10.0**power for power in range(first, math.floor(math.log10(high)) + 1)]
    axes.yaxis.set_major_locator(FixedLocator([0.0, *decades]))
    axes.yaxis.set_minor_locator(NullLocator())


def _plain(value: float, _position: object = None) -> str:
    """Write 0.001, 0.5, 20 or 1000 without exponents where that is short."""
    return f"{value:.4g}" if 1e-4 <= abs(value) < 1e5 or value == 0 else f"{value:.0e}"


SCALE_NOTE = {
    "linear": "Vertical axis from 0",
    "log": "Vertical axis logarithmic",
    "symlog": "Vertical axis logarithmic, linear next to 0",
}
"""How a note under the figure names the scale."""

CUT_NOTE = "Bars without a cap reach beyond the panel."
"""What a note says where `value_axis` left out the end of an interval."""
