"""What is read at an edge of a window belongs together, also where the reader is held up."""

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from copycost.hosts.local import LocalReader
from copycost.hosts.process_usage import usage_of
from copycost.hosts.window_edges import of_one_moment

HELD_UP_NS = 10**9


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the time [ns] of a clock that stands still unless a test moves it."""
    now = [0]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    return now


def held_up_first(clock: list[int], do: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes a second when it is called first."""

    def slow(*words: Any) -> Any:  # noqa: ANN401
        if clock[0] == 0:
            clock[0] += HELD_UP_NS
        return do(*words)

    return slow


def test_files_and_clock_are_of_one_moment(
    clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = LocalReader(["proc/stat", "proc/uptime"])
    monkeypatch.setattr(os, "pread", held_up_first(clock, os.pread))
    at_ns, texts = reader.read()
    reader.close()
    assert at_ns == HELD_UP_NS
    assert sorted(texts) == ["proc/stat", "proc/uptime"]


def test_cpu_time_and_clock_of_a_process_are_of_one_moment(
    clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = held_up_first(clock, time.clock_gettime_ns)
    monkeypatch.setattr(time, "clock_gettime_ns", slow)
    assert usage_of([os.getpid()]).at_ns == HELD_UP_NS


def test_where_all_readings_take_long_the_fastest_is_taken(clock: list[int]) -> None:
    durations_ns = iter([3 * HELD_UP_NS, HELD_UP_NS, 2 * HELD_UP_NS])

    def read() -> int:
        took_ns = next(durations_ns)
        clock[0] += took_ns
        return took_ns

    assert of_one_moment(read) == HELD_UP_NS
