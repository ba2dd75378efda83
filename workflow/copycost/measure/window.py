"""Whether a window can be believed: one time on both machines, on time, and undisturbed."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from copycost.hosts.processes import Usage
from copycost.hosts.side import SideName
from copycost.hosts.testbeds.testbed import Testbed
from copycost.hosts.window_edges import ClockReading
from copycost.measure.drivers.protocol import AGAIN, MissedWindow, Payload, Window
from copycost.observers.hypervisor import Hypervisor
from copycost.observers.kernel_counters import KernelCounters, KernelSnapshot
from copycost.observers.perf.counts import PerfSide
from copycost.observers.process_usage import ProcessUsage
from copycost.observers.protocol import WindowObserver
from copycost.records.record import Disturbance, Record, disturbance

CLOCK_SHARE = 0.01
"""By more of a window nobody may be wrong of when it was on another machine."""

_LATE_SHARE = 0.01
_FOREIGN_CPUS = 0.10
_STEAL_SHARE = 0.01
_LONG_LOCK_WAIT_S = 0.1
# of the window, by which a look at processes may be shorter or longer: what they used of the time
# of the look still stands for the window
_LONGEST_LOOK = 0.25


def shortest_window_s(uncertainty_ns: int) -> float:
    """Return how long a window has to be, with a clock that is known so well [s]; to a tenth.

    On a slow path it is the way there and back that decides, half of which is not known.
    """
    return math.ceil(uncertainty_ns / CLOCK_SHARE / 1e8) / 10


def require_same_clocks(record: Record, testbed: Testbed, window: Window) -> None:
    """Refuse, as missed, a window that was not the same time on both machines, as far as is known.

    Then a clock was known too badly, or went another way than ours since it was compared.
    """
    assert record["testbed"] is not None
    for machine, sides in testbed.machines():
        before = ClockReading(machine.clock_offset_ns, machine.clock_uncertainty_ns)
        after = machine.resync()
        drift_ns = abs(after.offset_ns - before.offset_ns)
        unsure_ns = max(before.uncertainty_ns, after.uncertainty_ns)
        for side in sides:
            entry = record["testbed"]["machines"][side]
            entry["clock_offset_ns"] = before.offset_ns
            entry["clock_uncertainty_ns"] = unsure_ns
        if max(drift_ns, unsure_ns) <= CLOCK_SHARE * window.length_s * 1e9:
            continue
        if drift_ns > 2 * unsure_ns:
            how = f"went {drift_ns / 1e6:.3g} ms away from ours"
            remedy = f"make measure.duration_s longer, look what sets the clock of {machine.name}"
        else:
            how = f"is known to {unsure_ns / 1e6:.3g} ms only, half of the way there and back"
            remedy = (
                f"make measure.duration_s {shortest_window_s(unsure_ns):g} or longer, or look what"
                f" keeps {machine.name} or the way to it busy"
            )
        reason = (
            f"the clock of {machine.name} {how}, where the window is"
            f" {window.length_s * 1e3:.3g} ms long"
        )
        raise MissedWindow(reason, f"{remedy}, then {AGAIN}")


def window_warnings(
    facts: Mapping[SideName, Mapping[str, Any]],
    testbed: Testbed,
    observers: Sequence[WindowObserver],
    payload: Payload,
    window: Window,
    seen: Mapping[str, Any],
) -> list[Disturbance]:
    """Return warnings about the window, by the account that is to be believed.

    That of the driver, unless it has none or its programs were stopped at the edges of their own
    windows; then what the kernel tells of the processes. MissedWindow where neither has one.
    """
    found, cpu_ns = payload.warnings, payload.cpu_ns
    stopped = any(one.stops_programs for one in observers)
    usage = next((one for one in observers if isinstance(one, ProcessUsage)), None)
    if usage is not None and (stopped or cpu_ns is None):
        looks = {side: used for side, used in usage.used.items() if used is not None}
        if cpu_ns is None and (gone := [side for side in usage.used if side not in looks]):
            reason = f"the {gone[0]}'s processes had ended before the end of the window"
            raise MissedWindow(reason, AGAIN)
        _require_looks(looks, window)
        cpu_ns = {side: used.cpu_ns for side, used in looks.items()}
        if stopped:
            # a stopped program always sees its edges late
            found = [one for one in found if one["code"] != "window_edge_late"]
            look_s = looks["sender"].at_ns / 1e9 if "sender" in looks else 0.0
            if abs(look_s - window.length_s) > _LATE_SHARE * window.length_s:
                watched = f"the sender was watched for {look_s:.3f} s"
                detail = f"{watched}, the window is {window.length_s:.3f} s"
                found.append(disturbance("window_edge_late", detail))
    if cpu_ns is None:
        return found
    kernel = next(one for one in observers if isinstance(one, KernelCounters))
    guests = (seen.get(Hypervisor.name) or {"guests": []})["guests"]
    hypervisors = [used for guest in guests for used in guest["threads"].values()]
    for machine, sides in testbed.machines():
        shared = len(sides) > 1
        own_ns = sum(cpu_ns.get(side, 0) for side in sides)
        if machine.kind == "local":
            own_ns += sum(int(used["cpu_ns"]) for used in hypervisors)
        found = found + load_warnings(
            own_ns / 1e9,
            window.length_s,
            kernel.changes[sides],
            facts[sides[0]],
            machine.constant("SC_NPROCESSORS_ONLN"),
            shared=shared,
            where="" if shared else machine.name,
        )
    return found


def _require_looks(looks: Mapping[SideName, Usage], window: Window) -> None:
    """Refuse what was read of processes at times that have little to do with the window's edges."""
    for side, used in looks.items():
        if abs(used.at_ns / 1e9 / window.length_s - 1.0) > _LONGEST_LOOK:
            reason = (
                f"the {side} was watched for {used.at_ns / 1e9:.3f} s, while the window is"
                f" {window.length_s:.3f} s long: its machine was too busy"
            )
            remedy = "end other programs, make the study's duration_s longer, then " + AGAIN
            raise MissedWindow(reason, remedy)


