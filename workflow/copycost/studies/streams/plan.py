"""How many CPUs a bitrate takes in each cell, from what a byte cost there at full speed."""

from dataclasses import dataclass

import pandas as pd

from copycost.analysis.metrics import THROUGHPUT
from copycost.grid.conditions import Condition

_POINT = ["condition", "implementation", "msg_bytes", "n_threads"]


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
        and high are NaN where one repetition gives none.
    sender, receiver
        CPUs of either side; the receiver's are NaN where nobody receives.
    most_bits_per_s
        What was measured there: the cell at full speed [bit/s].
    is_beyond
        Whether the bitrate is more than that, so that the CPUs are no answer.
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


def needs_of(summary: pd.DataFrame, bits_per_s: float) -> list[Need]:
    """Return what a bitrate takes in each cell that was measured, in the order of the table.

    A byte is taken to cost what it costs at full speed, which nobody measured at less.

    Parameters
    ----------
    summary
        ``results/tables/summary.csv``.
    """
    known = summary[summary["n"] > 0].set_index([*_POINT, "metric"])
    bytes_per_ns = bits_per_s / 8.0 / 1e9
    found = []
    for cell, rows in known.groupby(level=_POINT, sort=False):
        values = rows.droplevel(_POINT)
        condition, implementation, msg_bytes, n_threads = cell
        alone = Condition.from_slug(condition).sender_only
        cost = f"{'sender' if alone else 'both'}_cpu_ns_per_byte"
        if not {THROUGHPUT, cost} <= set(values.index):
            continue
        most = float(values.loc[THROUGHPUT, "median"])
        sender, receiver = (
            float(values["median"].get(f"{side}_cpu_ns_per_byte", float("nan"))) * bytes_per_ns
            for side in ("sender", "receiver")
        )
        found.append(
            Need(
                condition, Condition.from_slug(condition).testbed, implementation,
                int(msg_bytes), int(n_threads),
                *(float(values.loc[cost, end]) * bytes_per_ns for end in ("median", "low", "high")),
                sender, receiver, most, bits_per_s > most,
            )
        )  # fmt: skip
    return found


def least_of(needs: list[Need]) -> list[Need]:
    """Return of each condition and implementation the cell that takes the fewest CPUs.

    Where none reaches the bitrate, the one that comes closest.
    """
    ways: dict[tuple[str, str], list[Need]] = {}
    for need in needs:
        ways.setdefault((need.condition, need.implementation), []).append(need)
    return [
        min(of, key=lambda need: (need.is_beyond, -need.most_bits_per_s if need.is_beyond else
                                  need.cpus))
        for of in ways.values()
    ]  # fmt: skip
