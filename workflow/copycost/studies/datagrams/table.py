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
    row = begin_row(record, cell, DATAGRAMS)
    if record["status"] != "measured":
        return row
    rates = rates_of(record)
    row.update({key: rates[key] for key in rates.keys() & set(DATAGRAMS.names)})
    row["rate_limit_bits_per_s"] = limit_of(record["driver"])
    row.update(_cpu_use(rates))
    row.update(costs_of(row, row["bits_per_s"] / 8))
    row["sent_per_s"] = row["sent_bits_per_s"] / 8 / row["msg_bytes"]
    row["received_per_s"] = row["bits_per_s"] / 8 / row["msg_bytes"]
    row["sender_ns"] = _ns_each(row["sender_cpu_percent"], row["sent_per_s"])
    row["receiver_ns"] = _ns_each(row["receiver_cpu_percent"], row["received_per_s"])
    row["mtu_bytes"] = record["testbed"]["mtu_bytes"]
    packets_each = packets_of(cell.msg_bytes, row["mtu_bytes"])
    row["packets_each"] = packets_each
    far = kernels_on(cell.testbed) > 1
    ours = record["driver"].get("sender")
    messages = None if ours is None else int(ours["total"]["datagrams"])
    row.update(
        _accounts(
            record["observed"]["datagrams"], packets_each, far=far, messages=messages,
            n_connections=cell.n_threads,
        )
    )  # fmt: skip
    row.update(_driver_totals(record["driver"]))
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


def _ns_each(cpu_percent: float, per_s: float) -> float:
    """Return CPU time per datagram [ns]."""
    return cpu_percent / 100 * 1e9 / per_s if per_s > 0 else math.nan


def _accounts(
    datagrams: Mapping[str, Any],
    packets_each: int,
    *,
    far: bool,
    messages: int | None,
    n_connections: int,
) -> dict[str, Any]:
    stopped, end = (
        account_of(
            datagrams, until, packets_each, far=far, messages=messages, n_connections=n_connections
        )
        for until in ("stopped", "end")
    )
    return {
        "sent": stopped.sent,
        "received": stopped.received,
        "lost": stopped.lost,
        **{f"lost_{cause}": getattr(stopped, cause) for cause in CAUSES},
        "lost_unaccounted": stopped.unaccounted,
        "drained": stopped.drained,
        "kernel_sent": end.sent,
        "kernel_lost": end.lost,
    }


def _driver_totals(driver: Mapping[str, Any]) -> dict[str, Any]:
    """Return what iperf3 itself says of the whole test, all pairs together; NaN if one does not."""
    # our programs have no such account
    totals = [udp_totals(pair["client"]) for pair in driver.get("pairs", [{"client": {}}])]

    def added(name: str) -> float:
        values = [getattr(total, name) for total in totals]
        return math.nan if any(value is None for value in values) else float(sum(values))

    return {
        "driver_sent": added("sent"),
        "driver_lost": added("lost"),
        "driver_out_of_order": added("out_of_order"),
    }
