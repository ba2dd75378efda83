"""Who else took CPU time in a window."""

from dataclasses import fields, replace
from typing import Any

import pytest

from copycost.measure.window import foreign_cpu_s, load_warnings
from copycost.observers.kernel_counters import KernelSnapshot

SECOND_NS = 10**9
NOTHING: dict[str, int] = dict.fromkeys((field.name for field in fields(KernelSnapshot)), 0)
QUIET = KernelSnapshot(
    **NOTHING | {"busy_ns": 2 * SECOND_NS, "task_ns": 2 * SECOND_NS, "at_ns": SECOND_NS}
)


def host(irq_time_accounting: bool | None = False) -> dict[str, Any]:
    return {"kernel": {"irq_time_accounting": irq_time_accounting}}


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ({}, []),
        ({"busy_ns": 5 * SECOND_NS // 2, "task_ns": 5 * SECOND_NS // 2}, ["foreign_load"]),
        # one of two accounts tells too much
        ({"busy_ns": 3 * SECOND_NS}, []),
        ({"task_ns": 3 * SECOND_NS}, []),
        # a late look at the host
        ({"busy_ns": 5 * 10**9 // 2, "task_ns": 5 * 10**9 // 2, "at_ns": 5 * 10**9 // 4}, []),
        ({"steal_ns": SECOND_NS // 10, "throttle_count": 3}, ["steal", "throttled"]),
    ],
)
def test_who_took_cpu_time_is_told(kernel: dict[str, int], expected: list[str]) -> None:
    found = load_warnings(2.0, 1.0, replace(QUIET, **kernel), host(), n_cpus=2)
    assert [warning["code"] for warning in found] == expected


@pytest.mark.parametrize(("separate", "foreign_s"), [(False, 0.3), (True, 0.0), (None, 0.3)])
def test_softirq_time_is_ours_if_our_clocks_leave_it_out(
    separate: bool | None, foreign_s: float
) -> None:
    softirq_ns = round(0.3 * SECOND_NS)
    softirq = replace(QUIET, busy_ns=QUIET.busy_ns + softirq_ns, softirq_ns=softirq_ns)
    assert foreign_cpu_s(2.0, 1.0, softirq, host(separate)) == pytest.approx(foreign_s)