def load_warnings(
    own_cpu_s: float,
    window_s: float,
    kernel: KernelSnapshot,
    host: Mapping[str, Any],
    n_cpus: int,
    *,
    shared: bool = True,
    where: str = "",
) -> list[Disturbance]:
    """Return the warnings that others took CPU time in the window: programs, or the hypervisor.

    `own_cpu_s` is that of what is measured, all sides together; `kernel` holds differences over the
    window, and of the host's CPUs so many are online. `shared` tells whether both sides run there:
    where they do not, what arrives from a device is worked on in softirqs that need not run in the
    context of either side's tasks, and the machine has a name, `where`.
    """
    at = f" on {where}" if where else ""
    found: list[Disturbance] = []
    foreign = foreign_cpu_s(own_cpu_s, window_s, kernel, host, shared=shared) / window_s
    if foreign > _FOREIGN_CPUS:
        detail = f"other programs used {foreign:.2f} CPUs in the window{at}"
        found.append(disturbance("foreign_load", detail))
    steal = kernel.steal_ns / 1e9 / window_s / n_cpus
    if steal > _STEAL_SHARE:
        detail = f"the hypervisor took {steal:.1%} of the CPU time{at}"
        found.append(disturbance("steal", detail))
    if kernel.throttle_count > 0:
        detail = f"CPUs slowed down for heat {kernel.throttle_count} times{at}"
        found.append(disturbance("throttled", detail))
    return found


def foreign_cpu_s(
    own_cpu_s: float,
    window_s: float,
    kernel: KernelSnapshot,
    host: Mapping[str, Any],
    *,
    shared: bool = True,
) -> float:
    """Return the CPU time that other programs used in the window [s].

    The host's time less our own tasks', whose clocks hold the softirq work done in their context,
    unless the kernel accounts interrupts and softirqs apart (IRQ_TIME_ACCOUNTING).

    The kernel tells the host's time in two ways, each of which may tell too much. What was not
    idle is measured (NO_HZ) and holds what interrupts and waking up from idle take, up to 0.2 CPUs
    where small messages wake a receiver each. What tasks used is often sampled by the timer tick,
    which may run in step with them, as with a sender that a quota starts anew every period. So
    the smaller of both counts. Where a device brings what the other side sent, softirqs work on it
    in whatever context: there only what tasks used is looked at. Between loaded CPUs we read
    /proc/stat earlier or later than the programs read their clocks, so the host's time is scaled to
    the window.
    """
    apart = host["kernel"]["irq_time_accounting"] or not shared
    not_idle_ns = kernel.busy_ns - (kernel.softirq_ns if apart else 0)
    sampled_ns = kernel.task_ns + (0 if apart else kernel.softirq_ns)
    host_s = min(not_idle_ns, sampled_ns) * window_s / kernel.at_ns
    return max(0.0, host_s - own_cpu_s)


def lock_warning(wait_s: float) -> list[Disturbance]:
    """Return the warning that another measurement ran just before, if one did."""
    if wait_s < _LONG_LOCK_WAIT_S:
        return []
    return [disturbance("lock_waited", f"waited {wait_s:.1f} s for another measurement")]


def user_mode_warning(perf: Mapping[str, PerfSide | None]) -> list[Disturbance]:
    """Return the warning that perf saw user mode only, if it was so."""
    sides = perf.values()
    if any(event["user_only"] for side in sides if side for event in side["events"].values()):
        detail = "perf counted user mode only; the kernel, which does the copying, is left out"
        return [disturbance("user_mode_only", detail)]
    return []
