"""Writing a figure and its data so that the same data gives the same bytes."""

from importlib import import_module
from pathlib import Path

from copycost.figures.style import styled
from copycost.figures.tables import Drawn, Tables


def draw(figure: str, tables: Tables) -> Drawn:
    """Draw the figure of that name (one of `names.FIGURES`)."""
    drawn: Drawn = import_module(f"copycost.figures.{figure}").draw(tables)
    return drawn


@styled
def save(drawn: Drawn, svg: Path, png: Path, csv: Path) -> None:
    """Write a figure as SVG and PNG, and the table behind it as CSV.

    Dates and version strings stay out, so that a file changes only when its data or its
    drawing does.
    """
    drawn.data.to_csv(csv, index=False, lineterminator="\n")
    drawn.figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    drawn.figure.savefig(png, format="png", metadata={"Software": None})
