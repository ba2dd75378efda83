"""The records of `datagrams`: how one is measured, and the table that they become."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.config.cells import Cell
from copycost.config.testbeds import kernels_on
from copycost.measure.drivers.iperf3.tool import udp_totals
from copycost.measure.drivers.rates import limit_of, rates_of
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.kernel_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.records.column import fact, flag, grouped, number, text
from copycost.records.columns import RATE_LIMIT, SIDES
from copycost.records.cpu_attribution import costs_of
from copycost.records.record import Record
from copycost.studies.datagrams.loss import account_of
from copycost.studies.record_table import begin_row, define, table_of
from copycost.testbeds.links import packets_of

_CPU = "% of one CPU"
_KEY = (
    fact("testbed", "str", "", "Where the datagrams travel"),
    fact("implementation", "str", "", "iperf3, or a strategy of ours"),
    fact("msg_bytes", "int64", "byte", "UDP payload of a datagram"),
    fact("n_threads", "int64", "count", "Sockets that send"),
    fact("rep", "int64", "", "Number of the repetition, from 1"),
)
_RATE = grouped(
    "Bitrate and cost, in the window",
    number("sent_bits_per_s", "bit/s", "Payload sent"),
    number("bits_per_s", "bit/s", "Payload received"),
    number("rate_limit_bits_per_s", "bit/s", RATE_LIMIT),
    number("sent_per_s", "1/s", "Datagrams sent"),
    number("received_per_s", "1/s", "Datagrams received"),
    number("sender_cpu_percent", _CPU, "CPU used by the senders"),
    number("receiver_cpu_percent", _CPU, "CPU used by the receivers"),
    text("cpu_clock",
         "Clock of these: task_clock (perf stat), or scheduler if perf did not count both sides",
         allowed=("task_clock", "scheduler")),
    number("sender_ns", "ns", "Senders' CPU time per datagram sent"),
    number("receiver_ns", "ns", "Receivers' CPU time per datagram received"),
)  # fmt: skip
# What is counted at two moments, one after the other, may come out below 0.
_LOSS = grouped(
    "Loss, from the first datagram until the receivers had read all",
    number("sent", "count", "Datagrams sent"),
    number("received", "count", "Datagrams received"),
    number("lost", "count", "sent - received", lowest=None),
    number("mtu_bytes", "byte", "MTU of the sender's device"),
    number("packets_each", "count", "Packets that carry a datagram, by the MTU"),
    number("lost_receive_buffer", "count", "Lost because the receive buffer was full"),
    number("lost_socket_memory", "count", "Lost for lack of socket memory"),
    number("lost_reassembly", "count",
           "Lost for lack of room to reassemble packets of a datagram; if a datagram takes "
           "several, losses that no cause at the socket explains are divided between this and the "
           "devices, by packets"),
    number("lost_device", "count", "Dropped by a side's network device, including errors"),
    number("lost_tap", "count", "Dropped by a guest's TAP device, whose queue was full"),
    number("lost_bridge", "count", "Dropped by the bridge between guests"),
    number("lost_other", "count", "Lost to other causes that the kernel counts", lowest=None),
    number("lost_unaccounted", "count", "Lost, but counted nowhere", lowest=None),
    flag("drained", "Whether the receivers had read everything by then"),
)  # fmt: skip
_TOTAL = grouped(
    "The whole test",
    number("driver_sent", "count", "Datagrams sent, by the driver"),
    number("driver_lost", "count", "Datagrams lost, by the driver", lowest=None),
    number("driver_out_of_order", "count", "Datagrams out of order, by the driver"),
    number("kernel_sent", "count", "Datagrams sent, by the kernel"),
    number("kernel_lost", "count", "Datagrams lost or left unread, by the kernel", lowest=None),
)

DATAGRAMS = define("table of datagrams", _KEY, _RATE, _LOSS, _TOTAL)


def measure_datagrams(task: Task) -> Record:
    """Measure one repetition and return its record; see `measure_repetition`."""
    return measure_repetition(replace(task, observers=(ProcessUsage(), LossCounters())))


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
    row |= {f"lost_{cause}": n for cause, n in stopped.causes.items()}
    row["lost_unaccounted"] = stopped.unaccounted
    row |= {"kernel_sent": end.sent, "kernel_lost": end.lost}
    # What iperf3 itself says of the whole test; our programs have no such account.
    totals = [udp_totals(pair["client"]) for pair in record["driver"].get("pairs", [])]
    for name in ("sent", "lost", "out_of_order"):
        values = [value for total in totals if (value := total[name]) is not None]
        known = bool(totals) and len(values) == len(totals)
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
        return counted | {"cpu_clock": "task_clock"}
    return {key: rates[key] for key in counted} | {"cpu_clock": "scheduler"}
