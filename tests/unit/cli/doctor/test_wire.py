"""What is found out of another machine and the network to it, and what the doctor says of that."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from unit.cli.doctor.test_doctor import LOOPBACK, describe
from unit.conftest import FakePerf, HostTree
from wires import device

from copycost.cli.doctor import peer as described
from copycost.cli.doctor.findings import Finding
from copycost.cli.doctor.findings_wire import _end, judge_wire
from copycost.cli.doctor.peer import _udp_limit, collect_peer, device_facts, what_keeps_out
from copycost.config.wire import LINK, UNLIMITED, Peer
from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.remote.connection import ConnectionLost
from copycost.hosts.testbeds import over_wire

HERE, THERE = "127.0.0.1", "127.0.0.2"
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


def test_each_machine_has_its_own_kernel_processor_counters_load_and_tools(
    host_tree: HostTree, fake_perf: FakePerf
) -> None:
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
    found: dict[str, dict[str, Finding]] = {}
    for one in judge_wire({**there, "wire": wire()}, this, other):
        found.setdefault(one.section, {})[one.name] = one
    ends = found["This end"], found["The other end"]
    assert "Intel" in ends[0]["CPU"].value
    assert "AMD" in ends[1]["CPU"].value
    assert ends[0]["kernel"].value != ends[1]["kernel"].value
    for told in ends:
        assert (told["perf"].state, told["cost per byte in"].value) == ("missing", "CPU time")
    tools = found["The other end: tools"]
    assert tools["iperf3"].remedy == "install the package that contains iperf3"
    assert "cc" not in tools  # nothing is built there
    assert found["Wire"]["clock"].state == "ok"
    assert found["The other end: processors"]["load of the last minute"].value == "0.52"


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


INTERRUPTS = """\
           CPU0       CPU1
 24:          0          0  PCI-MSIX-0000:3b:00.0   0-edge      eth0-TxRx-0
 25:          0          0  PCI-MSIX-0000:3b:00.0   1-edge      mlx5_comp1@pci:0000:3b:00.0
 26:          0          0  PCI-MSIX-0000:5e:00.0   0-edge      eth01-TxRx-0
