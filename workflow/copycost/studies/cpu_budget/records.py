"""The records of `cpu_budget`: how one is measured, and the table that they become."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from copycost.config.cells import WHOLE_CPU, Cell
from copycost.hosts.side import SIDES
from copycost.measure.drivers.rates import congestion_control_of
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.cpu_limiter import CpuLimit, LimiterKind
from copycost.observers.process_usage import ProcessUsage
from copycost.records.column import fact, grouped, number, text
from copycost.records.record import Record
from copycost.studies.record_table import DRIVER_VERSION, FLAGS, PROCESS_PAIRS, begin_row, define

_CPU = "% of one CPU"
_KEY = (
    fact("testbed", "str", "", "Where the bytes travel"),
    fact("implementation", "str", "", "iperf3, or a strategy of ours"),
    fact("limiter", "str", "", "What limits the sender's CPU"),
    fact("n_threads", "int64", "count", "Parallel connections"),
    fact("limit_percent", "int64", _CPU, "CPU offered per connection"),
    fact("rep", "int64", "", "Number of the repetition, from 1"),
)
_USE = grouped(
    "CPU offered and used",
    text("limiter_kind", "Interface of the limiter", always=True),
    fact("offered_percent", "float64", _CPU, "CPU offered to all senders together"),
    *(
        number(f"{side}_{name}_percent", _CPU, words.format(side=side))
        for name, words in (
            ("cpu", "CPU used by the {side}s, scheduler's clock"),
            ("perf", "CPU used by the {side}s, perf stat's task-clock"),
            ("waiting", "Time for which the {side}s were runnable but had no CPU"),
        )
        for side in SIDES
    ),
)
_RATE = grouped(
    "Bitrate",
    number("sent_bits_per_s", "bit/s",
           "Payload sent, by the driver's intervals in the window; not known for our own sender "
           "under cpulimit"),
    number("bits_per_s", "bit/s", "Payload received, by the driver's intervals in the window"),
    number("kernel_bits_per_s", "bit/s", "Payload received, by the kernel's count of reads"),
    number("retransmits", "count", "Segments retransmitted in the window"),
)  # fmt: skip
_JUDGED = grouped(
    "What held the sender back",
    number("held_share", "1",
           "Share of the limiter's periods in which it throttled the sender", highest=1),
    fact("limiter_missed", "bool", "",
         "Whether used and offered CPU differ by more than 5 points per connection because of "
         "the limiter"),
    fact("saturated", "bool", "",
         "Whether the senders left more than 5 points per connection of the offered CPU unused"),
)  # fmt: skip

CPU_BUDGET = define(
    "table of the CPU budget",
    _KEY,
    _USE,
    _RATE,
    _JUDGED,
    how=(
        FLAGS,
        number("n_intervals", "count", "Whole intervals of the driver within the window"),
        DRIVER_VERSION,
        PROCESS_PAIRS,
        text("congestion_control",
             "Congestion control of the sender's sockets, as the driver reports it"),
    ),
)  # fmt: skip


def measure_budget(task: Task) -> Record:
    """Measure one repetition and return its record; see `measure_repetition`."""
    cell = task.cell
    limit = CpuLimit(
        cast("LimiterKind", cell.limiter),
        cell.limit_percent * cell.n_threads,
        whole=cell.limit_percent == WHOLE_CPU,
    )
    return measure_repetition(replace(task, observers=(ProcessUsage(), limit)))


MISS_POINTS = 5.0
"""Points per stream, in % of one CPU, by which a limiter may miss."""

# of the periods: a limiter that held back in as many had the sender's CPU use in its hands
_HELD_SHARE = 0.5
# a receiver that uses as much of its CPUs has none left
_BUSY_PERCENT = 95.0


def row_of(record: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """Return one record's row; what was not measured has no value."""
    n = cell.n_threads
    row = begin_row(record, cell)
    offered = float(cell.limit_percent * n)
    row |= {"offered_percent": offered, "limiter_missed": False, "saturated": False}
    if record["status"] != "measured":
        return row
    limiter = record["observed"]["cpu_limit"]
    throttled = limiter["throttled"]
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
