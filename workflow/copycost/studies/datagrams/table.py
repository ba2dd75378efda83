"""From the records of `datagrams` to its table: one row per repetition."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.config.cells import Cell
from copycost.config.testbeds import kernels_on
from copycost.measure.drivers.iperf3.output import udp_totals
from copycost.measure.drivers.rates import limit_of, rates_of
from copycost.records.columns import SIDES
from copycost.records.cpu_attribution import costs_of
from copycost.studies.datagrams.columns import DATAGRAMS
from copycost.studies.datagrams.loss import CAUSES, account_of
from copycost.studies.record_table import begin_row, table_of
from copycost.testbeds.links import packets_of

TASK_CLOCK = "task_clock"
"""What the column `cpu_clock` says where perf counted both sides."""


def collect(paths: Iterable[Path]) -> pd.DataFrame:
    """Return the table of some records, in the order of the paths."""
    return table_of(paths, row_of, DATAGRAMS)


def row_of(record: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """Return one record's row; what was not measured has no value."""
    row = begin_row(record, cell)
    if record["status"] != "measured":
        return row
    rates = rates_of(record)
    row |= rates | _cpu_use(rates)
    row |= costs_of(row, row["bits_per_s"] / 8)
    row["rate_limit_bits_per_s"] = limit_of(record["driver"])
    for side, done, bits in (("sender", "sent", "sent_bits_per_s"),
                             ("receiver", "received", "bits_per_s")):  # fmt: skip
        row[f"{done}_per_s"] = per_s = row[bits] / 8 / cell.msg_bytes
        cpu_s = row[f"{side}_cpu_percent"] / 100
        row[f"{side}_ns"] = cpu_s * 1e9 / per_s if per_s > 0 else math.nan
    row["mtu_bytes"] = record["testbed"]["mtu_bytes"]
    row["packets_each"] = packets_of(cell.msg_bytes, row["mtu_bytes"])
    ours = record["driver"].get("sender")
    stopped, end = (
        account_of(
            record["observed"]["datagrams"],
            until,
            row["packets_each"],
            far=kernels_on(cell.testbed) > 1,
            messages=None if ours is None else int(ours["total"]["datagrams"]),
            n_connections=cell.n_threads,
        )
        for until in ("stopped", "end")
    )
    row |= {name: getattr(stopped, name) for name in ("sent", "received", "lost", "drained")}
    row |= {f"lost_{cause}": getattr(stopped, cause) for cause in (*CAUSES, "unaccounted")}
    row |= {"kernel_sent": end.sent, "kernel_lost": end.lost}
    # What iperf3 itself says of the whole test; our programs have no such account.
    totals = [udp_totals(pair["client"]) for pair in record["driver"].get("pairs", [])]
    for name in ("sent", "lost", "out_of_order"):
        values = [getattr(total, name) for total in totals] or [None]
        known = all(value is not None for value in values)
        row[f"driver_{name}"] = float(sum(values)) if known else math.nan
    return DATAGRAMS.checked(row)


def _cpu_use(rates: Mapping[str, Any]) -> dict[str, Any]:
    """Return both sides' CPU use by one clock, perf's where it counted both.

    The scheduler charges to a thread that is woken what its waker still does on the same CPU until
    the switch. Where senders and receivers share CPUs, it may give to the receivers more than twice
    what is theirs; the sum of both sides is right.
    """
    counted = {f"{side}_cpu_percent": rates[f"{side}_perf_percent"] for side in SIDES}
    if all(math.isfinite(percent) for percent in counted.values()):
        return counted | {"cpu_clock": TASK_CLOCK}
    return {key: rates[key] for key in counted} | {"cpu_clock": "scheduler"}
