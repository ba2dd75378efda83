"""What goes through a window must be enough for what is told of it."""

from typing import Any

import pytest

from copycost.measure.drivers.programs.verdict import judge_traffic
from copycost.measure.drivers.protocol import Verdict

WINDOW_NS = 10**9


def side(in_window: int, total: int, n_threads: int = 1) -> dict[str, Any]:
    return {
        "window": {"start_ns": 0, "half_ns": WINDOW_NS // 2, "end_ns": WINDOW_NS},
        "in_window": {"bytes": in_window},
        "total": {"bytes": total},
        "threads": [{}] * n_threads,
    }


def round_trips(
    n_made: int, interval_us: int, n_threads: int = 1, first_half: float = 0.5
) -> Verdict | None:
    sender = side(100 * n_made, 100 * n_made, n_threads) | {"options": {"msg_bytes": 100}}
    sender["in_window"] |= {"messages": n_made, "first_half_bytes": first_half * 100 * n_made}
    return judge_traffic({"sender": sender, "receiver": side(n_made, n_made)}, interval_us * 1000)


def test_a_window_in_which_nothing_arrives_is_no_measurement() -> None:
    # as zero_copy has it with a send buffer of 1 KiB: each message waits for a delayed ACK
    verdict = judge_traffic({"sender": side(65536, 10**6), "receiver": side(0, 10**6)}, 0)
    assert verdict is not None
    assert verdict.status == "failed"
    assert "nothing arrived in the window of 1 s" in verdict.reason


@pytest.mark.parametrize(
    "reports",
    [
        {"sender": side(1, 1), "receiver": side(1, 1)},
        {"sender": side(1, 1)},  # sink: nobody receives
        {"sender": side(0, 0), "receiver": side(0, 0)},  # null, which sends nothing at all
    ],
)
def test_whatever_arrives_is_one(reports: dict[Any, Any]) -> None:
    assert judge_traffic(reports, 0) is None


@pytest.mark.parametrize(("n_made", "n_threads"), [(1147, 1), (940, 1), (2 * 940, 2)])
def test_requests_that_fall_behind_their_due_times_are_no_measurement(
    n_made: int, n_threads: int
) -> None:
    verdict = round_trips(n_made, 1 if n_made == 1147 else 1000, n_threads)
    assert verdict is not None
    assert verdict.status == "failed"
    assert f"only {n_made} were made" in verdict.reason
    assert "measure.interval_us" in verdict.remedy


@pytest.mark.parametrize(("n_made", "n_threads"), [(1000, 1), (960, 1), (1004, 1), (2000, 2)])
def test_requests_that_keep_up_but_for_a_moment_are_one(n_made: int, n_threads: int) -> None:
    assert round_trips(n_made, 1000, n_threads) is None


@pytest.mark.parametrize("first_half", [500 / 900, 400 / 900])
def test_a_host_that_stops_for_a_moment_is_no_queue_that_grows(first_half: float) -> None:
    assert round_trips(900, 1000, first_half=first_half) is None
