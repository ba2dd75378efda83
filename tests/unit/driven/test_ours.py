"""Which account of our own programs' CPU time is taken."""

from typing import Any

import pytest

from copycost.drivers.programs.ours import _late_look, _side
from copycost.hosts.process_usage import Usage

SECOND_NS = 10**9
REPORT = {"window": {"start_ns": 0, "end_ns": SECOND_NS}, "process": {"cpu_ns": 7 * 10**8}}


def seen(at_ns: int) -> Usage:
    """Return what we saw in so much time: half of it on a CPU, a quarter of it waiting for one."""
    return Usage(at_ns, at_ns // 2, None, None, None, None, at_ns // 4, frozenset({1}))


def side(usage: Usage | None, *, stopped: bool) -> tuple[Any, ...]:
    perf: Any = {}
    found = _side(usage, REPORT, perf, stopped=stopped)
    return found["window_ns"], found["cpu_ns"], found["waiting_ns"]


def test_a_program_that_nothing_stops_tells_its_cpu_time_itself() -> None:
    assert side(seen(2 * SECOND_NS), stopped=False) == (SECOND_NS, 7 * 10**8, SECOND_NS // 4)


def test_the_cpu_time_of_a_stopped_program_is_what_we_saw() -> None:
    assert side(seen(2 * SECOND_NS), stopped=True) == (2 * SECOND_NS, SECOND_NS, SECOND_NS // 2)


def test_of_a_program_that_was_gone_the_waiting_is_not_known() -> None:
    assert side(None, stopped=False) == (SECOND_NS, 7 * 10**8, None)


@pytest.mark.parametrize(("at_ns", "late"), [(1_005_000_000, False), (400_000_000, True)])
def test_a_look_at_less_than_the_window_is_a_warning(at_ns: int, *, late: bool) -> None:
    assert bool(_late_look(seen(at_ns), SECOND_NS)) == late
