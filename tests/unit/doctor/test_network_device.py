"""What is told of a network device, from what a machine with a card says."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from unit.doctor.test_findings_wire import wire

from copycost.doctor.findings_wire import _between, _end
from copycost.doctor.network_device import device_facts
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.host import Host

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
    name = "it"

    def __init__(self, root: Path, said: dict[tuple[str, ...], str]) -> None:
        self.files = HostFiles(root)
        self._said = said

    def run(self, words: list[str]) -> SimpleNamespace:
        if tuple(words) not in self._said:
            raise FileNotFoundError(words[0])
        return SimpleNamespace(returncode=0, stdout=self._said[tuple(words)])


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


def test_what_hinders_a_measurement_is_said_with_a_remedy(tmp_path: Path) -> None:
    facts = device_facts(made(tmp_path, CARD, SAID), "eth0")
    found = {one.name: one for one in _end(facts, MACHINE)}
    assert found["tx checksum"].remedy == "ethtool -K eth0 tx on"
    assert (found["TSO"].value, found["TSO"].remedy) == ("off", "ethtool -K eth0 tso on")
    assert (found["GRO"].state, found["GRO"].remedy) == ("ok", None)
    assert "governor performance" in str(found["frequency governor"].remedy)
    assert found["irqbalance"].remedy == "sudo systemctl stop irqbalance"
    assert found["interrupts"].value == "eth0-TxRx-0: 0-1, mlx5_comp1@pci:0000:3b:00.0: 1"
    assert found["rings"].value == "512 to receive, 1024 to send"
    assert "zero-copy" not in found


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


def test_way_that_is_long_is_told_with_the_window_that_it_takes() -> None:
    def clock(uncertainty_ns: int) -> tuple[str, str | None]:
        found = _between(wire(clock={"offset_ns": 0, "uncertainty_ns": uncertainty_ns}))
        (one,) = (one for one in found if one.name == "clock")
        return one.state, one.remedy

    assert clock(60_000) == ("ok", None)
    assert clock(10_500_000) == ("limited", "make measure.duration_s 1.1 or longer")
