"""From the records of `cpu_budget` to its table: one row per repetition."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.config.cpu_budget import WHOLE_CPU, BudgetCell
from copycost.drivers.iperf3.derive import congestion_control_of, rates_of
from copycost.studies.record_table import begin_row, table_of

COLUMNS: dict[str, str] = {
    "testbed": "where the bytes travel",
    "implementation": "iperf3, or a strategy of ours",
    "limiter": "what limits the sender's CPU",
    "n_threads": "parallel connections [count]",
    "limit_percent": "CPU offered per stream [% of one CPU]",
    "rep": "number of the repetition, from 1",
    "status": "measured, skipped or failed",
    "reason": "why it was skipped or failed",
    "remedy": "what helps",
    "limiter_kind": "interface of the limiter",
    "offered_percent": "CPU offered to all senders together [% of one CPU]",
    "sender_cpu_percent": "CPU used by the senders, scheduler's clock [% of one CPU]",
    "receiver_cpu_percent": "CPU used by the receivers, scheduler's clock [% of one CPU]",
    "sender_perf_percent": "the same by perf stat's task-clock [% of one CPU]",
    "receiver_perf_percent": "the same by perf stat's task-clock [% of one CPU]",
    "sender_waiting_percent": "time the senders could run but had no CPU [% of one CPU]",
    "receiver_waiting_percent": "time the receivers could run but had no CPU [% of one CPU]",
    "sent_bits_per_s": "payload sent, by the driver's intervals in the window; not known of our own"
    " sender under cpulimit [bit/s]",
    "bits_per_s": "payload received, by the driver's intervals in the window [bit/s]",
    "kernel_bits_per_s": "payload received, by the kernel's count of reads [bit/s]",
    "retransmits": "segments sent again in the window [count]",
    "held_share": "share of the limiter's periods in which it held back [1]",
    "limiter_missed": "used and offered CPU differ by more than 5 points per stream, by the"
    " limiter's doing",
    "saturated": "the senders left more than 5 points per stream of the offered CPU unused",
    "flags": "codes of the record's warnings, joined by ;",
    "n_intervals": "whole intervals of the driver within the window [count]",
    "driver_version": "version of the driver",
    "process_pairs": "senders, each with a receiver [count]",
    "congestion_control": "of the sender's sockets, as the driver says",
}
"""Name, and meaning with unit, of each column of results/tables/cpu_budget.csv."""

MISS_POINTS = 5.0
"""Points per stream, in % of one CPU, by which a limiter may miss."""

# of the periods: a limiter that held back in as many had the sender's CPU use in its hands
_HELD_SHARE = 0.5
# a receiver that uses as much of its CPUs has none left
_BUSY_PERCENT = 95.0


def collect(paths: Iterable[Path]) -> pd.DataFrame:
    """Return the table of some records, columns as in `COLUMNS`, in the order of the paths."""
    return table_of(paths, BudgetCell, row_of, COLUMNS)


def row_of(record: Mapping[str, Any], cell: BudgetCell) -> dict[str, Any]:
    """Return one record's row; what was not measured is NaN."""
    row = _begin_row(record, cell)
    limiter = record["limiter"]
    if limiter is not None:
        row["limiter_kind"] = limiter["kind"]
    if record["status"] != "measured":
        return row
    row.update(rates_of(record))
    row["congestion_control"] = congestion_control_of(record["driver"])
    throttled = limiter["throttled"]
    if row["limit_percent"] == WHOLE_CPU:
        row["held_share"] = 0.0  # measured without a limit
    elif throttled is not None and throttled["periods"]:
        row["held_share"] = throttled["throttled_periods"] / throttled["periods"]
    row["limiter_missed"], row["saturated"] = judge_limit(
        row["sender_cpu_percent"] / row["n_threads"],
        float(row["limit_percent"]),
        row["held_share"],
        row["receiver_cpu_percent"] / row["n_threads"],
        row["sender_waiting_percent"] / row["n_threads"],
        held=limiter["held"],
    )
    return row


def _begin_row(record: Mapping[str, Any], cell: BudgetCell) -> dict[str, Any]:
    key = {
        "testbed": cell.testbed,
        "implementation": cell.driver,
        "limiter": cell.limiter,
        "n_threads": cell.n_streams,
        "limit_percent": cell.limit_percent,
        "rep": cell.rep,
    }
    row = begin_row(record, key, COLUMNS)
    offered = float(cell.limit_percent * cell.n_streams)
    row.update(offered_percent=offered, limiter_missed=False, saturated=False)
    return row


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

    Parameters
    ----------
    used, limit, receiver_used, waiting : float
        Per stream [% of one CPU]; the time that the sender waited for a CPU may be NaN.
    held_share : float
        Share of the periods in which the limiter held back; NaN where it does not tell.
    held : bool
        The limiter was alive throughout.
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
