"""The quantities that are summarised and compared, with the words for what they show."""

from dataclasses import dataclass

import pandas as pd

from copycost.analysis.stats.ratios import Direction
from copycost.config.strategy_capabilities import BASELINE as BASELINE
from copycost.config.testbeds import receives_on
from copycost.observers.perf.events import COST_EVENTS
from copycost.records.columns import THROUGHPUT as THROUGHPUT
from copycost.records.cpu_attribution import cost_columns, machine_columns
from copycost.wording.numbers import format_percent

ROUND_TRIP_TIMES = ("p50_ns", "p99_ns")
"""Columns of the table of round trips that hosts are compared by."""

SIDES = ("sender", "receiver", "both")
COST_QUANTITIES = ("cpu_ns", *COST_EVENTS)

SUMMARISED = (
    THROUGHPUT,
    "service_mean_ns",
    "service_median_ns",
    "service_p99_ns",
    *(f"{side}_{quantity}_per_byte" for side in SIDES for quantity in COST_QUANTITIES),
    "context_switches_per_message",
    "sender_syscalls_per_message",
    "zc_copied_share",
)
"""Columns of the cells table that `summary.csv` has a row for in every cell."""

SUMMARISED_OF_GUESTS = tuple(column.name for column in cost_columns())
"""Those that it has besides where sides of a run were in guests."""

SUMMARISED_OF_MACHINES = tuple(
    column.name for column in machine_columns() if column.unit == "ns/byte"
)
"""Those that it has besides where each side of a run was on a machine of its own."""

COMPARED = (THROUGHPUT, *(f"both_{quantity}_per_byte" for quantity in COST_QUANTITIES))
"""Columns of the cells table that `ratios.csv` compares."""

COMPARED_SENDER_ONLY = tuple(name.replace("both_", "sender_") for name in COMPARED)
"""The same under conditions where nobody receives, so that there is no cost of both sides."""

# Below this share of repetitions with a count, a counter is not what a figure or a text rests on.
_MIN_COUNTED_SHARE = 0.9


def verdict(metric: str, direction: Direction) -> str:
    """Return the word for a comparison, such as faster, more expensive or fewer."""
    if direction not in (Direction.ABOVE, Direction.BELOW):
        return direction.value
    above = direction is Direction.ABOVE
    if metric == THROUGHPUT or metric in ROUND_TRIP_TIMES:
        return "faster" if above == (metric == THROUGHPUT) else "slower"
    if "_misses_" in metric or "_instructions_" in metric:
        return "more" if above else "fewer"
    return "more expensive" if above else "cheaper"


@dataclass(frozen=True, slots=True)
class CostMetric:
    """What "cost per byte" means in this run: ``cycles``, ``ref_cycles`` or ``cpu_ns``.

    Label and unit, that of one byte's cost, are as text and axes show them; the reason is why a
    better one was not taken: ``cycles_counted``, ``cycles_not_counted``, ``cycles_user_mode_only``,
    ``not_counted``.
    """

    name: str
    label: str
    unit: str
    reason: str

    def column(self, side: str) -> str:
        """Return the column of the cells table for a side: sender, receiver or both."""
        return f"{side}_{self.name}_per_byte"


def choose_cost_metric(cells: pd.DataFrame) -> CostMetric:
    """Choose the cost per byte that this run can show for all its cells; the sender's, if alone.

    Cycles where they were counted, kernel included; without a PMU the CPU time, which every host
    gives. Reference cycles (the time stamp counter) say the same as CPU time in another unit, so
    they are taken only where no CPU time was recorded. One choice for the whole run: costs in
    different units cannot stand in one figure.
    """
    measured = cells[cells["status"] == "measured"]
    alone = ~measured["testbed"].map(receives_on).astype(bool)

    def share(quantity: str) -> float:
        both, sender = (measured[f"{side}_{quantity}_per_byte"] for side in ("both", "sender"))
        return counted_share(both.fillna(sender.where(alone)).to_frame("cost"), "cost")

    user_only = bool(measured["user_mode_only"].fillna(False).astype(bool).any())
    of_cycles, of_time = share("cycles"), share("cpu_ns")
    counted = of_cycles >= _MIN_COUNTED_SHARE
    reason = "cycles_user_mode_only" if counted else "cycles_not_counted"
    if counted and not user_only:
        return CostMetric("cycles", "CPU cycles", "cycles", "cycles_counted")
    if of_time < _MIN_COUNTED_SHARE and share("ref_cycles") >= _MIN_COUNTED_SHARE:
        return CostMetric("ref_cycles", "reference cycles", "reference cycles", reason)
    if measured.empty or of_time > 0.0:
        return CostMetric("cpu_ns", "CPU time", "ns", reason)
    # Tables of others may lack CPU time altogether.
    if of_cycles > 0.0:
        return CostMetric("cycles", "CPU cycles", "cycles", "cycles_counted")
    return CostMetric("cpu_ns", "CPU time", "ns", "not_counted")


def counted_share(measured: pd.DataFrame, column: str) -> float:
    """Return the share of repetitions in which a column holds a count (0 to 1).

    A counter that reads 0 in every repetition counts nothing, whatever its status says.
    """
    if measured.empty or column not in measured:
        return 0.0
    values = measured[column]
    if not (values.fillna(0.0) != 0.0).any():
        return 0.0
    return float(values.notna().mean())


COPIED_SHARE = "zc_copied_share"
"""The metric of the summary that tells, where a sender asked for zero copy."""


def copied_label(low: float, high: float) -> str | None:
    """Return what a zero-copy send is called, of which a share from `low` to `high` was copied.

    Such as ``zero-copy requested, 100 % copied``; None where nothing was copied.
    """
    if not high > 0.0:
        return None
    first, last = format_percent(low), format_percent(high)
    share = last if first == last else f"{first} to {last}"
    return f"zero-copy requested, {share} copied"


def copied_labels(summary: pd.DataFrame) -> dict[str, str]:
    """Return, by implementation of a condition, the label of those whose sends were copied."""
    shares = summary[(summary["metric"] == COPIED_SHARE) & (summary["n"] > 0)]
    labels = {}
    for name, rows in shares.groupby("implementation", sort=False):
        label = copied_label(float(rows["median"].min()), float(rows["median"].max()))
        if label is not None:
            labels[str(name)] = label
    return labels
