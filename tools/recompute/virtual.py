"""What a byte costs in virtual machines, and the same cells without them."""

import math

import pandas as pd

from tools.recompute.run import THROUGHPUT, Run, logs_of

SIDES = ("sender", "receiver")
PROCESSES = "both_cpu_ns_per_byte"
_WITHOUT = {"vm_loopback": "loopback", "vm_pair": "veth", "vm_host": "veth"}


def without(condition: str) -> str:
    """Return the same condition without guests."""
    testbed = max((name for name in _WITHOUT if condition.startswith(name)), key=len)
    return condition.replace(testbed, _WITHOUT[testbed])


def over(run: Run, condition: str, quantity: str) -> pd.DataFrame:
    """Return log ratios to the condition without guests: a row per cell, a column per round.

    Of the throughput, of the CPU time that both processes say they took, or of what the machine
    outside used to what the processes take without guests.
    """
    rows = run.measured(condition)
    if quantity == "outside":
        rows = rows.assign(outside=outside(rows))
    metrics = {"throughput": (THROUGHPUT,) * 2, "inside": (PROCESSES,) * 2}
    here, there = metrics.get(quantity, ("outside", PROCESSES))
    return logs_of(rows, here) - run.values(without(condition), there)


def trips_over(run: Run, condition: str) -> dict[str, pd.DataFrame]:
    """Return the same of round trips, by the title that a report gives each quantity."""
    of = run.round_trips[run.round_trips["status"] == "measured"]
    here, there = (of[of["condition"] == name] for name in (condition, without(condition)))
    inside = "both_cpu_ns_per_round_trip"

    def with_costs(rows: pd.DataFrame) -> pd.DataFrame:
        per_trip = rows["received_bytes"] / rows["samples"]
        costs = {"outside": outside(rows) * per_trip, inside: rows[PROCESSES] * per_trip}
        return rows.assign(**costs)

    here, there = with_costs(here), with_costs(there)
    columns = {
        "median": ("p50_ns",) * 2,
        "99th percentile": ("p99_ns",) * 2,
        "CPU inside": (inside,) * 2,
        "CPU outside": ("outside", inside),
    }
    return {
        title: logs_of(here, one) - logs_of(there, other) for title, (one, other) in columns.items()
    }


def outside(rows: pd.DataFrame) -> pd.Series:
    """Return the CPU time that the hypervisors, and a process on the machine, take for a byte."""
    watched = [f"{side}_hypervisor_cpu_ns_per_byte" for side in SIDES]
    known = [name for name in watched if name in rows]
    if not known:
        return pd.Series(math.nan, rows.index)
    return rows[known].sum(axis=1, min_count=1) + apart(rows)


def apart(rows: pd.DataFrame) -> pd.Series:
    """Return the CPU time of the receiving process where it runs on the machine itself."""
    alone = rows["testbed"].str.startswith("vm_host")
    return rows["receiver_cpu_ns_per_byte"].where(alone, 0.0).astype(float)
