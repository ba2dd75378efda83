"""Who pays for a byte besides the two processes: guests, their hypervisors, the whole machine.

One definition for the tables of all studies: of the columns, and of how their values follow from
what the observer `hypervisor` found.
"""

import math
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

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

UNITS: Mapping[str, str] = MappingProxyType({"byte": "received byte", "round_trip": "round trip"})
"""Units of work that costs are given per, by how the names of their columns end."""

ACCELERATORS = ("kvm", "tcg")
EMULATED = "tcg"

# by which the time that a guest tells of may be shorter or longer than the window
_OFF_WINDOW = 0.25
_KINDS = ("vcpu", "io", "vhost", "worker")
_GROUP = "Guests, their hypervisors, and the whole machine"
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
_MACHINE = {
    "host": "the whole machine, all processes",
    "host_softirq": "the whole machine in interrupts and softirqs",
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


def status_columns() -> tuple[Column, ...]:
    """Return the columns that say what runs the guests and whether they were counted."""
    return grouped(
        _GROUP,
        text("accelerator",
             "What executes the guests' instructions: the processor (kvm) or an emulator (tcg)",
             allowed=ACCELERATORS),
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
        number(f"{name}_cpu_percent", _CPU, f"CPU time of {words}")
        for name, words in _MACHINE.items()
    ]
    return grouped(_GROUP, *columns)


@cache
def cost_columns(unit: str = "byte") -> tuple[Column, ...]:
    """Return the columns of each party's CPU time per unit of work, such as a received byte."""
    named = {
        f"{side}_{party}": words.format(side=side)
        for side in SIDES
        for party, words in PARTIES.items()
    }
    columns = (
        cost(name, f"CPU time of {words}", unit)
        for name, words in (named | {"host": _MACHINE["host"]}).items()
    )
    return grouped(_GROUP, *columns)


def cost(name: str, what: str, unit: str) -> Column:
    """Return the column of CPU time per unit of work, see `UNITS`."""
    of_unit = "ns/byte" if unit == "byte" else "ns"
    return number(f"{name}_cpu_ns_per_{unit}", of_unit, f"{what}, per {UNITS[unit]}")


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
    of_guest = {
        name: math.nan if is_off else _percent(inside[f"{key}_ns"], inside["window_ns"])
        for name, key in (
            ("guest_cpu", "busy"), ("guest_softirq", "softirq"), ("guest_steal", "steal"),
        )
    }  # fmt: skip
    kinds = {kind: _percent(threads[kind]["cpu_ns"], window_ns) for kind in _KINDS}
    hypervisor = sum(kinds.values())
    kernel_ns = sum(threads[kind]["kernel_ns"] for kind in _KINDS)
    use = {
        **of_guest,
        **{f"{kind}_cpu": value for kind, value in kinds.items()},
        "hypervisor_cpu": hypervisor,
        "overhead_cpu": overhead(hypervisor, of_guest["guest_cpu"], kinds["vcpu"]),
        "hypervisor_kernel": _percent(kernel_ns, window_ns),
        "vcpu_waiting": _percent(threads["vcpu"]["waiting_ns"], window_ns),
        "io_waiting": _percent(threads["io"]["waiting_ns"], window_ns),
    }
    named = {f"{name}_percent": value for name, value in use.items()}
    return named | {"vcpu_threads": guest["vcpu_threads"]}


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


def _percent(value_ns: float, window_ns: float) -> float:
    return 100.0 * value_ns / window_ns
