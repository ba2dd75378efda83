"""Writing a figure and its data so that the same data gives the same bytes."""

from importlib import import_module
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from copycost.figures.style import RC, styled
from copycost.figures.tables import Drawn, Tables

_SVG_DPI = 72
"""Points: the unit that SVG files of matplotlib are in."""


def draw(figure: str, tables: Tables) -> Drawn:
    """Draw the figure of that name (one of `names.FIGURES`)."""
    drawn: Drawn = import_module(f"copycost.figures.{figure}").draw(tables)
    return drawn


@styled
def save(drawn: Drawn, svg: Path, png: Path | None, csv: Path) -> None:
    """Write a figure as SVG and, if asked for, PNG, and the table behind it as CSV.

    Dates and version strings stay out, so that a file changes only when its data or its
    drawing does.
    """
    drawn.data.to_csv(csv, index=False, lineterminator="\n")
    _fix_layout(drawn.figure)
    # Printed by the canvas itself: `savefig` would draw everything twice, for a layout that is
    # fixed by now.
    if png is not None:
        drawn.figure.set_dpi(RC["savefig.dpi"])
        FigureCanvasAgg(drawn.figure).print_png(  # type: ignore[no-untyped-call]
            png, metadata={"Software": None}
        )
    drawn.figure.set_dpi(_SVG_DPI)
    FigureCanvasSVG(drawn.figure).print_svg(  # type: ignore[no-untyped-call]
        svg, metadata={"Date": None, "Creator": None}
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
