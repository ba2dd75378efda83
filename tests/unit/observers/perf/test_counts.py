"""perf's JSON, captured of several versions: what is a measurement, and under which status."""

from pathlib import Path
from typing import Any

import pytest

from copycost.errors import ParseError
from copycost.observers.perf.command import PerfPlan, plan_perf
from copycost.observers.perf.counts import PerfCount, PerfSide, join_counts, no_perf, parse_perf
from copycost.observers.perf.events import PERF_EVENTS

DATA = Path(__file__).parents[3] / "data" / "perf"


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


def host(**statuses: str) -> dict[str, Any]:
    events = {
        name: {"perf_name": perf_name, "status": statuses.get(name, "supported"), "reason": None}
        for name, perf_name in PERF_EVENTS.items()
    }
    return {"perf": {"path": "perf", "status": "available", "events": events}}


def join(name: str) -> PerfSide:
    counts = parse_perf((DATA / name).read_text(), name)
    return join_counts(host(), PerfPlan("perf", dict(PERF_EVENTS)), counts)


def statuses(side: PerfSide) -> dict[str, str]:
    return {name: event["status"] for name, event in side["events"].items()}


def test_a_counter_that_took_turns_is_multiplexed_and_keeps_its_percentage() -> None:
    events = join("perf_6.2_multiplexed.jsonl")["events"]
    assert events["cycles"]["status"] == "multiplexed"
    assert events["cycles"]["running_percent"] == 58.33
    assert events["llc_loads"]["status"] == "not_counted"
    assert events["context_switches"]["status"] == "counted"
    assert statuses(join("perf_6.5_amd.jsonl"))["llc_loads"] == "not_supported"


def test_hybrid_cores_are_kept_apart_and_summed_only_if_both_counted() -> None:
    events = join("perf_6.11_hybrid.jsonl")["events"]
    assert events["cycles"]["value"] == 2_600_000_000
    assert events["cycles"]["parts"] == {"cpu_core": 1_700_000_000, "cpu_atom": 900_000_000}
    assert events["cycles"]["running_percent"] == 42.12
    assert events["llc_loads"]["value"] is None
    assert events["llc_loads"]["status"] == "not_counted"
    assert events["llc_loads"]["parts"] == {"cpu_core": 1_200_000, "cpu_atom": None}
    assert events["l1d_load_misses"]["value"] is None
    assert "parts" not in events["task_clock_ns"]


def test_kernel_events_of_user_mode_are_no_measurement_and_time_is_whole() -> None:
    events = join("perf_6.1_no_pmu_user.jsonl")["events"]
    assert events["context_switches"]["value"] is None
    assert events["context_switches"]["status"] == "not_counted"
    assert events["cpu_migrations"]["value"] is None
    assert events["page_faults"]["user_only"]
    assert not events["task_clock_ns"]["user_only"]


def test_counters_that_are_live_but_wrong_are_no_measurement() -> None:
    side = join("perf_6.8_vm_wrong.jsonl")
    assert side["events"]["cycles"]["value"] is None
    assert side["events"]["cache_misses"]["status"] == "not_counted"
    assert side["events"]["page_faults"]["value"] == 2
    assert side["events"]["ref_cycles"]["status"] == "counted"
    assert "live but wrong: 5.12e+04 instructions per second" in str(side["reason"])
    # few in user mode alone may well be right
    text = (DATA / "perf_6.8_vm_wrong.jsonl").read_text()
    counts = parse_perf(text.replace('"instructions"', '"instructions:u"'), "x")
    side = join_counts(host(), PerfPlan("perf", dict(PERF_EVENTS)), counts)
    assert side["events"]["instructions"]["value"] == 51234


def test_events_not_asked_for_keep_the_host_s_status() -> None:
    facts = host(cycles="not_supported", llc_loads="unknown_event", ref_cycles="forbidden")
    side = join_counts(facts, PerfPlan("perf", {"page_faults": "page-faults"}), ())
    assert statuses(side)["cycles"] == "not_supported"
    assert statuses(side)["llc_loads"] == "not_supported"
    assert statuses(side)["ref_cycles"] == "not_counted"
    assert statuses(side)["page_faults"] == "not_counted"  # asked for, but perf was silent
    without = no_perf(facts, "forbidden", "why")
    assert (without["status"], without["reason"]) == ("forbidden", "why")
    assert {event["value"] for event in without["events"].values()} == {None}
    assert statuses(without)["cycles"] == "not_supported"
    assert statuses(without)["page_faults"] == "not_counted"


def test_only_supported_events_are_asked_for() -> None:
    facts = host(cycles="not_supported", llc_loads="forbidden")
    only = plan_perf(facts, only=("page_faults", "cycles"))
    assert only == PerfPlan("perf", {"page_faults": "page-faults"})
    every = plan_perf(facts)
    assert every is not None
    assert set(every.events) == PERF_EVENTS.keys() - {"cycles", "llc_loads"}
    assert plan_perf(facts, only=("cycles",)) is None
    for status in ("missing", "forbidden"):
        assert plan_perf({"perf": facts["perf"] | {"status": status}}) is None
