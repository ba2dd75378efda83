"""The measured window of an iperf3 run: perf, CPU clocks and kernel counters at both its edges."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from copycost.drivers.iperf3.processes import Iperf3Run, ProcessEnded
from copycost.hosts.placement import Placement
from copycost.hosts.process_usage import Usage, usage_of
from copycost.observers.kernel_counters import KernelCounters, KernelSnapshot
from copycost.observers.perf_attach import AttachedPerf
from copycost.records.record import PerfSide
from copycost.testbeds.testbed import Testbed


@dataclass(frozen=True, slots=True)
class SideSeen:
    """What was seen of one side's processes within the window."""

    usage: Usage
    perf: PerfSide


@dataclass(frozen=True, slots=True)
class WindowSeen:
    """Both sides and the kernel over one window (CLOCK_MONOTONIC) [ns]."""

    start_ns: int
    end_ns: int
    sender: SideSeen
    receiver: SideSeen
    kernel: KernelSnapshot


def watch_window(
    run: Iperf3Run,
    host: Mapping[str, Any],
    testbed: Testbed,
    placement: Placement,
    times_s: tuple[float, float],
    at_edge: Callable[[], None] = lambda: None,
) -> WindowSeen:
    """Let the traffic settle, then measure a window of it.

    Parameters
    ----------
    times_s : tuple of float
        Time to settle, and length of the window [s].
    at_edge : callable
        Called at each edge of the window, right after its clocks were read.

    Raises
    ------
    ProcessEnded
        If an iperf3 process ends before the window does.
    """
    settle_s, duration_s = times_s
    clients, servers = run.pids("client"), run.pids("server")
    begin_ns = time.monotonic_ns()
    perf = [AttachedPerf(host, clients, "sender"), AttachedPerf(host, servers, "receiver")]
    try:
        cpus = (*placement.sender_cpus, *placement.receiver_cpus)
        with KernelCounters(testbed, cpus) as counters:
            run.watch_until(begin_ns + round(settle_s * 1e9), "warm-up")
            for side in perf:
                side.switch(on=True)
            before = (_usage(clients), _usage(servers))
            at_edge()
            kernel = counters.snapshot()
            run.watch_until(before[0].at_ns + round(duration_s * 1e9), "window")
            after = (_usage(clients), _usage(servers))
            at_edge()
            kernel = counters.snapshot() - kernel
            for side in perf:
                side.switch(on=False)
        sender, receiver = (
            SideSeen(later - earlier, side.counts())
            for earlier, later, side in zip(before, after, perf, strict=True)
        )
        return WindowSeen(before[0].at_ns, after[0].at_ns, sender, receiver, kernel)
    finally:
        for side in perf:
            side.close()


def _usage(pids: tuple[int, ...]) -> Usage:
    try:
        return usage_of(pids)
    except OSError as error:
        raise ProcessEnded(f"an iperf3 process ended during the window ({error})") from error
