"""What the doctor says of another machine, and of the network between it and this one."""

from collections.abc import Iterator, Mapping
from typing import Any

from copycost.cli.doctor.findings import (
    ON,
    Finding,
    judge_governor,
    judge_machine,
    judge_perf,
    say,
    titled,
)
from copycost.hosts.facts.kernel import is_virtual
from copycost.hosts.host import Host
from copycost.measure.window import shortest_window_s

# what to call them, what happens without them, and ethtool's short names
_OFFLOADS = {
    "scatter_gather": (
        "scatter gather", "the kernel copies the data of zero-copy sends", "sg"
    ),
    "tx_checksum": (
        "tx checksum", "the kernel reads every byte for the checksum, and copies it", "tx"
    ),
    "tso": ("TSO", "the kernel cuts sends into segments", "tso"),
    "gso": ("GSO", "each segment passes through the kernel by itself", "gso"),
    "gro": ("GRO", "each received packet passes through the kernel by itself", "gro"),
}  # fmt: skip
_NOT_TOLD = "not reported"
# measure.duration_s of config.yaml as it comes
_USUAL_WINDOW_S = 0.2
# a receiver connects to its sender, iperf3's client to its server, which receives
_NEEDED_FOR = {
    "here": "needed by wire, and by iperf3 on wire_in",
    "there": "needed by wire_in, and by iperf3 on wire",
}


def judge_wire(
    peer: Mapping[str, Any], this: Mapping[str, Any], other: Host | None
) -> list[Finding]:
    """Return all findings about a peer, given what `collect_peer` says of it.

    Of `this` machine `collect_host` does; the `other` one tells how busy it is and what is
    installed, and is None if it is not reached.
    """
    wire = peer["wire"]
    if missing := wire["unavailable"]:
        refused = say("reached", "missing", "no", missing["reason"], missing["remedy"])
        return titled("Wire", [refused])
    assert other is not None, "it was reached"
    there = "The other end"
    machine = judge_machine(peer, other.files, other)
    return [
        *titled("Wire", _between(wire)),
        *titled("This end", _end(wire["here"], this)),
        *titled(there, _end(wire["there"], peer)),
        *(titled(f"{there}: {one.section.lower()}", [one])[0] for one in machine),
    ]


def _between(wire: Mapping[str, Any]) -> Iterator[Finding]:
    yield say("reached", "ok", "yes", f"{wire['peer']}, by ssh")
    if wire["one_kernel"]:
        note = "both ends are containers or namespaces of one machine, with no network between"
        yield say("kernels", "limited", "one", note, "name another machine")

    clock = wire["clock"]
    ahead_s = clock["offset_ns"] / 1e9
    note = "each side has its own; the other end's is"
    note += f" {abs(ahead_s):.6f} s {'behind' if ahead_s < 0 else 'ahead'}"
    needed_s = shortest_window_s(clock["uncertainty_ns"])
    short = needed_s <= _USUAL_WINDOW_S
    note += "" if short else "; half of the way there and back is not known"
    known = f"known to within {clock['uncertainty_ns'] / 1e3:.0f} us"
    yield say("clock", short, known, note, f"make measure.duration_s {needed_s:g} or longer")

    for end, from_end in (("here", "there"), ("there", "here")):
        name = f"connection {end}"
        if refusal := wire["unreached"][end]:
            note = f"{refusal['reason']}; {_NEEDED_FOR[end]}"
            yield say(name, "missing", "no", note, refusal["remedy"])
        else:
            note = f"tried: from {wire[from_end]['address']} to {wire[end]['address']}"
            yield say(name, "ok", "yes", f"{note}; {_NEEDED_FOR[end]}")

    limit = wire["udp_mbit_per_s"]
    if missing := wire["udp_unavailable"]:
        yield say("UDP limit", "missing", "unknown", missing["reason"], missing["remedy"])
    elif limit is None:
        yield say("UDP limit", None, "none", "UDP senders send as fast as they can")
    else:
        note = "UDP senders keep to it (wire.udp_mbit_per_s)"
        yield say("UDP limit", "ok", f"{limit / 1e3:g} Gbit/s", note)


def _end(facts: Mapping[str, Any], host: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what is told of one end: its machine, its device, and who serves the packets."""
    yield say("kernel", None, host["kernel"]["release"] or "unknown")
    n_cpus = f"{host['cpu']['cpus_online'] or 'an unknown number of'} CPUs"
    yield say("CPU", None, host["cpu"]["model"] or "unknown", n_cpus)
    yield from judge_perf(host["perf"])
    device, speed = facts["device"], facts["speed_mbit_per_s"]
    yield say("device", None, device, facts["driver"] or "virtual")
    shown = "unknown" if speed is None else f"{speed / 1e3:g} Gbit/s"
    yield say("link", None, shown, f"MTU {facts['mtu_bytes']} bytes")
    if is_virtual(facts["driver"]):
        kind = facts["kind"] or "virtual device"
        note = f"a {kind} is no network card: sends may be copied after all on their way"
        yield say("zero-copy", "limited", device, note)
    for key, (name, otherwise, switch) in _OFFLOADS.items():
        remedy = f"ethtool -K {device} {switch} on"
        yield say(name, facts[key], ON[facts[key]], f"without it {otherwise}", remedy)

    yield say("queues", None, _both_ways(facts["rx_queues"], facts["tx_queues"]))
    served = ", ".join(f"{name}: {cpus}" for name, cpus in facts["interrupt_cpus"].items())
    note = "the CPUs that may serve each interrupt" if served else ""
    yield say("interrupts", None, served or _NOT_TOLD, note)
    nothing = _NOT_TOLD if facts["rx_queues"] is None else "no CPUs of their own"
    yield say("rps", None, "; ".join(facts["rps_cpus"]) or nothing, "of queues to receive")
    yield say("xps", None, "; ".join(facts["xps_cpus"]) or nothing, "of queues to send")
    yield say("rings", None, _both_ways(facts["ring_rx"], facts["ring_tx"]), "packets")
    yield say("coalescing", None, facts["coalescing"] or _NOT_TOLD)

    yield judge_governor(facts["governor"], _NOT_TOLD)
    congestion = facts["congestion_control"] or _NOT_TOLD
    yield say("congestion control", None, congestion, "unless config.yaml sets one")
    if facts["irqbalance"]:
        note = "interrupts may move to other CPUs during a measurement"
        yield say("irqbalance", "limited", "running", note, "sudo systemctl stop irqbalance")
    else:
        value = _NOT_TOLD if facts["irqbalance"] is None else "not running"
        yield say("irqbalance", None, value)


def _both_ways(receive: int | None, send: int | None) -> str:
    if receive is None and send is None:
        return _NOT_TOLD
    return f"{receive or 'unknown'} to receive, {send or 'unknown'} to send"
