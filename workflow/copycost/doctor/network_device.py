"""What decides the figures of a network device, and of its machine on the way to it."""

import json
import re
from contextlib import suppress
from typing import Any

from copycost.errors import HostError, ParseError
from copycost.hosts.facts.cpu import read_governor
from copycost.hosts.facts.kernel import is_virtual
from copycost.hosts.host import Host
from copycost.hosts.parsing import parser_of
from copycost.testbeds.links import OFFLOADS, features_at, mtu_at
from copycost.wording.numbers import format_cpu_list

# ethtool's names of what zero-copy sends need of a device, and of what saves packets
_FEATURES = {"scatter_gather": "scatter-gather", "tx_checksum": "tx-checksumming", **OFFLOADS}
# without a driver of their own: they tell the speed of the cards below them
_OVER_CARDS = ("bond", "team", "vlan")
_INTERRUPT = re.compile(r"^\s*(\d+):.*\s(\S+)$", re.MULTILINE)


def device_facts(host: Host, device: str) -> dict[str, Any]:
    """Return what decides a figure of a network device, None where nobody tells.

    The speed is the link's, as far as it is one: of a card, or of what bundles or divides cards. A
    virtual device has none, whatever it says; ``kind`` is what the kernel calls it: bridge, vlan,
    veth, tun. ``rps_cpus`` and ``xps_cpus`` serve queues besides the CPUs of their interrupts: a
    list such as 0-3 for each queue that names some. Rings are as many packets as wait at most.
    """
    folder = f"sys/class/net/{device}"
    files = host.files
    speed = files.number(f"{folder}/speed")
    uevent = files.text(f"{folder}/device/uevent") or ""
    driver = dict(line.partition("=")[::2] for line in uevent.splitlines()).get("DRIVER")
    kind = _kind(host, device)
    is_link = not is_virtual(driver) or kind in _OVER_CARDS
    return {
        "device": device,
        "driver": driver,
        "kind": kind,
        "speed_mbit_per_s": speed if is_link and speed and speed > 0 else None,
        "mtu_bytes": mtu_at(host, device),
        "rx_queues": len(files.glob(f"{folder}/queues/rx-*")) or None,
        "tx_queues": len(files.glob(f"{folder}/queues/tx-*")) or None,
        "rps_cpus": _queue_cpus(host, f"{folder}/queues/rx-*/rps_cpus"),
        "xps_cpus": _queue_cpus(host, f"{folder}/queues/tx-*/xps_cpus"),
        "interrupt_cpus": _interrupt_cpus(host, device),
        **_rings(_said(host, "ethtool", "-g", device)),
        "coalescing": _coalescing(_said(host, "ethtool", "-c", device)),
        **features_at(host, device, _FEATURES),
        "governor": read_governor(files),
        "congestion_control": files.text("proc/sys/net/ipv4/tcp_congestion_control"),
        "irqbalance": _irqbalance(host),
    }


def _said(host: Host, *words: str) -> str:
    """Return what a command prints; nothing where it fails or is missing."""
    try:
        done = host.run(words)
    except (OSError, HostError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _kind(host: Host, device: str) -> str | None:
    """Return what the kernel calls a virtual device, None for others.

    Source: ip-link(8), ``ip -details link show``.
    """
    with suppress(ParseError):
        return kind_in(_said(host, "ip", "-json", "-details", "link", "show", "dev", device))
    return None


@parser_of("ip -details link show")
def kind_in(said: str) -> str | None:
    """Return the kind in what ip says of one device."""
    (link,) = json.loads(said)
    kind = link.get("linkinfo", {}).get("info_kind")
    return None if kind is None else str(kind)


def _queue_cpus(host: Host, pattern: str) -> list[str]:
    """Return the CPUs that queues name, as lists; of those that name some."""
    found = []
    for path in host.files.glob(pattern):
        mask = host.files.text(str(path)) or ""
        if re.fullmatch(r"[0-9a-f,]*[0-9a-f]", mask) and (number := int(mask.replace(",", ""), 16)):
            bits = range(number.bit_length())
            found.append(format_cpu_list([bit for bit in bits if number >> bit & 1]))
    return found


def _interrupt_cpus(host: Host, device: str) -> dict[str, str]:
    """Return the CPUs that a device's interrupts may go to, by the interrupt's name.

    Drivers call an interrupt by the device (``eth0-TxRx-0``), or by where it sits
    (``virtio0-input.0``, ``mlx5_comp0@pci:0000:3b:00.0``).
    """
    place = _said(host, "readlink", "-f", f"/sys/class/net/{device}/device").strip()
    own = [word for word in (device, place.rpartition("/")[2]) if word]
    table = "\n".join(host.files.lines("proc/interrupts", 4096))
    found = {}
    for number, name in _INTERRUPT.findall(table):
        if any(re.search(rf"\b{re.escape(word)}\b", name) for word in own):
            found[name] = host.files.text(f"proc/irq/{number}/smp_affinity_list") or "unknown"
    return found


def _rings(said: str) -> dict[str, int | None]:
    """Return the sizes of a device's rings as they are, from ``ethtool -g``."""
    now = said.partition("Current hardware settings:")[2]
    found = dict(re.findall(r"^(RX|TX):\s+(\d{1,9})$", now, flags=re.MULTILINE))
    return {
        f"ring_{way.lower()}": int(found[way]) if way in found else None for way in ("RX", "TX")
    }


def _coalescing(said: str) -> str | None:
    """Return when a device interrupts, from ``ethtool -c``: what of it is not n/a."""
    adaptive = re.search(r"^Adaptive RX: (on|off)\s+TX: (on|off)", said, flags=re.MULTILINE)
    told = [f"adaptive {adaptive[1]} to receive, {adaptive[2]} to send"] if adaptive else []
    for name in ("rx-usecs", "rx-frames", "tx-usecs", "tx-frames"):
        found = re.search(rf"^{name}:\s+(\d+)", said, flags=re.MULTILINE)
        told += [f"{name} {found[1]}"] if found else []
    return "; ".join(told) or None


def _irqbalance(host: Host) -> bool | None:
    """Return whether irqbalance runs; None where nobody tells."""
    try:
        code = host.run(["pgrep", "-x", "irqbalance"]).returncode
    except OSError:
        return None
    return {0: True, 1: False}.get(code)
