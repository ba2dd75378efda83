"""Passes: what is measured behind the grid, chosen from the records so far, and how it is kept.

Each pass looks at the records of the grid and of the passes before it, and chooses what decides
most in the time that is left: further repetitions where a comparison is open, and sizes between two
that disagree. Chosen by `copycost.analysis.adaptive_sampling`; apart from it, so that whoever only
needs the paths of records does not wait for the statistics.

Who looks again and again, and stops when there is a difference to be seen, sees one too often:
five looks at intervals of 95 % find a difference where there is none in about 15 %. So two
confidences: a comparison gets no further rounds once a much stricter interval shows a difference,
and the analysis, which comes last, is a little stricter than stated. A verdict is wrong at most as
often as any of these intervals misses the truth, and their shares add up to what the configuration
states (Haybittle and Peto's rule). No look counts with few rounds, which may agree by chance where
the noise has two modes. ``docs/method.md`` shows that this holds.

Source
------
J. L. Haybittle, Brit. J. Radiology 44 (1971); R. Peto et al., Brit. J. Cancer 34 (1976).
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.grid import Grid, conditions_of
from copycost.errors import DataError

PASSES = 4
"""Passes behind the grid, at most, and so the looks at a comparison before the analysis."""

FEWEST_ROUNDS = 5
"""With fewer rounds [count] no comparison is settled."""

# The share of all errors that each look but the last may make.
_PER_LOOK = 0.05


def confidence_to_settle(stated: float) -> float:
    """Return the confidence with which a comparison is settled before the end (0 to 1)."""
    return 1.0 - _PER_LOOK * (1.0 - stated)


def confidence_of_analysis(stated: float) -> float:
    """Return the confidence of the analysis behind the looks (0 to 1)."""
    return 1.0 - (1.0 - PASSES * _PER_LOOK) * (1.0 - stated)


def stated_confidence(of_analysis: float) -> float:
    """Return the confidence that `confidence_of_analysis` was given (0 to 1)."""
    return round(1.0 - (1.0 - of_analysis) / (1.0 - PASSES * _PER_LOOK), 12)


def analysed(config: Config) -> Config:
    """Return a configuration with the confidence that the analysis of the grids has.

    It is higher than stated where comparisons were looked at while they were measured.
    """
    if config.measure.minutes is None:
        return config
    confidence = confidence_of_analysis(config.statistics.confidence)
    return replace(config, statistics=replace(config.statistics, confidence=confidence))


PASS_PATTERN = "results/passes/{number}.json"
"""What each pass chose, by its number from 1."""

GIVEN_PATH = Path("results/given.json")
"""The records of another host, in the form of a pass: these are all, and none is measured here."""


def is_given() -> bool:
    """Return whether the results in this folder are another host's."""
    return GIVEN_PATH.is_file()


def given_or(grid: Grid) -> Grid:
    """Return the records of another host as a grid, if the results here are one's, else `grid`."""
    if not is_given():
        return grid
    cells = tuple(sorted(read_pass(GIVEN_PATH)))
    there = conditions_of(cells)
    return Grid(cells, tuple(one for one in grid.conditions if one in there), rounds=1)


def write_pass(cells: Sequence[Cell], path: Path) -> None:
    """Write the cells that a pass chose."""
    content = {"schema_version": 1, "records": [cell.path for cell in cells]}
    path.write_text(f"{json.dumps(content, indent=1)}\n", encoding="utf-8")


def read_pass(path: Path) -> list[Cell]:
    """Return the cells that `write_pass` wrote; none where it did not, or from what is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return [Cell.from_path(record) for record in content["records"]]
    except (OSError, ValueError, KeyError, RecursionError, TypeError, DataError):
        return []


def further_jobs(
    repetitions: Iterable[Cell], wanted: Mapping[Cell, int], n_each: Callable[[Cell], int]
) -> list[Cell]:
    """Return the first repetitions of further jobs of cells, behind all that there are.

    Comparisons of cells that are alone pair repetitions of the same number, which therefore have to
    be of the same time: the numbers go on behind those of all implementations of the same size,
    threads and condition. `wanted` counts the jobs of each cell, `n_each` the repetitions of a job.
    """
    last: dict[Cell, int] = {}
    for cell in repetitions:
        group = _group_of(cell)
        last[group] = max(last.get(group, 0), cell.rep)
    return [
        replace(cell, rep=last.get(_group_of(cell), 0) + 1 + job * n_each(cell))
        for cell in sorted(wanted)
        for job in range(wanted[cell])
    ]


def _group_of(cell: Cell) -> Cell:
    return replace(cell, implementation="", rep=1)


def known_paths(config: Config) -> list[str]:
    """Return the paths of all records that a configuration asks for, as far as they are known.

    What a pass chose is known once the records before it are there.
    """
    n_passes = 0 if config.measure.minutes is None else PASSES
    before = records_before(
        Grid.of(config), n_passes + 1, lambda number: PASS_PATTERN.format(number=number)
    )
    return list(dict.fromkeys(before))


def records_before(
    grid: Grid, number: int, chosen: Callable[[int], str], study: str | None = None
) -> list[str]:
    """Return the records that a pass looks at: those of the grid and of the passes before it.

    `chosen` gives the path of what a pass chose, and has Snakemake wait where that is not known
    yet; only one study's records are returned where it is named.
    """
    cells = list(grid.cells)
    for earlier in range(1, number):
        more = read_pass(Path(chosen(earlier)))
        if not more:
            break  # nor will any later pass choose anything, from the same records
        cells += more
    return [cell.path for cell in cells if study in (None, cell.study)]


def all_records(grid: Grid, config: Config, study: str | None, chosen: Callable[[int], str]) -> Any:  # noqa: ANN401
    """Return the records of a run, or of one study of it, as the input of a rule."""
    if is_given() or config.measure.minutes is None:
        return grid.paths(study)
    return lambda _wildcards: records_before(grid, PASSES + 1, chosen, study)
