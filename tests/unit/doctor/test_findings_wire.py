"""What the doctor says of both ends of a wire: of each what is its own."""

from typing import Any

import pytest
from unit.conftest import FakePerf, HostTree
from unit.doctor.test_doctor import LOOPBACK, describe
from wires import device

from copycost.config.wire import LINK, UNLIMITED
from copycost.doctor.findings import Finding
from copycost.doctor.findings_wire import judge_wire
from copycost.doctor.peer import _udp_limit
from copycost.errors import Unavailable
from copycost.hosts.local import LocalHost
from copycost.testbeds import over_wire

OF_A_DEVICE = (
    *("link", "scatter gather", "tx checksum", "TSO", "GSO", "GRO", "rings", "queues"),
    *("coalescing", "frequency governor", "congestion control"),
)
OPEN = {"here": None, "there": None}


class Bare(LocalHost):
    """Another machine, on which nothing is installed."""

    def find_tool(self, name: str) -> str | None:
        return None


def end(**changed: object) -> dict[str, Any]:
    found = device() | {
        "tso": True, "gso": True, "gro": True, "rps_cpus": [], "xps_cpus": [], "ring_rx": 512,
        "ring_tx": 512, "coalescing": None, "governor": None, "congestion_control": "cubic",
    }  # fmt: skip
    return found | changed


def wire(**changed: object) -> dict[str, Any]:
    found: dict[str, Any] = {
        "unavailable": None, "peer": "me@lab2", "ssh_options": [], "ports": None,
        "one_kernel": False, "unreached": OPEN, "udp_mbit_per_s": 25000, "udp_unavailable": None,
        "clock": {"offset_ns": -2_500_000_000, "uncertainty_ns": 60_000},
        "here": end(), "there": end(address="192.0.2.2"),
    }  # fmt: skip
    return found | changed


@pytest.fixture
def findings(host_tree: HostTree, fake_perf: FakePerf) -> dict[tuple[str, str], Finding]:
    fake_perf("*) echo 'no permission to enable task-clock' >&2; exit 255;;")
    files = {name: host_tree(name) for name in ("intel_hybrid_laptop", "amd_server")}
    root = files["amd_server"].root
    (root / "etc/os-release").write_text("ID=fedora\n")
    (root / "proc/loadavg").write_text("0.52 0.5 0.5 1/99 4000\n")
    this, there = (
        describe(one, "x86_64", LOOPBACK, root=False, memlock=None) for one in files.values()
    )
    other = Bare("me@lab2")
    other.files = files["amd_server"]
    found = judge_wire({**there, "wire": wire()}, this, other)
    return {(one.section, one.name): one for one in found}


def test_each_end_has_its_own_kernel_processor_and_counters(
    findings: dict[tuple[str, str], Finding],
) -> None:
    here, there = ({name: findings[end, name] for name in ("kernel", "CPU", "perf")}
                   for end in ("This end", "The other end"))  # fmt: skip
    assert "Intel" in here["CPU"].value
    assert "AMD" in there["CPU"].value
    assert here["kernel"].value != there["kernel"].value
    assert here["perf"].state == there["perf"].state == "missing"
    for end_name in ("This end", "The other end"):
        assert findings[end_name, "cost per byte in"].value == "CPU time"
        assert {(end_name, name) for name in OF_A_DEVICE} <= findings.keys()


def test_what_is_installed_and_how_busy_it_is_are_told_of_the_other_machine_itself(
    findings: dict[tuple[str, str], Finding],
) -> None:
    tools = "The other end: tools"
    assert findings[tools, "iperf3"].state == "missing"
    assert findings[tools, "iperf3"].remedy == "install the package that contains iperf3"
    assert (tools, "cc") not in findings  # nothing is built there
    load = findings["The other end: processors", "load of the last minute"]
    assert load.value == "0.52"


@pytest.mark.parametrize(
    ("asked", "speeds", "one_kernel", "limit"),
    [
        (LINK, (25000, 10000), False, 10000),
        (LINK, (None, 10000), False, 10000),
        (LINK, (None, None), True, None),
        (UNLIMITED, (None, None), False, None),
        (700, (None, None), False, 700),
    ],
)
def test_udp_keeps_to_the_link_or_to_what_is_stated(
    asked: int | str, speeds: tuple[int | None, ...], one_kernel: bool, limit: int | None
) -> None:
    ends = zip(("here", "there"), speeds, strict=True)
    path = {name: {"speed_mbit_per_s": speed} for name, speed in ends}
    found = _udp_limit(asked, {**path, "one_kernel": one_kernel})
    assert found == {"udp_mbit_per_s": limit, "udp_unavailable": None}


def test_where_no_device_tells_a_speed_no_udp_is_sent() -> None:
    unknown = {"speed_mbit_per_s": None}
    limit = _udp_limit(LINK, {"here": unknown, "there": unknown, "one_kernel": False})
    peer = {"wire": wire(**limit)}
    for kind in ("wire_udp", "wire_in_udp", "wire_sink"):
        with (
            pytest.raises(Unavailable, match="set wire") as refused,
            over_wire.build(kind, LocalHost(), page_segments=False, peer=peer),
        ):
            pass
        assert "no device at either end reports the link's speed" in refused.value.reason
