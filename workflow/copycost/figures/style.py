"""How all figures look: type, sizes, and one colour, marker and line per implementation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

import matplotlib as mpl
import seaborn as sns
from matplotlib import style

Line = Literal["-"] | tuple[float, tuple[float, ...]]
"""A line style: solid, or an offset with the lengths of dashes and gaps."""

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
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "ytick.minor.size": 1.8,
    "ytick.minor.width": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "errorbar.capsize": 2.2,
    "hatch.linewidth": 0.6,
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


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, marker and line of one implementation; each alone would do without the others."""

    colour: str
    marker: str
    line: Line

    @property
    def size(self) -> float:
        """Return the marker's size in points; open shapes need more to look as large."""
        return {"*": 8.0, "P": 6.2, "X": 6.2, "D": 4.6, "d": 6.0}.get(self.marker, 5.0)

    def as_line(self) -> dict[str, Any]:
        """Return the keyword arguments that make matplotlib draw such a line."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "markersize": self.size,
            "linestyle": self.line,
            "markeredgecolor": "white",
            "markeredgewidth": 0.5,
        }

    def as_hole(self) -> dict[str, Any]:
        """Return the keyword arguments of the hollow mark that stands for a missing cell."""
        return {
            "linestyle": "none",
            "markersize": self.size + 0.5,
            "markerfacecolor": "white",
            "markeredgecolor": self.colour,
            "markeredgewidth": 0.9,
        }


_KNOWN = {
    "two_copy": Look("#0072B2", "o", "-"),
    "one_copy": Look("#E69F00", "s", (0, (5, 1.5))),
    "zero_copy": Look("#009E73", "^", (0, (5, 1.5, 1, 1.5))),
}
# The Okabe-Ito colours without the yellow, which vanishes on white paper. Seven colours, eleven
# markers and five lines share no divisor: a combination comes back after 385 implementations.
_COLOURS = ("#D55E00", "#56B4E9", "#CC79A7", "#000000", "#0072B2", "#E69F00", "#009E73")
_MARKERS = ("D", "v", "P", "X", "*", "<", ">", "d", "p", "h", "8")
_LINES: tuple[Line, ...] = (
    (0, (1, 1.2)),
    "-",
    (0, (3, 1.2)),
    (0, (7, 1.5, 1, 1.5, 1, 1.5)),
    (0, (2, 2.5)),
)


def in_order(implementations: Iterable[str]) -> tuple[str, ...]:
    """Return the implementations in the order of every legend: the known ones, then by name."""
    names = set(implementations)
    return (*(name for name in _KNOWN if name in names), *sorted(names - set(_KNOWN)))


def looks(implementations: Iterable[str]) -> dict[str, Look]:
    """Return one look per implementation; those of the known ones never change."""
    found: dict[str, Look] = {}
    further = 0
    for name in in_order(implementations):
        if name in _KNOWN:
            found[name] = _KNOWN[name]
            continue
        found[name] = Look(
            _COLOURS[further % len(_COLOURS)],
            _MARKERS[further % len(_MARKERS)],
            _LINES[further % len(_LINES)],
        )
        further += 1
    return found
