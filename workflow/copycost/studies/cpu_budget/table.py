"""From the records of `cpu_budget` to its table: one row per repetition."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.config.cells import WHOLE_CPU, Cell
from copycost.measure.drivers.rates import congestion_control_of, rates_of
from copycost.records.cpu_attribution import costs_of
from copycost.studies.cpu_budget.columns import CPU_BUDGET
from copycost.studies.record_table import begin_row, table_of

MISS_POINTS = 5.0
"""Points per stream, in % of one CPU, by which a limiter may miss."""

# of the periods: a limiter that held back in as many had the sender's CPU use in its hands
_HELD_SHARE = 0.5
# a receiver that uses as much of its CPUs has none left
_BUSY_PERCENT = 95.0


def collect(paths: Iterable[Path]) -> pd.DataFrame:
    """Return the table of some records, in the order of the paths."""
    return table_of(paths, row_of, CPU_BUDGET)


def row_of(record: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """Return one record's row; what was not measured has no value."""
    row = begin_row(record, cell)
    n = cell.n_threads
    row |= {"offered_percent": float(cell.limit_percent * n), "limiter_missed": False}
    row["saturated"] = False
    if record["status"] != "measured":
        return row
    limiter = record["observed"]["cpu_limit"]
    throttled = limiter["throttled"]
    row |= rates_of(record)
    row |= costs_of(row, row["bits_per_s"] / 8)
    row["limiter_kind"] = limiter["kind"]
    row["congestion_control"] = congestion_control_of(record["driver"])
    row["held_share"] = math.nan
    if cell.limit_percent == WHOLE_CPU:
        row["held_share"] = 0.0  # measured without a limit
    elif throttled is not None and throttled["periods"]:
        row["held_share"] = throttled["throttled_periods"] / throttled["periods"]
    row["limiter_missed"], row["saturated"] = judge_limit(
        row["sender_cpu_percent"] / n,
        float(cell.limit_percent),
        row["held_share"],
        row["receiver_cpu_percent"] / n,
        row["sender_waiting_percent"] / n,
        held=limiter["held"],
    )
    return CPU_BUDGET.checked(row)


def judge_limit(
    used: float,
    limit: float,
    held_share: float,
    receiver_used: float,
    waiting: float,
    *,
    held: bool,
) -> tuple[bool, bool]:
    """Return whether the limiter missed, and whether the sender could not use what it was offered.

    Too much CPU used is the limiter's miss. Too little is, where the limiter held the sender back
    most of the time; otherwise the sender waited for something else. A limiter that does not tell
    (NaN) is believed where something else explains it: the receiver's CPU was full, or the sender
    waited for a CPU for as long as is missing.

    All is per stream [% of one CPU]; `waiting` may be NaN. `held_share` is the share of the periods
    in which the limiter held back, and `held` says that it was alive throughout.
    """
    if not held or used > limit + MISS_POINTS:
        return True, False
    if used >= limit - MISS_POINTS:
        return False, False
    if math.isnan(held_share):
        explained = receiver_used >= _BUSY_PERCENT or waiting >= limit - MISS_POINTS - used
        return not explained, explained
    missed = held_share >= _HELD_SHARE
    return missed, not missed
