"""From a driven record to percentages."""

import math
from typing import Any

import pytest

from copycost.drivers.iperf3.derive import rates_of

SECOND_NS = 10**9


def record(n_streams: int, throttled_ns: int) -> dict[str, Any]:
    """Return a record of our own sender on two CPUs that waited 1.5 s in a window of 1 s."""
    window = {"start_ns": 0, "end_ns": SECOND_NS}
    report = {"window": window, "in_window": {"bytes": 125_000_000}}
    side = {
        "window_ns": SECOND_NS,
        "cpu_ns": SECOND_NS // 2,
        "waiting_ns": 3 * SECOND_NS // 2,
        "read_bytes": None,
        "perf": {"events": {}},
    }
    return {
        "cell": {"n_streams": n_streams, "limiter": "cgroup"},
        "settings": {"sender_cpus": [0, 1]},
        "driver": {"name": "two_copy", "pairs": [{"client": report, "server": report}]},
        "limiter": {"throttled": {"throttled_ns": throttled_ns}},
        "window": window,
        "sender": side,
        "receiver": side,
    }


def test_a_side_has_cpu_and_a_rate() -> None:
    rates = rates_of(record(n_streams=2, throttled_ns=0))
    assert rates["sender_cpu_percent"] == 50.0
    assert rates["bits_per_s"] == 1e9
    assert math.isnan(rates["sender_perf_percent"])


@pytest.mark.parametrize(
    ("n_streams", "throttled_ns", "expected"),
    [
        (2, 0, 150.0),
        (2, SECOND_NS, 50.0),  # held back, which counts as waiting
        (4, 0, 150.0),
        # two tasks of a CPU each waited while it was held back, which was counted once
        (4, SECOND_NS, math.nan),
    ],
)
def test_waiting_is_without_the_time_of_the_limiter(
    n_streams: int, throttled_ns: int, expected: float
) -> None:
    rates = rates_of(record(n_streams, throttled_ns))
    assert rates["sender_waiting_percent"] == pytest.approx(expected, nan_ok=True)
    assert rates["receiver_waiting_percent"] == 150.0
