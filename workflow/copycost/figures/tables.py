"""The tables that figures are drawn from, and the table behind a figure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from copycost.analysis.columns import read_table
from copycost.analysis.conditions import accelerator_of
from copycost.analysis.metrics import SIDES, CostMetric, choose_cost_metric, copied_labels
from copycost.config.testbeds import receives_on
from copycost.errors import DataError
from copycost.figures.markers import in_order
from copycost.records.cpu_attribution import EMULATED
from copycost.records.table import read_table as read_cells

COLUMNS = (
    "condition", "implementation", "msg_bytes", "n_threads", "quantity", "unit", "value", "low",
    "high", "n", "n_failed", "n_skipped", "state", "lower_mode", "upper_mode",
)  # fmt: skip
"""Columns of the CSV behind a figure; one row is one point, drawn or missing.

`value` is the median of `n` repetitions in `unit`, `low` and `high` its interval (empty when
there is none). `state` is ``measured``, ``failed``, ``skipped`` or ``not counted``. Where the
repetitions fall into two clusters, `lower_mode` and `upper_mode` are the medians of these.
"""


@dataclass(frozen=True, slots=True)
class Legend:
    """The implementations of the run in order, and what a legend says of some besides the name.

    Where guests were emulated, the note below the figure says so.
    """

    implementations: tuple[str, ...]
    labels: Mapping[str, str]
    emulated: bool = False


@dataclass(frozen=True, slots=True)
class Tables:
    """What a figure of one condition is drawn from: rows of tables of this condition only.

    Implementations are all of the run in legend order, so that one that is missing under this
    condition takes no colour from another; `cost` is what cost per byte means in the whole run;
    labels are `copied_labels`. Where nobody receives, the sender is the only side that has costs.
    """

    condition: str
    implementations: tuple[str, ...]
    cost: CostMetric
    cells: pd.DataFrame
    summary: pd.DataFrame
    sides: tuple[str, ...] = SIDES
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def legend(self) -> Legend:
        """Return what the legend of a figure is made of."""
        return Legend(self.implementations, self.labels, accelerator_of(self.cells) == EMULATED)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure and the table behind it (see `COLUMNS`)."""

    figure: Figure
    data: pd.DataFrame


def tables_of(condition: str, cells: pd.DataFrame, summary: pd.DataFrame) -> Tables:
    """Return the rows of one condition, with the implementations of all of them."""
    mine = rows_of(summary, condition)
    nobody_receives = not any(receives_on(testbed) for testbed in set(mine["testbed"]))
    return Tables(
        condition=condition,
        implementations=in_order(summary["implementation"]),
        cost=choose_cost_metric(cells),
        cells=rows_of(cells, condition),
        summary=mine,
        sides=SIDES[:1] if nobody_receives else SIDES,
        labels=copied_labels(mine),
    )


def rows_of(table: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the rows of one condition."""
    # Tables that others measured know testbeds only.
    return table[table["condition" if "condition" in table else "testbed"] == condition]


def read_tables(conditions: Iterable[str], cells: Path, summary: Path) -> Iterator[Tables]:
    """Read the tables once, and yield the rows of each condition."""
    tables = read_cells(cells), read_table(summary)
    for condition in conditions:
        found = tables_of(condition, *tables)
        if found.summary.empty:
            raise DataError(f"{summary}: no row of {condition}; collect the tables again")
        yield found


@dataclass(frozen=True, slots=True)
class Quantity:
    """How an axis shows one metric of the summary: ``throughput`` in ``Gbit/s``, say.

    The unit is empty for a plain number; `scale` is the factor from the summary's unit to it.
    """

    name: str
    unit: str
    scale: float = 1.0

    @property
    def label(self) -> str:
        """Return the axis label, ``quantity [unit]``."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def points(tables: Tables, metrics: Mapping[str, Quantity]) -> pd.DataFrame:
    """Return `COLUMNS` of some metrics of the summary, in display units, in drawing order."""
    return points_of(tables.condition, tables.summary, tables.implementations, metrics)


def points_of(
    condition: str,
    summary: pd.DataFrame,
    implementations: Sequence[str],
    metrics: Mapping[str, Quantity],
) -> pd.DataFrame:
    """Return the points of some metrics from one condition's rows of the summary; see `points`."""
    parts = []
    for metric, quantity in metrics.items():
        rows = summary[summary["metric"] == metric].rename(columns={"median": "value"})
        rows = rows.assign(condition=condition, quantity=quantity.name, unit=quantity.unit)
        for name in ("value", "low", "high", "lower_mode", "upper_mode"):
            # of modes only throughput is looked at, and not all tables are summaries of cells
            rows[name] = rows[name] * quantity.scale if name in rows else float("nan")
        rows["state"] = np.select(
            [rows["n"] > 0, rows["n_failed"] > 0, rows["n_skipped"] > 0],
            ["measured", "failed", "skipped"], "not counted",
        )  # fmt: skip
        rows["order"] = [implementations.index(name) for name in rows["implementation"]]
        rows = rows.sort_values(["order", "n_threads", "msg_bytes"], kind="stable")
        parts.append(rows)
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat(parts)[list(COLUMNS)].reset_index(drop=True)


def confidence(data: pd.DataFrame) -> float | None:
    """Return the confidence level of the summary's intervals (0..1), None where there is none."""
    levels = data["confidence"].dropna()
    return None if levels.empty else float(levels.iloc[0])


def spread(values: Iterable[int], most: int) -> list[int]:
    """Return at most `most` of the values, evenly spread, with the smallest and the largest.

    Of a single one that has room, the smallest.
    """
    ordered = sorted(set(values))
    if len(ordered) <= most or most < 2:
        return ordered[:most]
    last = len(ordered) - 1
    return [ordered[round(place * last / (most - 1))] for place in range(most)]


def left_out(values: Iterable[int], shown: Sequence[int], noun: str) -> str:
    """Return the sentence that says which values a figure had no room for."""
    missing = [str(value) for value in sorted(set(values)) if value not in shown]
    return f"Not drawn for lack of room: {', '.join(missing)} {noun}." if missing else ""
