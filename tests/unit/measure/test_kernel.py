"""Kernel counters and what may have disturbed a window."""

from typing import Any

import pytest

from copycost.measure.disturbance import find_disturbances, foreign_cpu_s, lock_warning
from copycost.measure.kernel import (
    KernelCounters,
    KernelSnapshot,
    retransmitted_segments,
    ticks_to_s,
)
from copycost.testbed.testbed import open_testbed

TICKS_PER_S = round(1 / ticks_to_s(1))
QUIET = KernelSnapshot(0, 0, 0, 2 * TICKS_PER_S, 0, 0, 0, 10**9)
WINDOW = {
    "planned_start_ns": 10**9,
    "planned_end_ns": 2 * 10**9,
    "start_ns": 10**9,
    "end_ns": 2 * 10**9,
}


def side(cpu_s: float = 1.0, samples: int = 1000, **window: int) -> dict[str, Any]:
    return {
        "window": {**WINDOW, **window},
        "process": {"cpu_ns": round(cpu_s * 1e9)},
        "service_time": {"samples": samples},
    }


def host(irq_time_accounting: bool | None = False) -> dict[str, Any]:
    return {"kernel": {"irq_time_accounting": irq_time_accounting}}


def codes(sender: dict[str, Any], kernel: KernelSnapshot) -> list[str]:
    found = find_disturbances(sender, side(), kernel, host(), n_cpus=2)
    return [warning["code"] for warning in found]


def test_a_quiet_window_has_no_warning() -> None:
    assert codes(side(), QUIET) == []


def test_cpu_time_that_is_not_ours_is_foreign_load() -> None:
    busy = KernelSnapshot(0, 0, 0, round(2.5 * TICKS_PER_S), 0, 0, 0, 10**9)
    assert codes(side(), busy) == ["foreign_load"]


def test_a_late_look_at_the_host_is_no_foreign_load() -> None:
    late = KernelSnapshot(0, 0, 0, round(2.5 * TICKS_PER_S), 0, 0, 0, round(1.25e9))
    assert codes(side(), late) == []


@pytest.mark.parametrize(("separate", "foreign_s"), [(False, 0.3), (True, 0.0), (None, 0.3)])
def test_softirq_time_is_ours_if_our_clocks_leave_it_out(
    separate: bool | None, foreign_s: float
) -> None:
    softirq = KernelSnapshot(0, 0, 0, 2 * TICKS_PER_S, round(0.3 * TICKS_PER_S), 0, 0, 10**9)
    assert foreign_cpu_s(side(), side(), softirq, host(separate)) == pytest.approx(foreign_s)


def test_steal_throttling_lateness_and_few_samples_are_named() -> None:
    kernel = KernelSnapshot(0, 0, 0, 2 * TICKS_PER_S, 0, round(0.1 * TICKS_PER_S), 3, 10**9)
    sender = side(samples=99, start_ns=10**9 + 20_000_000)
    assert codes(sender, kernel) == ["steal", "throttled", "window_edge_late", "few_messages"]


def test_only_a_wait_worth_mentioning_is_a_warning() -> None:
    assert lock_warning(0.01) == []
    assert lock_warning(2.0)[0]["detail"] == "waited 2.0 s for another measurement"


def test_retransmissions_are_found_by_name() -> None:
    text = "Ip: A B\nIp: 1 2\nTcp: InSegs RetransSegs OutRsts\nTcp: 5 7 9\n"
    assert retransmitted_segments(text) == 7


def test_the_counters_of_this_host_can_be_read_and_only_grow() -> None:
    with open_testbed("loopback") as testbed, KernelCounters(testbed, [0]) as counters:
        difference = counters.snapshot() - counters.snapshot()
    assert difference.busy_ticks <= 0
    assert difference.tcp_retransmitted_segments <= 0