NMI:          0          0   Non-maskable interrupts
"""
RINGS = """\
Ring parameters for eth0:
Pre-set maximums:
RX:\t\t4096
RX Mini:\tn/a
TX:\t\t4096
Current hardware settings:
RX:\t\t512
RX Mini:\tn/a
TX:\t\t1024
"""
COALESCING = """\
Coalesce parameters for eth0:
Adaptive RX: on  TX: off
stats-block-usecs:\tn/a
rx-usecs:\t8
rx-frames:\t128
tx-usecs:\tn/a
"""
FEATURES = """\
tx-checksumming: off
scatter-gather: on
tcp-segmentation-offload: off
generic-segmentation-offload: on
generic-receive-offload: on
"""
SAID = {
    ("ethtool", "-g", "eth0"): RINGS,
    ("ethtool", "-c", "eth0"): COALESCING,
    ("ethtool", "-k", "eth0"): FEATURES,
    ("readlink", "-f", "/sys/class/net/eth0/device"): "/sys/devices/pci0000:3a/0000:3b:00.0\n",
    ("ip", "-json", "-details", "link", "show", "dev", "eth0"): '[{"ifname": "eth0"}]',
    ("pgrep", "-x", "irqbalance"): "417\n",
}


class FakeHost:
    """A machine with these files, and what it answers to a command: a text, or an error."""

    name = "me@lab2"
    about = LocalHost().about
    clock = LocalHost().resync()

    def __init__(self, root: Path, said: Mapping[tuple[str, ...], str | Exception]) -> None:
        self.files = HostFiles(root)
        self._said = said

    def __enter__(self) -> "FakeHost":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, words: list[str], **_: object) -> SimpleNamespace:
        # a script is told from others by its shell
        said = self._said.get(("sh",) if words[0] == "sh" else tuple(words))
        if not isinstance(said, str):
            raise said or FileNotFoundError(words[0])
        return SimpleNamespace(returncode=0, stdout=said, stderr="")


def made(root: Path, files: dict[str, str], said: dict[tuple[str, ...], str]) -> Host:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return cast("Host", FakeHost(root, said))


NO_PERF = {
    "status": "missing", "version": None, "user_only": False, "reason": "perf is not installed",
    "remedy": "install it", "events": {key: {"status": "no"} for key in ("cycles", "ref_cycles")},
}  # fmt: skip
MACHINE = {
    "kernel": {"release": "6.1.0"}, "cpu": {"model": "A CPU", "cpus_online": 4}, "perf": NO_PERF,
}  # fmt: skip
CARD = {
    "proc/interrupts": INTERRUPTS,
    "proc/irq/24/smp_affinity_list": "0-1\n",
    "proc/irq/25/smp_affinity_list": "1\n",
    "proc/sys/net/ipv4/tcp_congestion_control": "cubic\n",
    "sys/class/net/eth0/mtu": "9000\n",
    "sys/class/net/eth0/speed": "25000\n",
    "sys/class/net/eth0/device/uevent": "DRIVER=mlx5_core\n",
    "sys/class/net/eth0/queues/rx-0/rps_cpus": "00000000,0000000c\n",
    "sys/class/net/eth0/queues/rx-1/rps_cpus": "00000000,00000000\n",
    "sys/class/net/eth0/queues/tx-0/xps_cpus": "00000001,00000000\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
}


def test_a_card_is_described_with_who_serves_it(tmp_path: Path) -> None:
    found = device_facts(made(tmp_path, CARD, SAID), "eth0")
    assert found["interrupt_cpus"] == {"eth0-TxRx-0": "0-1", "mlx5_comp1@pci:0000:3b:00.0": "1"}
    assert (found["rps_cpus"], found["xps_cpus"]) == (["2-3"], ["32"])
    assert (found["ring_rx"], found["ring_tx"]) == (512, 1024)
    assert found["coalescing"] == ("adaptive on to receive, off to send; rx-usecs 8; rx-frames 128")
    assert (found["rx_queues"], found["speed_mbit_per_s"], found["kind"]) == (2, 25000, None)
    assert (found["scatter_gather"], found["tx_checksum"]) == (True, False)
    assert (found["tso"], found["gso"], found["gro"]) == (False, True, True)
    assert (found["governor"], found["congestion_control"]) == ("powersave", "cubic")
    assert found["irqbalance"] is True
    # what hinders a measurement is said with a remedy
    said = {one.name: one for one in _end(found, MACHINE)}
    assert said["tx checksum"].remedy == "ethtool -K eth0 tx on"
    assert (said["TSO"].value, said["TSO"].remedy) == ("off", "ethtool -K eth0 tso on")
    assert (said["GRO"].state, said["GRO"].remedy) == ("ok", None)
    assert "governor performance" in str(said["frequency governor"].remedy)
    assert said["irqbalance"].remedy == "sudo systemctl stop irqbalance"
    assert said["rings"].value == "512 to receive, 1024 to send"
    assert "zero-copy" not in said


def test_what_a_device_does_not_tell_is_said_as_not_told(tmp_path: Path) -> None:
    kind = '[{"linkinfo": {"info_kind": "bridge"}}]'
    said = {("ip", "-json", "-details", "link", "show", "dev", "br0"): kind}
    facts = device_facts(made(tmp_path, {"sys/class/net/br0/mtu": "1500\n"}, said), "br0")
    found = {one.name: one for one in _end(facts, MACHINE)}
    for name in ("interrupts", "rps", "rings", "coalescing", "frequency governor", "irqbalance"):
        assert found[name].value == "not reported", name
        assert found[name].remedy is None
    assert found["zero-copy"].note.startswith("a bridge is no network card")


@pytest.mark.parametrize(
    ("kind", "speed"), [("bond", 25000), ("vlan", 25000), ("veth", None), ("bridge", None)]
)
def test_speed_of_what_lies_over_cards_is_kept_and_that_of_a_made_up_link_is_not(
    tmp_path: Path, kind: str, speed: int | None
) -> None:
    link = json.dumps([{"linkinfo": {"info_kind": kind}}])
    said = {("ip", "-json", "-details", "link", "show", "dev", "up0"): link}
    files = {"sys/class/net/up0/mtu": "1500\n", "sys/class/net/up0/speed": "25000\n"}
    assert device_facts(made(tmp_path, files, said), "up0")["speed_mbit_per_s"] == speed


@pytest.mark.parametrize(
    ("answer", "reason", "remedy"),
    [
        (
            "2001:db8::1 50000 2001:db8::2 22\n",
            "a wire needs IPv4, and ssh reaches me@lab2 at 2001:db8::2",
            "set wire.address in config.yaml to an IPv4 address of it",
        ),
        (HostError("me@lab2: no space left on device; make room there"), "no space left", ""),
        (ConnectionLost("the connection to me@lab2 ended; run again"), "me@lab2 ended", ""),
        (FileNotFoundError(2, "No such file or directory", "sh"), "No such file", ""),
        (OSError(28, "No space left on device"), "No space left on device", ""),
    ],
)
def test_whatever_goes_wrong_is_of_that_machine_alone(
    monkeypatch: pytest.MonkeyPatch, answer: str | Exception, reason: str, remedy: str
) -> None:
    other = FakeHost(Path("/nowhere"), {("sh",): answer})
    monkeypatch.setattr(described, "SshHost", lambda _: other)
    wire: Any = collect_peer(Peer("me@lab2"))["wire"]
    assert reason in wire["unavailable"]["reason"]
    assert wire["unavailable"]["remedy"]
    assert remedy in wire["unavailable"]["remedy"]


def test_an_end_that_nobody_reaches_is_named_with_what_lets_connections_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    this, other = LocalHost("this host"), LocalHost("me@lab2")
    assert what_keeps_out((this, other), (HERE, THERE), None) == OPEN
    found = what_keeps_out((this, other), (HERE, "192.0.2.7"), None)
    assert found["here"] is None
    assert found["there"] is not None
    reason = "no program on me@lab2 can listen at 192.0.2.7 (Cannot assign"
    assert reason in found["there"]["reason"]
    assert "wire.address" in found["there"]["remedy"]
    monkeypatch.setattr(other, "run", lambda _: SimpleNamespace(returncode=1))
    assert what_keeps_out((this, other), (HERE, THERE), (41000, 41099))["here"] == {
        "reason": f"a TCP connection from {THERE} to {HERE} was tried and failed",
        "remedy": f"allow TCP connections from {THERE} on this host, to ports 41000 to 41099",
    }
