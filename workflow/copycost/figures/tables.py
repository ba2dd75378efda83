"""The tables that figures are drawn from, and the table behind a figure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
from copycost.wording.words import plural

COLUMNS = (
    "condition",
    "implementation",
    "msg_bytes",
    "n_threads",
    "quantity",
    "unit",
    "value",
    "low",
    "high",
    "n",
    "n_failed",
    "n_skipped",
    "state",
    "lower_mode",
    "upper_mode",
)
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
    """What a figure of one condition is drawn from.

    Attributes
    ----------
    condition
        The condition whose cells are drawn.
    implementations
        All implementations of the run in legend order, so that one that is missing under this
        condition takes no colour from another.
    cost
        What cost per byte means in the whole run.
    cells, summary, ratios
        The tables of the same names, rows of this condition only.
    sides
        Whose costs there are: sender, receiver and both; the sender alone where nobody receives.
    labels
        What a legend says of an implementation besides its name; see `copied_labels`.
    """

    condition: str
    implementations: tuple[str, ...]
    cost: CostMetric
    cells: pd.DataFrame
    summary: pd.DataFrame
    ratios: pd.DataFrame
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


def tables_of(
    condition: str, cells: pd.DataFrame, summary: pd.DataFrame, ratios: pd.DataFrame
) -> Tables:
    """Return the rows of one condition, with the implementations of all of them."""
    mine = rows_of(summary, condition)
    nobody_receives = not any(receives_on(testbed) for testbed in set(mine["testbed"]))
    return Tables(
        condition=condition,
        implementations=in_order(summary["implementation"]),
        cost=choose_cost_metric(cells),
        cells=rows_of(cells, condition),
        summary=mine,
        ratios=rows_of(ratios, condition),
        sides=SIDES[:1] if nobody_receives else SIDES,
        labels=copied_labels(mine),
    )


def rows_of(table: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the rows of one condition."""
    # Tables that others measured know testbeds only.
    return table[table["condition" if "condition" in table else "testbed"] == condition]


def read_tables(
    conditions: Iterable[str], cells: Path, summary: Path, ratios: Path
) -> Iterator[Tables]:
    """Read the three tables once, and yield the rows of each condition.

    Raises
    ------
    DataError
        If the cells break a rule of their table, or no row of the summary is of a condition.
    """
    tables = read_cells(cells), read_table(summary), read_table(ratios)
    for condition in conditions:
        found = tables_of(condition, *tables)
        if found.summary.empty:
            raise DataError(f"{summary}: no row of {condition}; collect the tables again")
        yield found


@dataclass(frozen=True, slots=True)
class Quantity:
    """How one metric of the summary is shown.

    Attributes
    ----------
    name
        What the axis says, such as ``throughput``.
    unit
        Unit on the axis, such as ``Gbit/s``; empty for a plain number.
    scale
        Factor from the summary's unit to `unit`.
    """

    name: str
    unit: str
    scale: float = 1.0

    @property
    def label(self) -> str:
        """Return the axis label, ``quantity [unit]``."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def points(tables: Tables, metrics: Mapping[str, Quantity]) -> pd.DataFrame:
    """Return the points of some metrics, in display units, in drawing order.

    Parameters
    ----------
    tables
        The tables of one condition.
    metrics
        The summary's metrics to take, in order, and how to show each.

    Returns
    -------
    pandas.DataFrame
        Columns `COLUMNS`, one row per metric and cell.
    """
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
        rows = summary[summary["metric"] == metric].copy()
        rows["condition"] = condition
        rows["quantity"] = quantity.name
        rows["unit"] = quantity.unit
        rows["value"] = rows["median"] * quantity.scale
        rows["low"] = rows["low"] * quantity.scale
        rows["high"] = rows["high"] * quantity.scale
        for mode in ("lower_mode", "upper_mode"):
            # only throughput is looked at, and not all tables are summaries of cells
            rows[mode] = rows[mode] * quantity.scale if mode in rows else float("nan")
        rows["state"] = [
            _state(n, failed, skipped)
            for n, failed, skipped in zip(
                rows["n"], rows["n_failed"], rows["n_skipped"], strict=True
            )
        ]
        rows["order"] = [implementations.index(name) for name in rows["implementation"]]
        rows = rows.sort_values(["order", "n_threads", "msg_bytes"], kind="stable")
        parts.append(rows)
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat(parts)[list(COLUMNS)].reset_index(drop=True)


def _state(n: int, n_failed: int, n_skipped: int) -> str:
    if n:
        return "measured"
    if n_failed:
        return "failed"
    return "skipped" if n_skipped else "not counted"


def confidence(data: pd.DataFrame) -> float | None:
    """Return the confidence level of the summary's intervals (0..1), None where there is none."""
    levels = data["confidence"].dropna()
    return None if levels.empty else float(levels.iloc[0])


def counted(n: int, noun: str) -> str:
    """Return ``1 thread`` or ``4 threads``."""
    return plural(int(n), noun)  # a number of NumPy as well


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
    return f"Not drawn for want of room: {', '.join(missing)} {noun}." if missing else ""
