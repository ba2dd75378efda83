from pathlib import Path
from typing import Any

import pytest

from copycost.grid.cells import Cell
from copycost.snakefile import progress

CELL = Cell("streams", "veth", "one_copy", 65536, 4, "hot", "recv", 1)


def event(value: float | None, status: str = "counted", user_only: bool = False) -> dict[str, Any]:
    return {"value": value, "status": status, "user_only": user_only}


def record(cycles: dict[str, Any] | None = None, **other: object) -> dict[str, Any]:
    """Return the parts that progress reads of a record: 1 GB in a window of 0.5 s."""
    side = {"events": {"cycles": cycles or event(None, "not_supported")}}
    return {
        "study": "streams",
        "status": "measured",
        "reason": None,
        "settings": {"warmup_s": 0.2, "duration_s": 1.0},
        "sender": {"process": {"cpu_ns": 200_000_000}},
        "receiver": {
            "process": {"cpu_ns": 100_000_000},
            "in_window": {"bytes": 1_000_000_000},
            "window": {"start_ns": 10, "end_ns": 500_000_010},
        },
        "perf": {"sender": side, "receiver": side},
    } | other


def test_the_result_gives_throughput_and_cpu_time_where_cycles_are_not_counted() -> None:
    assert progress.describe_result(record()) == "16 Gbit/s, 0.3 CPU ns/B"


def test_the_result_gives_cycles_where_they_are_counted() -> None:
    assert progress.describe_result(record(event(4e8))) == "16 Gbit/s, 0.8 cycles/B"


@pytest.mark.parametrize("cycles", [event(4e8, user_only=True), event(4e8, "multiplexed")])
def test_partly_counted_cycles_are_not_given(cycles: dict[str, Any]) -> None:
    assert "CPU ns/B" in progress.describe_result(record(cycles))


def test_a_window_without_bytes_has_no_cost_per_byte() -> None:
    empty = record()
    empty["receiver"]["in_window"]["bytes"] = 0
    assert progress.describe_result(empty) == "0 Gbit/s"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"samples": 9000, "p50_ns": 64_100, "p99_ns": 133_000}, "median 64.1 us, p99 133 us"),
        ({"samples": 40, "p50_ns": 64_100, "p99_ns": None}, "median 64.1 us"),
        (
            {"samples": 3, "p50_ns": None, "p99_ns": None},
            "3 round trips within the window, too few for a median",
        ),
        (
            {"samples": 0, "p50_ns": None, "p99_ns": None},
            "0 round trips within the window, too few for a median",
        ),
    ],
)
def test_round_trips_give_median_and_tail_where_there_are(found: dict[str, Any], text: str) -> None:
    client = record(study="round_trips", sender={"round_trip": found})
    assert progress.describe_result(client) == text


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_a_repetition_without_result_says_why(status: str) -> None:
    none = record(status=status, reason="the peer reset the connection", sender=None, perf=None)
    text = progress.describe_result(none)
    assert text == f"{status.upper()}, the peer reset the connection"


def test_each_repetition_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress.VARIABLE, "")  # so that what `begin` sets is taken away again
    said = progress.begin(tmp_path / "logs" / "progress.json", n_repetitions=12, expected_s=19.8)
    assert said == "copycost: measuring 12 repetitions, which takes about 20 s."
    first = progress.tell(CELL, record())
    assert first.startswith(
        "[ 1/12] veth one_copy 64 KiB x 4 threads, repetition 1: 16 Gbit/s, 0.3 CPU ns/B, 11 left, "
    )
    lines = [progress.tell(CELL, record(status="failed", reason="why")) for _ in range(11)]
    assert lines[0].startswith("[ 2/12] ")
    assert lines[-1] == (
        "[12/12] veth one_copy 64 KiB x 4 threads, repetition 1: FAILED, why, 0 left"
    )


def test_a_result_is_told_although_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    assert progress.tell(CELL, record()).startswith("veth one_copy 64 KiB x 4 threads, ")


def test_a_counter_that_was_lost_costs_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "gone.json"))
    assert progress.tell(CELL, record()).startswith("veth one_copy 64 KiB x 4 threads, ")


def test_the_rest_is_expected_at_the_pace_so_far() -> None:
    run = progress.Progress(total=4, expected_s=8.0)
    assert run.left_s(now_s=100.0) == 8.0
    run = run.after(expected_s=1.0, now_s=100.0)
    assert run.left_s(now_s=100.0) == pytest.approx(7.0)
    run = run.after(expected_s=3.0, now_s=101.0)  # it took a third of that
    assert (run.done, run.left) == (2, 2)
    assert run.left_s(now_s=101.0) == pytest.approx(4.0 * 2.0 / 4.0)


def test_repetitions_of_all_studies_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, "")
    progress.begin(tmp_path / "progress.json", n_repetitions=2, expected_s=6.05)
    progress.tell(CELL, record())
    progress.extend(1, 1.65)
    pace = progress.pace_of_profile("one_copy")
    line = progress.count_in("profile", pace, {"warmup_s": 0.2, "duration_s": 1.0})
    assert line.startswith("[2/3] profile, 1 left, about ")


def test_a_profile_of_iperf3_is_expected_to_take_longer_than_one_of_ours() -> None:
    ours, iperf3 = (progress.pace_of_profile(name) for name in ("two_copy", "iperf3_udp"))
    assert ours.expected_s(1.2) == pytest.approx(3.4)
    assert iperf3.expected_s(1.2) == pytest.approx(7.6)


def test_nothing_to_measure_is_said() -> None:
    assert "measure nothing, and do 1 other job" in progress.forecast(0, 0.0, 1)
    assert "measure 1 repetition," in progress.forecast(1, 1.5, 2)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (40, "40 s"), (89, "89 s"), (378, "6 min"), (9600, "2 h 40 min")],
)
def test_durations_are_said_as_people_do(seconds: float, text: str) -> None:
    assert progress.format_duration(seconds) == text
