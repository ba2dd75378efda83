"""Who pays for a byte besides the two processes: guests, their hypervisors, whole machines.

One definition for the tables of all studies: of the columns, and of how their values follow from
what the observers `hypervisor` and `kernel` found. With a network card, the work of receiving need
not run in the context of either process, so that there each machine as a whole is told of.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

from copycost.config.testbeds import is_wire
from copycost.hosts.side import SIDES
from copycost.records.column import Column, fact, grouped, number, text

PARTIES: Mapping[str, str] = MappingProxyType(
    {
        "guest": "the {side}'s guest as a whole, as its own kernel counts it",
        "vcpu": "the threads that run the virtual CPUs of the {side}'s guest",
        "io": "the hypervisor's main loop and I/O threads for the {side}'s guest",
        "vhost": "the kernel's vhost threads for the {side}'s guest",
        "worker": "the hypervisor's other threads for the {side}'s guest",
        "hypervisor": "the hypervisor for the {side}'s guest: vcpu, io, vhost and worker together",
        "overhead": "virtualisation: {side}_hypervisor minus the smaller of {side}_guest and"
        " {side}_vcpu",
    }
)
"""The parties that work for a side besides its process, in words that follow "CPU time of"."""

GUEST_STATUSES: Mapping[str, str] = MappingProxyType(
    {
        "counted": "CPU time of the guest and of its hypervisor was counted",
        "off_window": "only the hypervisor's CPU time was counted; the guest's virtual CPUs had to "
        "wait, so that it read its own counters too far from the edges of the window",
        "same_guest": "the receiver runs in the sender's guest; see the sender's columns",
        "no_guest": "the side does not run in a guest",
        "not_measured": "the repetition was skipped or failed",
    }
)
WATCHED = ("counted", "off_window")
"""The statuses of a side whose hypervisor's CPU time was counted."""

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

EMULATED = "tcg"

_UNITS = {"byte": "received byte", "round_trip": "round trip"}
# by which the time that a guest tells of may be shorter or longer than the window
_OFF_WINDOW = 0.25
_KINDS = ("vcpu", "io", "vhost", "worker")
_GROUP = "Guests, their hypervisors, and the whole machine"
_MACHINES_GROUP = "Two machines: each as a whole, its network device, and their clocks"
_CPU = "% of one CPU"
_NS_PER_S = 1e9
# the other columns of a side
_MORE = {
    "guest_softirq": "CPU time of the {side}'s guest in interrupts and softirqs",
    "guest_steal": "Steal time that the {side}'s guest reports",
    "vcpu_waiting": "Time for which the {side}'s vcpu threads were runnable but had no CPU",
    "io_waiting": "Time for which the {side}'s io threads were runnable but had no CPU",
    "hypervisor_kernel": "CPU time of {side}_hypervisor in kernel mode",
}
_HOST = {
    "host": "the whole machine, all processes",
    "host_softirq": "the whole machine in interrupts and softirqs",
}
_MACHINES = {
    "machine": "the whole machine that the {side} runs on, all processes, no idle or stolen time",
    "machine_softirq": "the same machine in interrupts and softirqs, counted in clock ticks",
}


def overhead(hypervisor: float, guest: float, vcpu: float) -> float:
    """Return the virtualisation overhead, in the unit of its arguments; NaN if `guest` is.

    It is what the hypervisor's threads use (virtual CPUs, main loop and I/O, vhost, workers) beyond
    what the guest used: the time for which its CPUs were busy by its own kernel's count (neither
    idle nor stolen), or the time for which they ran, if that is shorter. A virtual CPU that waits
    for a CPU or for the hypervisor's lock uses no CPU time, but counts as busy in a guest that
    learns of no steal time, as under emulation. A guest may have used less than its CPUs ran for,
    so the overhead is a lower bound; it is never below 0.
    """
    return math.nan if math.isnan(guest) else hypervisor - min(guest, vcpu)


@cache
def status_columns() -> tuple[Column, ...]:
    """Return the columns that say what runs the guests and whether they were counted."""
    return grouped(
        _GROUP,
        text("accelerator",
             "What executes the guests' instructions: the processor (kvm) or an emulator (tcg)",
             allowed=("kvm", EMULATED)),
        *(
            fact(f"{side}_guest_status", "str", "",
                 f"Whether the {side}'s guest was counted", allowed=tuple(GUEST_STATUSES))
            for side in SIDES
        ),
    )  # fmt: skip


def use_columns() -> tuple[Column, ...]:
    """Return the columns of each party's CPU use in the window [% of one CPU]."""
    parties = {f"{party}_cpu": f"CPU time of {words}" for party, words in PARTIES.items()}
    columns = []
    for side in SIDES:
        columns += [
            number(f"{side}_{name}_percent", _CPU, words.format(side=side))
            for name, words in (parties | _MORE).items()
        ]
        threads = f"Number of threads that run the virtual CPUs of the {side}'s guest"
        columns.append(number(f"{side}_vcpu_threads", "count", threads))
    columns += [
        number(f"{name}_cpu_percent", _CPU, f"CPU time of {words}") for name, words in _HOST.items()
    ]
    return grouped(_GROUP, *columns)


