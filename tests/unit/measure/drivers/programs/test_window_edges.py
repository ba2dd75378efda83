"""The edges of a window: when they came, and when what lies between them is no measurement."""

from typing import Any

import pytest

from copycost.measure.drivers.programs.disturbance import latest_edge_s, own_disturbances
from copycost.measure.drivers.programs.verdict import judge_windows

MS = 10**6
PLANNED = {
    "planned_start_ns": 1000 * MS,
    "planned_end_ns": 1200 * MS,
    "start_ns": 1000 * MS,
    "end_ns": 1200 * MS,
    "perf_enable_ns": None,
    "perf_disable_ns": None,
}


def window(**more: int) -> dict[str, Any]:
    return {"window": {**PLANNED, **more}}


@pytest.mark.parametrize(
    ("late", "late_ms"),
    [
        ({"start_ns": 1007 * MS}, 7),
        ({"end_ns": 1205 * MS}, 5),
        ({"perf_disable_ns": 3 * MS}, 3),
        ({"end_ns": 1205 * MS, "perf_disable_ns": 3 * MS}, 8),
        ({}, 0),
    ],
)
def test_an_edge_is_as_late_as_its_last_step(late: dict[str, int], late_ms: float) -> None:
    assert latest_edge_s(window(**late)["window"]) == pytest.approx(late_ms / 1e3)


@pytest.mark.parametrize(
    "late",
    [
        # as 64 threads on two CPUs had it: perf counted 560 ms, the bytes were those of 0.3 ms
        {"start_ns": 1561 * MS, "end_ns": 1561 * MS + 300_000},
        {"end_ns": 1301 * MS},
        {"perf_disable_ns": 134 * MS},
    ],
)
def test_a_window_of_which_less_than_half_is_left_is_no_measurement(late: dict[str, int]) -> None:
    verdict = judge_windows({"sender": window(), "receiver": window(**late)})
    assert verdict is not None
    assert verdict.status == "failed"
    assert "the receiver's window came" in verdict.reason
    assert "measure.duration_s" in verdict.remedy


def test_a_window_that_is_a_little_late_is_one() -> None:
    late = window(start_ns=1090 * MS, end_ns=1290 * MS, perf_disable_ns=9 * MS)
    assert judge_windows({"sender": late, "receiver": window()}) is None


@pytest.mark.parametrize(
    ("late", "warned"),
    [
        # perf in an emulated guest, of which its counts still stand for the window
        ({"start_ns": 1006 * MS, "perf_enable_ns": 6 * MS, "perf_disable_ns": 3 * MS}, []),
        ({"start_ns": 1009 * MS, "perf_enable_ns": 6 * MS}, ["window_edge_late"]),
        ({"start_ns": 1012 * MS, "perf_enable_ns": 12 * MS}, ["window_edge_late"]),
        ({"end_ns": 1205 * MS}, ["window_edge_late"]),
    ],
)
def test_what_perf_takes_is_no_lateness_as_long_as_its_counts_stand_for_the_window(
    late: dict[str, int], warned: list[str]
) -> None:
    sender = {**window(), "round_trip": None, "service_time": {"samples": 1000}}
    found = own_disturbances(sender, window(**late), None)
    assert [one["code"] for one in found] == warned
