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


def test_user_mode_is_told_from_the_modifier_in_both_notations() -> None:
    counts = parse_file("perf_6.1_no_pmu_user.jsonl")
    assert counts["page-faults"] == PerfCount("page-faults", 62, "counted", 100, True)
    assert counts["msr/tsc/"].user_only
    intel = parse_file("perf_6.8_intel.jsonl")
    assert not any(count.user_only for count in intel.values())
    assert intel["task-clock"].value == pytest.approx(1000213417)  # [ns], whatever the unit was
    # with the kernel's modifier beside it; other keys may come and go
    (count,) = parse_perf('{"event": "cycles:uk", "counter-value": "7", "new": [1]}', "x")
    assert count == PerfCount("cycles", 7, "counted", None, False)


def test_metric_only_objects_and_comments_are_passed_over() -> None:
    text = '# started\n\n{"metric-value" : 0.1, "metric-unit" : "x"}\n{"event": "cycles"}\nnoise\n'
    assert parse_perf(text, "x") == ()


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
