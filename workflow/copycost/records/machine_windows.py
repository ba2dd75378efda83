"""The CPU cost of two whole machines, one for each side, and the packets that were lost there.

With a network card, the work of receiving need not run in the context of either process, so their
CPU time alone is not the cost of a byte. One definition of the columns, and of how their values
follow from what the observer `kernel` found.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from copycost.config.testbeds import is_wire
from copycost.hosts.side import SIDES
from copycost.records.column import Column, number
from copycost.records.cpu_attribution import cost

DROPS: Mapping[str, str] = MappingProxyType(
    {
        "device_rx_errors": "Packets that the {side}'s device received damaged, or rejected",
        "device_rx_dropped": "Packets dropped because the {side}'s kernel did not take them from"
        " its device in time",
        "device_rx_fifo_errors": "Received packets for which the {side}'s device had no room",
        "device_tx_errors": "Packets that the {side}'s device could not send",
        "device_tx_dropped": "Packets dropped before the {side}'s device sent them",
        "device_tx_fifo_errors": "Outgoing packets for which the {side}'s device had no room",
        "device_tx_carrier_errors": "Packets not sent because the {side}'s device had no link",
        "softnet_dropped": "Packets dropped from the backlog queues of the {side}'s kernel",
    }
)
"""How a packet may be lost at either end, by the name of its column without the side."""

_GROUP = "Two machines: each as a whole, its network device, and their clocks"
_COSTS = {
    "machine": "the whole machine that the {side} runs on, all processes, no idle or stolen time",
    "machine_softirq": "the same machine in interrupts and softirqs, counted in clock ticks",
}
_WHERE = "only on testbeds that reach another machine over the network"


def machine_columns(unit: str = "byte") -> tuple[Column, ...]:
    """Return the columns, which are empty if both sides run on one machine, or in guests."""
    costs = [
        cost(f"{side}_{name}", f"CPU time of {words.format(side=side)}", unit)
        for side in SIDES
        for name, words in _COSTS.items()
    ]
    drops = [
        number(f"{side}_{name}", "count",
               f"{words.format(side=side)}, all traffic in the window", lowest=None)
        for side in SIDES
        for name, words in DROPS.items()
    ]  # fmt: skip
    known = "Uncertainty of the offset between the two machines' clocks"
    clock = number("clock_uncertainty_ns", "ns", known)
    return tuple(
        replace(column, group=_GROUP, description=f"{column.description}; {_WHERE}")
        for column in (*costs, *drops, clock)
    )


def cost_names() -> tuple[str, ...]:
    """Return the names of the columns of costs."""
    return tuple(column.name for column in machine_columns() if column.unit == "ns/byte")


def machines_of(
    record: Mapping[str, Any], per_s: float | None, unit: str = "byte"
) -> dict[str, Any]:
    """Return the values of `machine_columns` of a repetition that was measured.

    `per_s` is the number of units of work per second, such as received bytes; without it there is
    no cost.
    """
    if not is_wire(record["cell"]["testbed"]):
        return {}
    ends = record["testbed"]["machines"].values()
    row: dict[str, Any] = {
        "clock_uncertainty_ns": max(machine["clock_uncertainty_ns"] for machine in ends)
    }
    kernel = record["observed"].get("kernel")
    for side, found in ((kernel and kernel["machines"]) or {}).items():
        if per_s:
            for name, key in (("machine", "busy_ns"), ("machine_softirq", "softirq_ns")):
                # parts of a machine's time are rounded each: an idle one's may come out below 0
                cpus = max(0, found[key]) / found["at_ns"]
                row[f"{side}_{name}_cpu_ns_per_{unit}"] = cpus * 1e9 / per_s
        row[f"{side}_softnet_dropped"] = found["softnet_dropped"]
        device = found.get("device", {})
        row |= {f"{side}_device_{name}": value for name, value in device.items()
                if f"device_{name}" in DROPS}  # fmt: skip
    return row
