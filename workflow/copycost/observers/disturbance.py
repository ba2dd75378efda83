"""What may have disturbed a window, whoever made the traffic: programs, the hypervisor, heat."""

from collections.abc import Mapping
from typing import Any

from copycost.observers.kernel_counters import KernelSnapshot
from copycost.perf.counters import PerfSide
from copycost.records.record import Disturbance, disturbance

_FOREIGN_CPUS = 0.10
_STEAL_SHARE = 0.01
_LONG_LOCK_WAIT_S = 0.1


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
