"""Probing of perf, against scripts that answer as perfs on other hosts do.

The answers are perf 6.1's on a host without counters (``perf stat -j -e EVENT -- true``, Linux
6.18), and for refusals the texts of tools/perf/util/evsel.c and parse-events.c, Linux 6.8.
"""

from pathlib import Path
from typing import Any

import pytest
from unit.conftest import FakePerf, HostTree

from copycost.hosts.facts import tools
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.observers.perf.events import PERF_EVENTS
from copycost.observers.perf.probe import counts_with_kernel, read_perf

ALL_COUNTED = '*) counted "$event" 12345.000000;;'
NO_COUNTERS = """\
cycles|instructions|L1-*|LLC-*|cache-misses) counted "$event" "<not supported>";;
*) counted "$event" 12345.000000;;"""
USER_ONLY = """\
cycles|instructions|L1-*|LLC-*|cache-misses) counted "$event:u" "<not supported>";;
msr/tsc/) counted msr/tsc/u "<not supported>";;
*) counted "$event:u" 0.000000;;"""
REFUSED = """\
*) echo "Error:
Access to performance monitoring and observability operations is limited.
Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open
access to performance monitoring and observability operations for processes
without CAP_PERFMON, CAP_SYS_PTRACE or CAP_SYS_ADMIN Linux capability.
perf_event_paranoid setting is 4:" >&2; exit 255;;"""
HYBRID = """\
cycles|instructions|cache-misses|LLC-*|L1-*)
  counted "cpu_atom/$event/" "<not counted>"; counted "cpu_core/$event/" 98765.000000;;
*) counted "$event" 5.000000;;"""
NO_TSC = """\
msr/tsc/) echo "event syntax error: 'msr/tsc/'" >&2; exit 129;;
*) counted "$event" 5.000000;;"""
TOO_OLD = """*) echo "  Error: unknown switch \\`j'" >&2; exit 129;;"""


def probe(files: HostFiles) -> tuple[dict[str, Any], Unknowns]:
    unknown = Unknowns()
    return read_perf(files, unknown), unknown


def statuses(perf: dict[str, Any]) -> dict[str, str]:
    return {name: event["status"] for name, event in perf["events"].items()}


def test_perf_is_asked_once_where_it_knows_all_events(
    fake_perf: FakePerf, host_tree: HostTree
) -> None:
    script = fake_perf(f'*) echo "$4" >> "$0.calls";; esac; case "$event" in {ALL_COUNTED}')
    perf, _ = probe(host_tree("amd_server"))
    assert set(statuses(perf).values()) == {"supported"}
    asked = Path(f"{script}.calls").read_text(encoding="utf-8").splitlines()
    assert set(asked) == {",".join(PERF_EVENTS.values())}


@pytest.mark.parametrize(
    ("answer", "cycles", "ref_cycles"),
    [
        (NO_COUNTERS, "not_supported", "supported"),
        (HYBRID, "supported", "supported"),  # one kind of core did not run
        (NO_TSC, "supported", "unknown_event"),
    ],
)
def test_each_event_is_judged_by_itself(
    fake_perf: FakePerf, host_tree: HostTree, answer: str, cycles: str, ref_cycles: str
) -> None:
    fake_perf(answer)
    perf, _ = probe(host_tree("virtual_machine"))
    assert perf["status"] == "available"
    found = statuses(perf)
    assert (found["cycles"], found["ref_cycles"]) == (cycles, ref_cycles)


def test_user_mode_only_forbids_what_happens_in_the_kernel(
    fake_perf: FakePerf, host_tree: HostTree
) -> None:
    fake_perf(USER_ONLY)
    perf, _ = probe(host_tree("virtual_machine"))
    assert perf["user_only"]
    assert perf["status"] == "available"
    assert "perf_event_paranoid=1" in str(perf["remedy"])
    found = statuses(perf)
    of_kernel = ("context_switches", "cpu_migrations", "ref_cycles")
    assert {found[name] for name in of_kernel} == {"forbidden"}
    assert found["task_clock_ns"] == "supported"
    assert found["cycles"] == "not_supported"


@pytest.mark.parametrize(
    ("script", "expected"), [(ALL_COUNTED, True), (USER_ONLY, False), (NO_COUNTERS, False)]
)
def test_events_count_where_the_kernels_part_does_too(
    fake_perf: FakePerf, script: str, expected: bool
) -> None:
    fake_perf(script)
    assert counts_with_kernel(("l1d_load_misses", "llc_load_misses")) == expected


@pytest.mark.parametrize(
    ("answer", "status", "reason", "remedy"),
    [
        (REFUSED, "forbidden", "perf_event_paranoid is 4", "run as root"),
        (TOO_OLD, "missing", "JSON", ""),
    ],
)
def test_a_refusal_of_everything_has_a_reason_and_a_remedy(
    fake_perf: FakePerf, host_tree: HostTree, answer: str, status: str, reason: str, remedy: str
) -> None:
    fake_perf(answer)
    perf, _ = probe(host_tree("intel_hybrid_laptop"))
    assert perf["status"] == status
    assert reason in str(perf["reason"])
    assert remedy in str(perf["remedy"])
    assert "supported" not in statuses(perf).values()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('*) echo "the moon is full" >&2; exit 3;;', "the moon is full"),
        ("""*) echo '{"event": "cycles", "counter-va' >&2;;""", "said: perf stat, line 1: "),
    ],
)
def test_an_unforeseen_answer_is_no_counter_and_passed_on(
    fake_perf: FakePerf, host_tree: HostTree, answer: str, said: str
) -> None:
    fake_perf(answer)
    events = probe(host_tree("amd_server"))[0]["events"]
    assert {event["status"] for event in events.values()} == {"not_supported"}
    assert said in str(events["cycles"]["reason"])


def test_without_perf_the_remedy_names_the_distributions_package(
    host_tree: HostTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tools, "_UBUNTU_PERFS", "nowhere/*/perf")
    perf, unknown = probe(host_tree("amd_server"))
    remedy = "sudo apt-get install linux-perf"
    assert (perf["status"], perf["path"], perf["remedy"]) == ("missing", None, remedy)
    assert set(perf["events"]) == set(PERF_EVENTS)
    assert unknown.reasons["perf.version"] == "perf is not installed"


def test_a_neighbouring_perf_is_taken_where_ubuntus_wrapper_finds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper, neighbour = tmp_path / "bin/perf", tmp_path / "tools/6.8.0-45-generic/perf"
    answers = {wrapper: "echo 'not found' >&2; exit 2", neighbour: "echo 'perf version 6.8.12'"}
    for path, said in answers.items():
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{said}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent))
    monkeypatch.setattr(tools, "_UBUNTU_PERFS", str(tmp_path / "tools/*/perf").lstrip("/"))
    assert tools.describe_tool("perf") == tools.Tool(str(neighbour), "6.8.12")
    monkeypatch.setattr(tools, "_UBUNTU_PERFS", "nowhere/*/perf")
    assert tools.describe_tool("perf") == tools.Tool(str(wrapper), None)
