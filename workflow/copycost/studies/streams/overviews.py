"""The figures that are drawn from facts: the ranking of each condition, and those of all."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.analysis.columns import read_table
from copycost.figures import answer, ranking, stacked_costs
from copycost.figures.output import save
from copycost.records import table as records
from copycost.studies.memory import figures as memory_floor
from copycost.studies.round_trips import figures as round_trips
from copycost.studies.round_trips.table import CURVES


def draw_rankings(facts: Mapping[str, Any], figures: Sequence[Path]) -> None:
    """Draw the rankings, each as SVG and CSV side by side."""
    for svg in figures:
        save(ranking.draw(facts, svg.parent.name), svg)


def draw_overviews(
    facts: Mapping[str, Any],
    summary: Path,
    ratios: Path,
    curves: Sequence[Path],
    figures: Sequence[Path],
) -> None:
    """Draw the figures of no single condition, as `draw_rankings` does.

    `curves` are the tables of the distributions of round trips; none where nobody asked for any.
    The files' names say which figure they are.
    """
    draw = {
        "answer": lambda: answer.draw(facts, read_table(ratios), read_table(summary)),
        "memory_floor": lambda: memory_floor.draw(facts),
        "virtual_machines": lambda: stacked_costs.draw_virtual_machines(facts),
        "over_wire": lambda: stacked_costs.draw_over_wire(facts),
        "round_trips": lambda: round_trips.draw(
            facts, pd.concat(records.read_table(path, CURVES) for path in curves)
        ),
    }
    for svg in figures:
        save(draw[svg.stem](), svg)
