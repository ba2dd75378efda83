"""What may have disturbed a window: other programs, the hypervisor, heat, lateness, few samples."""

from collections.abc import Mapping
from typing import Any

from copycost.drivers.programs.edges import latest_edge_s
from copycost.observers.kernel_counters import KernelSnapshot, ticks_to_s
from copycost.records.record import Disturbance, PerfSides, SinkFacts, WarningCode

_FOREIGN_CPUS = 0.10
_STEAL_SHARE = 0.01
_LATE_SHARE = 0.01
_FEWEST_SAMPLES = 100
_LONG_LOCK_WAIT_S = 0.1


def find_disturbances(
    sender: Mapping[str, Any],
    receiver: Mapping[str, Any] | None,
    kernel: KernelSnapshot,
    host: Mapping[str, Any],
    n_cpus: int,
) -> list[Disturbance]:
    """Return warnings about a measured window.

    Parameters
    ----------
    sender, receiver : mapping
        What the programs printed; no receiver where nobody receives.
    kernel : KernelSnapshot
        Differences over the window.
    host : mapping
        The host facts.
    n_cpus : int
        CPUs of the host that are online [count].
    """
    sides = [side for side in (sender, receiver) if side is not None]
    own_cpu_s = sum(float(side["process"]["cpu_ns"]) for side in sides) / 1e9
    window_s = (sender["window"]["end_ns"] - sender["window"]["start_ns"]) / 1e9
    found = load_warnings(own_cpu_s, window_s, kernel, host, n_cpus)
    if kernel.throttle_count > 0:
        found.append(
            _warning("throttled", f"CPUs slowed down for heat {kernel.throttle_count} times")
        )
    late_s = max(latest_edge_s(side["window"]) for side in sides)
    if late_s > _LATE_SHARE * window_s:
        found.append(
            _warning("window_edge_late", f"an edge of the window came {late_s * 1e3:.1f} ms late")
        )
    round_trip = sender["round_trip"]
    samples = (round_trip or sender["service_time"])["samples"]
    if samples < _FEWEST_SAMPLES:
        if round_trip is None:
            detail = (
                f"{samples} service times were sampled in the window, so that p99 rests on the"
                " slowest one"
            )
        else:
            detail = f"{samples} round trips were made in the window, too few for their p99"
        found.append(_warning("few_messages", detail))
    return found


def load_warnings(
    own_cpu_s: float,
    window_s: float,
    kernel: KernelSnapshot,
    host: Mapping[str, Any],
    n_cpus: int,
) -> list[Disturbance]:
    """Return the warnings that others took CPU time in the window: programs, or the hypervisor.

    Parameters
    ----------
    own_cpu_s : float
        CPU time of what is measured, all sides together [s].
    window_s : float
        Length of the window [s].
    kernel, host, n_cpus
        As for `find_disturbances`.
    """
    found: list[Disturbance] = []
    foreign = foreign_cpu_s(own_cpu_s, window_s, kernel, host) / window_s
    if foreign > _FOREIGN_CPUS:
        found.append(
            _warning("foreign_load", f"other programs used {foreign:.2f} CPUs in the window")
        )
    steal = ticks_to_s(kernel.steal_ticks) / window_s / n_cpus
    if steal > _STEAL_SHARE:
        found.append(_warning("steal", f"the hypervisor took {steal:.1%} of the CPU time"))
    return found


def foreign_cpu_s(
    own_cpu_s: float, window_s: float, kernel: KernelSnapshot, host: Mapping[str, Any]
) -> float:
    """Return the CPU time that other programs used in the window [s].

    The host's time less our own tasks', whose clocks hold the softirq work done in their context,
    unless the kernel accounts interrupts and softirqs apart (IRQ_TIME_ACCOUNTING).

    The kernel tells the host's time in two ways, each of which may tell too much. What was not
    idle is measured (NO_HZ) and holds what interrupts and waking up from idle take, up to 0.2 CPUs
    where small messages wake a receiver each. What tasks used is often sampled by the timer tick,
    which may run in step with them, as with a sender that a quota starts anew every period. So
    the smaller of both counts. Between loaded CPUs we read /proc/stat earlier or later than the
    programs read their clocks, so the host's time is scaled to the window.
    """
    apart = host["kernel"]["irq_time_accounting"]
    not_idle_ticks = kernel.busy_ticks - (kernel.softirq_ticks if apart else 0)
    sampled_ticks = kernel.task_ticks + (0 if apart else kernel.softirq_ticks)
    host_s = ticks_to_s(min(not_idle_ticks, sampled_ticks)) * window_s * 1e9 / kernel.at_ns
    return max(0.0, host_s - own_cpu_s)


def lock_warning(wait_s: float) -> list[Disturbance]:
    """Return the warning that another measurement ran just before, if one did."""
    if wait_s < _LONG_LOCK_WAIT_S:
        return []
    return [_warning("lock_waited", f"waited {wait_s:.1f} s for another measurement")]


def sink_warning(sink: SinkFacts | None) -> list[Disturbance]:
    """Return the warning that datagrams were lost on the way to the hook, if some were."""
    if sink is None or sink["lost_before_hook"] == 0:
        return []
    lost, sent = sink["lost_before_hook"], sink["sent_datagrams"]
    detail = f"{lost} of {sent} datagrams were lost before the hook that drops them"
    return [_warning("sink_loss", detail)]


def user_mode_warning(perf: PerfSides) -> list[Disturbance]:
    """Return the warning that perf saw user mode only, if it was so."""
    sides = (perf["sender"], perf["receiver"])
    if any(event["user_only"] for side in sides if side for event in side["events"].values()):
        detail = "perf counted user mode only; the kernel, which does the copying, is left out"
        return [_warning("user_mode_only", detail)]
    return []


def _warning(code: WarningCode, detail: str) -> Disturbance:
    return {"code": code, "detail": detail}