@cache
def cost_columns(unit: str = "byte") -> tuple[Column, ...]:
    """Return the columns of each party's CPU time per unit of work: `byte` or `round_trip`."""
    named = {
        f"{side}_{party}": words.format(side=side)
        for side in SIDES
        for party, words in PARTIES.items()
    }
    named["host"] = _HOST["host"]
    return grouped(_GROUP, *(_cost(name, words, unit) for name, words in named.items()))


def machine_columns(unit: str = "byte") -> tuple[Column, ...]:
    """Return the columns of two machines, which are empty if both sides run on one, or in guests.

    These are costs per unit of work, lost packets, and the uncertainty of the clocks.
    """
    costs = [
        _cost(f"{side}_{name}", words.format(side=side), unit)
        for side in SIDES
        for name, words in _MACHINES.items()
    ]
    drops = [
        number(f"{side}_{name}", "count",
               f"{words.format(side=side)}, all traffic in the window", lowest=None)
        for side in SIDES
        for name, words in DROPS.items()
    ]  # fmt: skip
    known = "Uncertainty of the offset between the two machines' clocks"
    clock = number("clock_uncertainty_ns", "ns", known)
    where = "only on testbeds that reach another machine over the network"
    return tuple(
        replace(column, group=_MACHINES_GROUP, description=f"{column.description}; {where}")
        for column in (*costs, *drops, clock)
    )


def _cost(name: str, words: str, unit: str) -> Column:
    of_unit = "ns/byte" if unit == "byte" else "ns"
    return number(f"{name}_cpu_ns_per_{unit}", of_unit, f"CPU time of {words}, per {_UNITS[unit]}")


def use_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each party used [% of one CPU], and the statuses; the values of `use_columns`.

    A repetition that was not measured has statuses alone.
    """
    if record["status"] != "measured":
        return {f"{side}_guest_status": "not_measured" for side in SIDES}
    row: dict[str, Any] = {f"{side}_guest_status": "no_guest" for side in SIDES}
    found = record["observed"].get("hypervisor")
    if found is None:
        return row
    machine = found["machine"]
    row["host_cpu_percent"] = _percent(machine["busy_ns"], machine["window_ns"])
    row["host_softirq_cpu_percent"] = _percent(machine["softirq_ns"], machine["window_ns"])
    for guest in found["guests"]:
        first, *others = guest["sides"]
        row["accelerator"] = guest["accelerator"]
        inside_ns, outside_ns = guest["inside"]["window_ns"], guest["window_ns"]
        is_off = abs(inside_ns - outside_ns) > _OFF_WINDOW * outside_ns
        row[f"{first}_guest_status"] = "off_window" if is_off else "counted"
        row |= {f"{first}_{name}": value for name, value in _use_of_guest(guest, is_off).items()}
        row |= {f"{other}_guest_status": "same_guest" for other in others}
    return row


def _use_of_guest(guest: Mapping[str, Any], is_off: bool) -> dict[str, float]:
    """Return what one guest used [% of one CPU]; NaN for what it says itself of another time."""
    inside, threads, window_ns = guest["inside"], guest["threads"], guest["window_ns"]
    named = {"guest_cpu": "busy_ns", "guest_softirq": "softirq_ns", "guest_steal": "steal_ns"}
    use = {
        name: math.nan if is_off else _percent(inside[key], inside["window_ns"])
        for name, key in named.items()
    }
    use |= {f"{kind}_cpu": _percent(threads[kind]["cpu_ns"], window_ns) for kind in _KINDS}
    use["hypervisor_cpu"] = sum(use[f"{kind}_cpu"] for kind in _KINDS)
    use["overhead_cpu"] = overhead(use["hypervisor_cpu"], use["guest_cpu"], use["vcpu_cpu"])
    kernel_ns = sum(threads[kind]["kernel_ns"] for kind in _KINDS)
    use["hypervisor_kernel"] = _percent(kernel_ns, window_ns)
    for kind in ("vcpu", "io"):
        use[f"{kind}_waiting"] = _percent(threads[kind]["waiting_ns"], window_ns)
    in_percent = {f"{name}_percent": value for name, value in use.items()}
    return in_percent | {"vcpu_threads": guest["vcpu_threads"]}


def _percent(value_ns: float, window_ns: float) -> float:
    return 100.0 * value_ns / window_ns


def costs_of(use: Mapping[str, Any], per_s: object, unit: str = "byte") -> dict[str, float]:
    """Return what a unit of work costs each party [ns], from `use_of`; values of `cost_columns`.

    There are `per_s` of them in a second; where that is no number above 0, no cost is told.
    """
    if not isinstance(per_s, int | float) or not per_s > 0:
        return {}
    return {
        column.name: use[used] / 100 * _NS_PER_S / per_s
        for column in cost_columns(unit)
        if (used := f"{column.name.partition('_ns_per_')[0]}_percent") in use
    }


def machines_of(
    record: Mapping[str, Any], per_s: float | None, unit: str = "byte"
) -> dict[str, Any]:
    """Return the values of `machine_columns` of a repetition that was measured.

    There are `per_s` units of work in a second; without that there is no cost.
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
                row[f"{side}_{name}_cpu_ns_per_{unit}"] = cpus * _NS_PER_S / per_s
        lost = {f"device_{name}": value for name, value in found.get("device", {}).items()}
        lost["softnet_dropped"] = found["softnet_dropped"]
        row |= {f"{side}_{name}": value for name, value in lost.items() if name in DROPS}
    return row
