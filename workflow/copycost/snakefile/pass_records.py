"""The records of cells that are chosen while the workflow runs, as inputs of rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from copycost.config.alpha_spending import PASSES
from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.passes import is_given, read_pass

Chosen = Callable[[int], str]


def records_before(grid: Grid, number: int, chosen: Chosen) -> list[str]:
    """Return the records that a pass looks at: those of the grid and of the passes before it."""
    return [cell.path for cell in _cells_before(grid, number, chosen)]


def all_records(grid: Grid, config: Config, study: str | None, chosen: Chosen) -> Any:  # noqa: ANN401
    """Return the records of a run, or of one study of it, as the input of a rule.

    `chosen` gives the path of what a pass chose, and has Snakemake wait where that is not known
    yet.
    """

    def paths(cells: list[Cell]) -> list[str]:
        return [cell.path for cell in cells if study in (None, cell.study)]

    if is_given() or config.measure.minutes is None:
        return paths(list(grid.cells))
    return lambda _wildcards: paths(_cells_before(grid, PASSES + 1, chosen))


def _cells_before(grid: Grid, number: int, chosen: Chosen) -> list[Cell]:
    cells = list(grid.cells)
    for earlier in range(1, number):
        more = read_pass(Path(chosen(earlier)))
        if not more:
            break  # nor will any later pass choose anything, from the same records
        cells += more
    return cells
