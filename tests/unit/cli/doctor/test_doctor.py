"""What the doctor says of this host and of others."""

import json
import re
from typing import Any

import pytest
from unit.conftest import FakePerf, HostTree

from copycost.cli.doctor import command as doctor
from copycost.cli.doctor.collect import collect_host
from copycost.cli.doctor.findings import Finding, judge_host
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.identity import host_identity
from copycost.hosts.facts.kernel import read_memory
from copycost.hosts.local import LocalHost

UNKNOWN = dict.fromkeys(("isolation", "optmem_max", "reason", "remedy"))
NO_VETH = {
    "available": False, **UNKNOWN, "reason": "this host allows no user namespace",
    "remedy": "run as root",
}  # fmt: skip
VETH = {"available": True, **UNKNOWN, "isolation": "root", "optmem_max": 131072}
LOOPBACK = {"available": True, **UNKNOWN, "isolation": "host"}


def describe(
    files: HostFiles, machine: str, veth: dict[str, Any], *, root: bool, memlock: int | None
) -> dict[str, Any]:
    """Return what is said of a host that is not this one."""
    host = LocalHost()
    host.files = files
    identity = {**host_identity(files), "machine": machine, "euid_is_root": root}
    testbeds = {"veth": {**veth}, "veth_no_offload": {**veth}, "loopback": LOOPBACK}
    memory = read_memory(files, memlock, Unknowns())
    tools = {name: {"path": None, "version": None} for name in ("ip", "ethtool", "nft")}
    found = collect_host(identity, host)
    return {**found, "memory": memory, "testbeds": testbeds, "tools": tools}


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def test_a_restricted_laptop_gets_a_remedy_for_each_restriction(
    host_tree: HostTree, fake_perf: FakePerf
) -> None:
    fake_perf("*) echo 'Access to performance monitoring is limited' >&2; exit 255;;")
    files = host_tree("intel_hybrid_laptop")
    host = describe(files, "x86_64", NO_VETH, root=False, memlock=65536)
    found = by_name(judge_host(host, files))
    assert (found["veth"].state, found["veth"].remedy) == ("missing", "run as root")
    assert found["loopback"].state == "ok"
    assert found["perf"].state == "missing"
    assert "perf_event_paranoid=1" in str(found["perf"].remedy)
    assert found["perf_event_paranoid"].value == "4"
    assert found["cycles"].value == "forbidden"
    assert found["cost per byte in"].value == "CPU time"
    assert (found["memlock"].state, found["memlock"].value) == ("limited", "64 KiB")
    assert "limits.conf" in str(found["memlock"].remedy)
    assert found["kinds of core"].value == "core 0-7, atom 8-15"
    assert "cpupower" in str(found["frequency governor"].remedy)
    assert found["load of the last minute"].state == "limited"
    assert "nmi_watchdog" not in found  # there is nothing to multiplex
    assert "no_turbo" in str(found["turbo"].remedy)
    assert found["IRQ time accounting"].state == "limited"
    assert found["cc"].remedy == "sudo apt-get install gcc libc6-dev"
    assert found["nft"].remedy == "sudo apt-get install nftables"
    assert "io_uring" not in found  # a kernel without the switch


def test_a_server_with_counters_costs_cycles(host_tree: HostTree, fake_perf: FakePerf) -> None:
    fake_perf('*) counted "$event" 5.0;;')
    files = host_tree("amd_server")
    host = describe(files, "x86_64", VETH, root=True, memlock=65536)
    host["testbeds"]["veth"]["optmem_max"] = None  # before 6.8 the host's value holds everywhere
    host["testbeds"]["veth_no_offload"]["optmem_max"] = None
    found = by_name(judge_host(host, files))
    assert found["cost per byte in"].value == "cycles"
    assert found["nmi_watchdog"].remedy == "sudo sysctl kernel.nmi_watchdog=0"
    assert found["load of the last minute"].state == "ok"
    assert found["memlock"].value == "no limit"
    assert (found["optmem_max"].state, found["optmem_max"].value) == ("limited", "20 KiB")
    assert found["virtualisation"].value == "none"
    assert found["turbo"].state == "fact"
    assert found["congestion control"].remedy == "sudo modprobe tcp_cubic"


def test_a_guest_is_told_where_its_counters_are(host_tree: HostTree, fake_perf: FakePerf) -> None:
    fake_perf('task-clock) counted task-clock 5.0;; *) counted "$event" "<not supported>";;')
    files = host_tree("virtual_machine")
    host = describe(files, "x86_64", VETH, root=False, memlock=8 << 20)
    found = by_name(judge_host(host, files))
    assert "pmu=on" in str(found["cycles"].remedy)
    assert found["task-clock"].state == "ok"
    assert found["cubic on loopback"].remedy is not None
    assert found["memlock"].state == "ok"


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_fits_its_width_and_says_no_remedy_twice(
    host_tree: HostTree, fake_perf: FakePerf, width: int
) -> None:
    fake_perf("*) echo 'Access to performance monitoring is limited' >&2; exit 255;;")
    files = host_tree("intel_hybrid_laptop")
    host = describe(files, "x86_64", NO_VETH, root=False, memlock=65536)
    text = doctor.render(judge_host(host, files), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert not re.search(r"\bNone\b|[{}]", text)
    assert text.count("perf_event_paranoid=1") == 1
    assert text.count("> run as root") == 1


@pytest.mark.slow
def test_host_facts_are_plain_stable_json() -> None:
    first, second = collect_host(), collect_host()
    assert json.loads(json.dumps(first)) == first
    assert first == second
    for key, reason in first["unknown"].items():  # type: ignore[attr-defined]
        value: Any = first
        for part in key.split("."):
            value = value[part]
        assert value is None, key
        assert reason
