"""A repetition in a line, whatever the study."""

from typing import Any

import pytest
from sample_records import sample_record, with_round_trips

from copycost.config.cells import Cell
from copycost.snakefile.describe_repetition import describe_cell, describe_result, line_of


def record(**cycles: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a record of 1 GB in a window of 1 s, with or without cycles."""
    made = sample_record("one_copy", n_threads=4)
    made["driver"]["receiver"]["in_window"]["bytes"] = 1_000_000_000
    for side in made["observed"]["perf_stat"].values():
        side["events"]["cycles"] |= {"value": 4e8, "status": "counted", **cycles}
    return made


@pytest.mark.parametrize(
    ("cycles", "cost"),
    [
        ({}, "0.8 cycles/B"),
        ({"value": None, "status": "not_supported"}, "1.9 CPU ns/B"),
        ({"user_only": True}, "1.9 CPU ns/B"),
    ],
)
def test_a_byte_costs_cycles_where_all_are_counted_and_else_cpu_time(
    cycles: dict[str, Any], cost: str
) -> None:
    said = f"veth one_copy 64 KiB x 4 threads, repetition 1: 8 Gbit/s, {cost}"
    assert line_of(record(**cycles)) == said


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"samples": 9000, "p50_ns": 64_100, "p99_ns": 133_000}, "median 64.1 us, p99 133 us"),
        (
            {"samples": 3, "p50_ns": None, "p99_ns": None},
            "3 round trips within the window, too few for a median",
        ),
    ],
)
def test_round_trips_give_median_and_tail_where_there_are(found: dict[str, Any], text: str) -> None:
    asked = with_round_trips(record())
    asked["driver"]["sender"]["round_trip"] |= found
    assert describe_result(asked) == text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (
            Cell("streams", "sink", "zero_copy", 65536, 1, "16777216", "trunc", "same", 2),
            "sink zero_copy 64 KiB x 1 thread, ring of 16 MiB, received by trunc, both ends on one "
            "CPU, repetition 2",
        ),
        (
            Cell("round_trips", "veth", "one_copy", 64, 4, "cold"),
            "veth one_copy 64 B x 4 threads, round trips, cold, repetition 1",
        ),
        (
            Cell("cpu_budget", "veth", "iperf3", 1024, 2, limiter="cgroup", limit_percent=40),
            "veth iperf3 1 KiB x 2 threads, 40 % by cgroup, repetition 1",
        ),
    ],
)
def test_a_cell_is_told_by_what_is_not_usual(cell: Cell, text: str) -> None:
    assert describe_cell(cell) == text
