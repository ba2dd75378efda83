"""perf's JSON, from captured and documented outputs of several versions."""

from pathlib import Path

import pytest

from copycost.errors import ParseError
from copycost.perf.output import PerfCount, parse_perf

DATA = Path(__file__).parents[2] / "data" / "perf"


def parse_file(name: str) -> dict[str, PerfCount]:
    path = DATA / name
    return {count.event: count for count in parse_perf(path.read_text(), path.name)}


@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.name)
def test_every_version_gives_all_twelve_events(path: Path) -> None:
    events = {
        count.event.rpartition("cpu_core/")[2].rstrip("/")
        for count in parse_perf(path.read_text(), path.name)
        if not count.event.startswith("cpu_atom/")
    }
    assert len(events) == 12


def test_not_supported_and_not_counted_are_no_values_though_perf_says_100_percent() -> None:
    counts = parse_file("perf_6.1_never_enabled.jsonl")
    assert counts["cycles"] == PerfCount("cycles", None, "not_supported", None, False)
    assert counts["task-clock"] == PerfCount("task-clock", None, "not_counted", None, False)


def test_zero_is_a_value() -> None:
    assert parse_file("perf_6.1_no_pmu_root.jsonl")["cpu-migrations"].value == 0


def test_times_become_nanoseconds() -> None:
    assert parse_file("perf_6.8_intel.jsonl")["task-clock"].value == pytest.approx(1000213417)


def test_user_mode_is_told_from_the_modifier_in_both_notations() -> None:
    counts = parse_file("perf_6.1_no_pmu_user.jsonl")
    assert counts["page-faults"] == PerfCount("page-faults", 62, "counted", 100, True)
    assert counts["msr/tsc/"].user_only
    assert not any(count.user_only for count in parse_file("perf_6.8_intel.jsonl").values())


def test_kernel_modifier_beside_user_is_not_user_only() -> None:
    (count,) = parse_perf('{"event": "cycles:uk", "counter-value": "1"}', "x")
    assert (count.event, count.user_only) == ("cycles", False)


def test_running_percentage_is_kept() -> None:
    counts = parse_file("perf_6.2_multiplexed.jsonl")
    assert counts["cycles"].running_percent == 58.33
    assert counts["LLC-loads"].status == "not_counted"


def test_metric_only_objects_and_comments_are_passed_over() -> None:
    text = '# started\n\n{"metric-value" : 0.1, "metric-unit" : "x"}\n{"event": "cycles"}\nnoise\n'
    assert parse_perf(text, "x") == ()


def test_several_objects_on_one_line_are_all_read() -> None:
    assert "L1-dcache-load-misses" in parse_file("perf_5.19_intel.jsonl")


def test_unknown_keys_are_accepted_and_missing_ones_too() -> None:
    (count,) = parse_perf('{"event": "cycles", "counter-value": "7", "new": [1]}', "x")
    assert count == PerfCount("cycles", 7, "counted", None, False)


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "cycles", "counter-value": "1,5"}',
        '{"event": "cycles", "counter-value": "-nan"}',
        '{"event": "cycles", "counter-value": ""}',
        '{"event": "task-clock", "counter-value": "1", "unit": "fortnight"}',
        '{"event": "cycles", "counter-va',
        '{"event": 1, "counter-value": "1"}',
        '{"counter-value": "1e999", "event": "cycles"}',
        '{"counter-value": "-3", "event": "cycles"}',
    ],
)
def test_anything_else_is_an_error_that_names_file_line_and_text(line: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_perf(f"\n{line}\n", "perf.json")
    assert str(caught.value).startswith("perf.json, line 2: ")
    assert repr(line) in str(caught.value)
