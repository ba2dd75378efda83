"""By whose account the CPU use of both sides is told."""

import math

import pytest

from copycost.studies.datagrams.table import _cpu_use

# Two streams on two CPUs: the scheduler gives to the receivers what their senders do.
RATES = {
    "sender_cpu_percent": 118.8,
    "receiver_cpu_percent": 80.4,
    "sender_perf_percent": 156.2,
    "receiver_perf_percent": 37.0,
}


def test_sides_are_divided_by_what_perf_counted() -> None:
    assert _cpu_use(RATES) == {
        "sender_cpu_percent": 156.2,
        "receiver_cpu_percent": 37.0,
        "cpu_clock": "task_clock",
    }


@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_both_sides_go_by_one_clock(side: str) -> None:
    assert _cpu_use({**RATES, f"{side}_perf_percent": math.nan}) == {
        "sender_cpu_percent": 118.8,
        "receiver_cpu_percent": 80.4,
        "cpu_clock": "scheduler",
    }
