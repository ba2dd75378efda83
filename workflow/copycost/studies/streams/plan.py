"""How many CPUs a bitrate takes in each cell, from what a byte cost there at full speed."""

import csv
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from copycost.config.conditions import Condition
from copycost.errors import DataError
from copycost.hosts.side import SIDES

THROUGHPUT = "throughput_bits_per_s"
_NUMBERS = ("n", "msg_bytes", "n_threads", "median", "low", "high")


@dataclass(frozen=True, slots=True)
class Need:
    """What a bitrate takes in one cell.

    Attributes
    ----------
    condition, implementation, msg_bytes, n_threads
        The cell.
    testbed
        That of the condition.
    cpus, low, high
        CPUs of both sides together (where nobody receives, of the sender) and their interval; low
        and high are NaN where one repetition gives none, or the cell was chosen out of several.
    sender, receiver
        CPUs of either side; the receiver's are NaN where nobody receives.
    most_bits_per_s
        What was measured there: the cell at full speed [bit/s].
    is_beyond
        Whether the bitrate is more than that, so that the CPUs are no answer.
    outside
        CPUs of the hypervisors, which hold those of sides in guests; NaN where there are no guests.
    emulated
        Whether an emulator ran the guests.
    """

    condition: str
    testbed: str
    implementation: str
    msg_bytes: int
    n_threads: int
    cpus: float
    low: float
    high: float
    sender: float
    receiver: float
    most_bits_per_s: float
    is_beyond: bool
    outside: float = math.nan
    emulated: bool = False


def read_summary(path: Path) -> list[dict[str, Any]]:
    """Return the rows of ``results/tables/summary.csv``; pandas would take longer to load.

    Raises
    ------
    DataError
        If it is damaged.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [
                {**row, **{name: float(row[name] or "nan") for name in _NUMBERS}}
                for row in csv.DictReader(file)
            ]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: it is damaged ({error!r}); ./run makes it again") from error


def needs_of(
    summary: Iterable[Mapping[str, Any]], bits_per_s: float, emulated: Collection[str] = ()
) -> list[Need]:
    """Return what a bitrate takes in each cell that was measured, in the order of the table.

    A byte is taken to cost what it costs at full speed, which nobody measured at less.

    Parameters
    ----------
    summary
        As of `read_summary`.
    emulated
        The conditions whose guests an emulator ran.
    """
    cells: dict[tuple[str, str, int, int], dict[str, Mapping[str, Any]]] = {}
    for row in summary:
        if not row["n"] > 0:
            continue
        cell = (
            str(row["condition"]), str(row["implementation"]),
            int(row["msg_bytes"]), int(row["n_threads"]),
        )  # fmt: skip
        cells.setdefault(cell, {})[row["metric"]] = row
    found = (_need(cell, metrics, bits_per_s) for cell, metrics in cells.items())
    return [
        replace(need, emulated=need.condition in emulated) for need in found if need is not None
    ]


def _need(
    cell: tuple[str, str, int, int], metrics: Mapping[str, Mapping[str, Any]], bits_per_s: float
) -> Need | None:
    """Return what it takes in a cell, None where throughput or cost are not known."""
    condition = Condition.from_slug(cell[0])
    cost = metrics.get(f"{'sender' if condition.sender_only else 'both'}_cpu_ns_per_byte")
    if cost is None or THROUGHPUT not in metrics:
        return None
    bytes_per_ns = bits_per_s / 8.0 / 1e9

    def cpus_of(side: str) -> float:
        row = metrics.get(f"{side}_cpu_ns_per_byte")
        return math.nan if row is None else float(row["median"]) * bytes_per_ns

    most = float(metrics[THROUGHPUT]["median"])
    return Need(
        condition=cell[0],
        testbed=condition.testbed,
        implementation=cell[1],
        msg_bytes=cell[2],
        n_threads=cell[3],
        cpus=float(cost["median"]) * bytes_per_ns,
        low=float(cost["low"]) * bytes_per_ns,
        high=float(cost["high"]) * bytes_per_ns,
        sender=cpus_of("sender"),
        receiver=cpus_of("receiver"),
        most_bits_per_s=most,
        is_beyond=bits_per_s > most,
        outside=_outside(metrics) * bytes_per_ns,
    )


def _outside(metrics: Mapping[str, Mapping[str, Any]]) -> float:
    """Return what a byte costs the hypervisors [ns], NaN without any."""
    rows = (metrics.get(f"{side}_hypervisor_cpu_ns_per_byte") for side in SIDES)
    known = [float(row["median"]) for row in rows if row is not None]
    return sum(known) if known else math.nan


def least_of(needs: Sequence[Need]) -> list[Need]:
    """Return of each condition and implementation the cell that takes the fewest CPUs.

    Where none reaches the bitrate, the one that comes closest. The least of several has no
    interval, since that of its cell does not allow for the choice.
    """
    ways: dict[tuple[str, str], list[Need]] = {}
    for need in needs:
        ways.setdefault((need.condition, need.implementation), []).append(need)
    found = []
    for of in ways.values():
        reached = [need for need in of if not need.is_beyond]
        if not reached:
            found.append(max(of, key=lambda need: need.most_bits_per_s))
            continue
        least = min(reached, key=lambda need: need.cpus)
        chosen = len(reached) > 1
        found.append(replace(least, low=math.nan, high=math.nan) if chosen else least)
    return found
