"""Writing a figure and its data so that the same data gives the same bytes."""

import re
from io import StringIO
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from copycost.figures.style import RC, styled
from copycost.figures.tables import Drawn
from copycost.figures.text import titled

_SVG_DPI = 72
"""Points: the unit that SVG files of matplotlib are in."""

_PLACE = re.compile(r'(?:\b(?:d|x|y|width|height)="|\btranslate\()[^")]*')
_GROUP = re.compile(r'<g id="[^"]*">')
_DECIMALS = re.compile(r"-?\d+\.\d{3,}")


@styled
def save(drawn: Drawn, svg: Path) -> None:
    """Write a figure as SVG, and beside it the table behind it as CSV.

    Dates and version strings stay out, so that a file changes only when its data or its
    drawing does.
    """
    drawn.data.to_csv(svg.with_suffix(".csv"), index=False, lineterminator="\n")
    _fix_layout(drawn.figure)
    # Printed by the canvas itself: `savefig` would draw everything twice, for a layout that is
    # fixed by now.
    drawn.figure.set_dpi(_SVG_DPI)
    text = StringIO()
    FigureCanvasSVG(drawn.figure).print_svg(  # type: ignore[no-untyped-call]
        text, metadata={"Date": None, "Creator": None}
    )
    svg.write_text(_spare(titled(text.getvalue())), encoding="utf-8")


def _spare(svg: str) -> str:
    """Return an SVG with places to a hundredth of a point, and without the names of its groups.

    No eye tells these places from exact ones. Of the names, which several panels share, none may
    come twice in a page that holds the figure.
    """
    svg = _GROUP.sub("<g>", svg)
    return _PLACE.sub(
        lambda place: _DECIMALS.sub(lambda number: f"{float(number[0]):.2f}", place[0]), svg
    )


def _fix_layout(figure: Figure) -> None:
    """Lay the figure out once, at positions without the solver's rounding noise.

    The last bits of a solution differ from run to run, and the SVG's identifiers with them.
    """
    figure.set_dpi(RC["savefig.dpi"])
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(side, 6) for side in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))
