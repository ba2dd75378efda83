"""From the records of `datagrams` to its table: one row per repetition."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.config.datagrams import DatagramCell
from copycost.drivers.iperf3.derive import rates_of
from copycost.drivers.iperf3.output import udp_totals
from copycost.records.columns import SIDES
from copycost.studies.datagrams.loss import CAUSES, account_of
from copycost.studies.record_table import begin_row, table_of

TASK_CLOCK = "task_clock"
"""What the column `cpu_clock` says where perf counted both sides."""

COLUMNS: dict[str, str] = {
    "testbed": "where the datagrams travel",
    "implementation": "iperf3, or a strategy of ours",
    "msg_bytes": "UDP payload of a datagram [bytes]",
    "n_threads": "sockets that send [count]",
    "rep": "number of the repetition, from 1",
    "status": "measured, skipped or failed",
    "reason": "why it was skipped or failed",
    "remedy": "what helps",
    "sent_bits_per_s": "payload sent in the window [bit/s]",
    "bits_per_s": "payload received in the window [bit/s]",
    "sent_per_s": "datagrams sent in the window [1/s]",
    "received_per_s": "datagrams received in the window [1/s]",
    "sender_cpu_percent": "CPU used by the senders in the window [% of one CPU]",
    "receiver_cpu_percent": "CPU used by the receivers in the window [% of one CPU]",
    "cpu_clock": "whose account that is: task_clock (perf stat), or scheduler where perf did not"
    " count both sides",
    "sender_ns": "senders' CPU time per datagram sent [ns]",
    "receiver_ns": "receivers' CPU time per datagram received [ns]",
    "sent": "datagrams sent, from the first until the receivers had read all [count]",
    "received": "datagrams received until then [count]",
    "lost": "the difference [count]",
    "lost_receive_buffer": "lost for want of room in the receive buffer [count]",
    "lost_socket_memory": "lost for want of memory for sockets [count]",
    "lost_device": "dropped by a network device [count]",
    "lost_other": "lost to what else the kernel counts [count]",
    "lost_unaccounted": "lost, and counted nowhere [count]",
    "drained": "the receivers had read all by then",
    "driver_sent": "datagrams sent in the whole test, by the driver [count]",
    "driver_lost": "datagrams lost in the whole test, by the driver [count]",
    "driver_out_of_order": "datagrams out of order, by the driver [count]",
    "kernel_sent": "datagrams sent in the whole test, by the kernel [count]",
    "kernel_lost": "datagrams lost or left unread in the whole test, by the kernel [count]",
    "flags": "codes of the record's warnings, joined by ;",
    "driver_version": "version of the driver",
    "process_pairs": "senders, each with a receiver [count]",
}
"""Name, and meaning with unit, of each column of results/tables/datagrams.csv."""


def collect(paths: Iterable[Path]) -> pd.DataFrame:
    """Return the table of some records, columns as in `COLUMNS`, in the order of the paths."""
    return table_of(paths, DatagramCell, row_of, COLUMNS)


def row_of(record: Mapping[str, Any], cell: DatagramCell) -> dict[str, Any]:
    """Return one record's row; what was not measured is NaN."""
    row = _begin_row(record, cell)
    if record["status"] != "measured":
        return row
    rates = rates_of(record)
    row.update({key: rates[key] for key in rates.keys() & COLUMNS.keys()})
    row.update(_cpu_use(rates))
    row["sent_per_s"] = row["sent_bits_per_s"] / 8 / row["msg_bytes"]
    row["received_per_s"] = row["bits_per_s"] / 8 / row["msg_bytes"]
    row["sender_ns"] = _ns_each(row["sender_cpu_percent"], row["sent_per_s"])
    row["receiver_ns"] = _ns_each(row["receiver_cpu_percent"], row["received_per_s"])
    if record["datagrams"] is not None:
        row.update(_accounts(record["datagrams"]))
    row.update(_driver_totals(record["driver"]))
    return row


def _begin_row(record: Mapping[str, Any], cell: DatagramCell) -> dict[str, Any]:
    key = {
        "testbed": cell.testbed,
        "implementation": cell.driver,
        "msg_bytes": cell.datagram_bytes,
        "n_threads": cell.n_streams,
        "rep": cell.rep,
    }
    return begin_row(record, key, COLUMNS)


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


def _accounts(datagrams: Mapping[str, Any]) -> dict[str, Any]:
    stopped, end = account_of(datagrams), account_of(datagrams, "end")
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
    totals = [udp_totals(pair["client"]) for pair in driver["pairs"]]

    def added(name: str) -> float:
        values = [getattr(total, name) for total in totals]
        return math.nan if any(value is None for value in values) else float(sum(values))

    return {
        "driver_sent": added("sent"),
        "driver_lost": added("lost"),
        "driver_out_of_order": added("out_of_order"),
    }
