"""What a byte costs in virtual machines, and the same cells without them."""

import pandas as pd

from tools.recompute.run import THROUGHPUT, Run

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
    return run.logs_of(rows, here) - run.values(without(condition), there)


def outside(rows: pd.DataFrame) -> pd.Series:
    """Return the CPU time that the hypervisors, and a process on the machine, take for a byte."""
    watched = [f"{side}_hypervisor_cpu_ns_per_byte" for side in SIDES]
    known = [name for name in watched if name in rows]
    return rows[known].sum(axis=1, min_count=1) + apart(rows)


def apart(rows: pd.DataFrame) -> pd.Series:
    """Return the CPU time of the receiving process where it runs on the machine itself."""
    alone = rows["testbed"].str.startswith("vm_host")
    return rows["receiver_cpu_ns_per_byte"].where(alone, 0.0).astype(float)
