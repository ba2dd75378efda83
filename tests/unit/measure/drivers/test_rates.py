"""From a record of our own programs to rates and percentages, whichever account is believed."""

import math
from typing import Any

import pytest

from copycost.measure.drivers.rates import limit_of, rates_of

SECOND_NS = 10**9


def record(
    n_threads: int = 2,
    throttled_ns: int | None = 0,
    limiter: str = "cgroup",
    window_ns: int = SECOND_NS,
) -> dict[str, Any]:
    """Return a record of our own sender on two CPUs that waited 1.5 s in a window of 1 s.

    By its own account it used 70 % of a CPU; we looked at `window_ns`, in which it used a half.
    """
    report = {
        "window": {"start_ns": 0, "end_ns": SECOND_NS},
        "in_window": {"bytes": 125_000_000},
        "process": {"cpu_ns": 7 * SECOND_NS // 10},
    }
    usage = {"window_ns": window_ns, "cpu_ns": window_ns // 2, "read_bytes": None}
    usage["waiting_ns"] = 3 * window_ns // 2
    side = {"events": {}}
    throttled = None if throttled_ns is None else {"throttled_ns": throttled_ns}
    return {
        "cell": {"n_threads": n_threads, "limiter": limiter},
        "settings": {"sender_cpus": [0, 1]},
        "driver": {"name": "programs", "sender": report, "receiver": report},
        "observed": {
            "perf_stat": {"sender": side, "receiver": side},
            "usage": {"sender": usage, "receiver": usage},
            "cpu_limit": {"throttled": throttled},
        },
        "window": report["window"],
    }


def test_a_program_that_nothing_stops_tells_its_cpu_time_itself() -> None:
    looked = record(window_ns=2 * SECOND_NS)
    rates = rates_of(looked)
    assert rates["sender_cpu_percent"] == rates["receiver_cpu_percent"] == pytest.approx(70.0)
    assert rates["bits_per_s"] == rates["sent_bits_per_s"] == 1e9
    assert math.isnan(rates["sender_perf_percent"])
    looked["observed"]["usage"]["sender"] = None  # gone before our look
    rates = rates_of(looked)
    assert rates["sender_cpu_percent"] == pytest.approx(70.0)
    assert math.isnan(rates["sender_waiting_percent"])


def test_the_cpu_time_of_a_stopped_program_is_what_we_saw() -> None:
    rates = rates_of(record(limiter="cpulimit", throttled_ns=None, window_ns=2 * SECOND_NS))
    assert rates["sender_cpu_percent"] == 50.0
    assert rates["receiver_cpu_percent"] == pytest.approx(70.0)  # nobody stops the receiver
    assert math.isnan(rates["sent_bits_per_s"])


@pytest.mark.parametrize(
    ("n_threads", "throttled_ns", "expected"),
    [
        (2, 0, 150.0),
        (2, SECOND_NS, 50.0),  # held back, which counts as waiting
        (4, 0, 150.0),
        # two tasks of a CPU each waited while it was held back, which was counted once
        (4, SECOND_NS, math.nan),
        (2, None, 150.0),
    ],
)
def test_waiting_is_without_the_time_of_the_limiter(
    n_threads: int, throttled_ns: int | None, expected: float
) -> None:
    rates = rates_of(record(n_threads, throttled_ns))
    assert rates["sender_waiting_percent"] == pytest.approx(expected, nan_ok=True)
    assert rates["receiver_waiting_percent"] == 150.0


def test_what_senders_were_to_send_at_most_is_that_of_all_of_them() -> None:
    def ours(rate: int) -> dict[str, Any]:
        return {"name": "programs", "sender": {"options": {"rate_bytes_per_s": rate}}}

    def asked(bits_per_s: int) -> dict[str, Any]:
        test = {"num_streams": 2, "target_bitrate": bits_per_s}
        return {"client": {"start": {"test_start": test}}}

    assert limit_of(ours(125)) == 1000
    assert limit_of(ours(0)) is None
    assert limit_of({"name": "iperf3", "pairs": [asked(300), asked(300)]}) == 1200
    assert limit_of({"name": "iperf3", "pairs": [asked(0)]}) is None
    assert limit_of({"name": "iperf3", "pairs": [{"client": {}}]}) is None
