"""What of perf's counts is a measurement, and under which status it is recorded."""

from pathlib import Path
from typing import Any

from copycost.perf.command import PerfPlan
from copycost.perf.counters import PerfSide, join_counts, no_perf
from copycost.perf.events import PERF_EVENTS
from copycost.perf.output import parse_perf

DATA = Path(__file__).parents[2] / "data" / "perf"


def host(**statuses: str) -> dict[str, Any]:
    events = {
        name: {"perf_name": perf_name, "status": statuses.get(name, "supported"), "reason": None}
        for name, perf_name in PERF_EVENTS.items()
    }
    return {"perf": {"status": "available", "events": events}}


def join(name: str) -> PerfSide:
    counts = parse_perf((DATA / name).read_text(), name)
    return join_counts(host(), PerfPlan("perf", dict(PERF_EVENTS)), counts)


def statuses(side: PerfSide) -> dict[str, str]:
    return {name: event["status"] for name, event in side["events"].items()}


def test_a_counter_that_took_turns_is_multiplexed_and_keeps_its_percentage() -> None:
    events = join("perf_6.2_multiplexed.jsonl")["events"]
    assert (events["cycles"]["status"], events["cycles"]["running_percent"]) == (
        "multiplexed",
        58.33,
    )
    assert events["llc_loads"]["status"] == "not_counted"
    assert events["context_switches"]["status"] == "counted"
    lacking = join("perf_6.5_amd.jsonl")["events"]
    assert (lacking["llc_loads"]["value"], lacking["llc_loads"]["status"]) == (
        None,
        "not_supported",
    )


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
