"""How all figures look: type, sizes, lines and paper; `way_styles` has the implementations' own."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import seaborn as sns
from matplotlib import style

CM = 1 / 2.54
"""Inches per centimetre; matplotlib measures in inches."""

WIDTH_CM = 16.0
"""The text width of an A4 page; on a phone the figure fills the screen at about half size."""

INK = "#222222"
QUIET = "#5f5f5f"
EDGE = "#c4c4c4"
GRID = "#dddddd"
SHADE = "#f1f1f1"

# Figures go to files: no window system is needed, whatever the host has.
mpl.use("Agg")

RC: dict[str, Any] = {
    **sns.axes_style("ticks"),
    **sns.plotting_context("paper"),
    # DejaVu Sans comes with matplotlib, so every host draws the same letters.
    "font.family": ["DejaVu Sans"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    # Letters as wide as their outlines: a layout made for one resolution then holds for all.
    "text.hinting": "none",
    **dict.fromkeys(("axes.titlesize", "axes.labelsize", "legend.fontsize"), 8.5),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), 8),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), QUIET),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.7),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 3),
    **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 1.8),
    **dict.fromkeys(("xtick.minor.width", "ytick.minor.width"), 0.5),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.axisbelow": True,
    "grid.color": GRID,
    **dict.fromkeys(("grid.linewidth", "hatch.linewidth"), 0.6),
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "errorbar.capsize": 2.2,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
    # Letters as outlines: a browser and Typst then show exactly what matplotlib laid out.
    "svg.fonttype": "path",
    # Identifiers in the SVG follow from its content instead of from chance.
    "svg.hashsalt": "copycost",
}

_P = ParamSpec("_P")
_R = TypeVar("_R")


def styled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run `function` with matplotlib's defaults replaced by this style, whatever is set outside."""

    @wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with style.context(RC, after_reset=True):
            return function(*args, **kwargs)

    return wrapper
