"""What is known of the machines: this one and its counters, guests, and both ends of a wire."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from copycost.config.testbeds import transport_of
from copycost.hosts.facts.kernel import is_virtual
from copycost.observers.perf.events import RARE_EVENTS
from copycost.wording.filters import join_and, ns, sentence, size
from copycost.wording.markdown import Table, code, escape, identifier, listing, tabulate
from copycost.wording.values import NONE, Facts
from copycost.wording.words import plural

_NOT_REPORTED = "not reported"
_FARED = {
    "counted": "counted",
    "partly": "counted in a part of the repetitions",
    "zero": "reads 0 everywhere, which is no measurement",
    "not_counted": "not counted",
}
"""By the status of an event, what became of it."""


def host(host: Facts) -> Table:
    """Return what there is to know about the host.

    A value that was not found says why, as the host facts have it.
    """

    def known(key: str, form: Callable[[Any], str]) -> str:
        part, name = key.split(".")
        if (value := host[part][name]) is not None:
            return form(value)
        return f"not found: {escape(host['unknown'].get(key, 'no reason recorded'))}"

    def sizes(values: list[int]) -> str:
        return ", ".join(map(size, values))

    cpu, kernel, memory = host["cpu"], host["kernel"], host["memory"]
    cpus = [
        plural(cpu[key], noun) + of
        for key, noun, of in (
            ("cores", "core", ""),
            ("threads_per_core", "thread", " per core"),
            ("numa_nodes", "memory node", ""),
        )
        if cpu[key] is not None
    ]
    caches = [
        f"{name} {size(value)}"
        for name, key in {"L1d": "l1d_bytes", "L2": "l2_bytes", "last level": "llc_bytes"}.items()
        if (value := cpu["caches"].get(key))
    ]
    ticks = "rate not found" if kernel["hz"] is None else f"{kernel['hz']} Hz"
    interrupts = {
        None: "not found",
        True: "accounted apart from tasks",
        False: "charged to the task they interrupt",
    }
    turbo = {True: "yes", False: "no"}
    locked = "none" if memory.get("memlock_unlimited") else known("memory.memlock_bytes", size)
    return listing(
        [
            ("Processor", known("cpu.model", escape)),
            ("CPUs", ", ".join([f"{cpu['cpus_online']} online", *cpus])),
            ("Caches", ", ".join(caches) or "not found"),
            ("Virtualisation", escape(cpu["virtualisation"] or "none found")),
            ("Frequency governor", known("cpu.governor", escape)),
            ("Turbo", known("cpu.turbo", lambda value: turbo.get(value, escape(value)))),
            ("Memory", known("memory.total_bytes", _memory)),
            ("Kernel", f"Linux {escape(kernel['release'])}, {escape(kernel['version'])}"),
            (
                "Timer, preemption",
                f"{ticks}, preemption {escape(kernel['preempt'] or 'not found')}",
            ),
            ("CPU time of interrupts", interrupts[kernel["irq_time_accounting"]]),
            ("Locked memory, limit", locked),
            ("`net.core.optmem_max`", known("net.optmem_max", size)),
            ("`net.ipv4.tcp_wmem`: least, default, most", known("net.tcp_wmem", sizes)),
            ("`net.ipv4.tcp_rmem`: least, default, most", known("net.tcp_rmem", sizes)),
            ("perf", _perf(host["perf"])),
        ]
    )


def _memory(total_bytes: int) -> str:
    return f"{total_bytes / 2**30:.1f} GiB"


def _perf(perf: Facts) -> str:
    if perf["status"] != "available":
        return f"{escape(perf['status'])}: {escape(perf['reason'] or 'no reason recorded')}"
    mode = ", user mode only" if perf["user_only"] else ""
    return f"{escape(perf['version'])}, `perf_event_paranoid` {escape(perf['paranoid'])}{mode}"


def guests(made: Facts) -> Table:
    """Return what guests are made of."""
    spec, probe, kernel = made["spec"], made["kvm"], made["kernel"]
    accelerator = "the processor (KVM)" if spec["accelerator"] == "kvm" else "emulated (TCG)"
    if probe and not probe["usable"]:
        accelerator += f"; KVM was tried: {escape(probe['reason'])}"
    return listing(
        [
            ("Kernel", f"Linux {escape(kernel['release'])}, {escape(kernel['source'])}"),
            ("Kernel's arguments", code(" ".join(kernel["arguments"]))),
            ("Hypervisor", escape(made["qemu"])),
            ("Instructions", accelerator),
            ("Model of processor", code(made["cpu"])),
            ("Virtual CPUs", str(spec["vcpus"])),
            ("Memory", _memory(spec["memory_bytes"])),
            ("Network device", code(spec["network_device"])),
            ("vhost", "yes" if spec["vhost"] else "no"),
            (
                "Segmentation and checksums left to the other end",
                "yes" if spec["offloads"] else "no",
            ),
        ]
    )


def measured_on(
    host: Facts, run: Facts, virtual: Facts | None = None, wire: Facts | None = None
) -> str:
    """Return the machines and the date in one line of plain text, from parts of facts.json."""
    cpu = host["cpu"]
    parts = [_processor(host)]
    if cpu["cpus_online"]:
        parts.append(plural(cpu["cpus_online"], "CPU"))
    if cpu["virtualisation"]:
        parts.append("a virtual machine")
    parts.append(f"Linux {host['kernel']['release']}")
    if virtual and virtual["conditions"]:
        made = virtual["made"]
        words = f"guests with Linux {made['kernel']['release']}" if made else "guests"
        parts.append(f"{words} (emulated)" if virtual["emulated"] else words)
    if wire:
        used = {one["peer"] for one in wire["conditions"]}
        parts += [
            f"and over the wire {peer['name'] or 'another machine'} ({processor_and_kernel(peer)})"
            for peer in wire["peers"]
            if peer["name"] in used
        ]
    if run["started_at"]:
        parts.append(run["started_at"][:10])
    return ", ".join(parts)


def processor_and_kernel(host: Facts) -> str:
    """Return a machine in a few words, as plain text."""
    return f"{_processor(host)}, Linux {host['kernel']['release']}"


def _processor(host: Facts) -> str:
    return str(host["cpu"]["model"] or "unknown processor")


def counters(found: Mapping[str, Facts]) -> Table:
    """Return events, perf's names of them and what became of them in this run.

    Events that fared alike share a row, so that what differs stands out.
    """
    alike: dict[str, dict[str, Facts]] = {}
    for event, facts in found.items():
        said = _FARED[facts["status"]]
        if _never_happened(event, facts):
            said = "counted: none in any window"
        elif facts["status"] != "counted" and facts["reason"]:
            said = f"{said}: {escape(facts['reason'])}"
        name = event.removesuffix("_ns").replace("_", " ").replace("l1d", "L1d")
        alike.setdefault(said, {})[name.replace("llc", "LLC")] = facts
    return tabulate(
        alike.items(),
        {
            "Event": lambda it: sentence(", ".join(it[1])),
            "Name in perf": lambda it: ", ".join(
                code(facts["perf_name"]) for facts in it[1].values() if facts["perf_name"]
            ),
            "In this run": lambda it: it[0],
        },
    )


def uncounted_events(counters: Mapping[str, Facts]) -> list[str]:
    """Return perf's names of the events that this run has no counts of."""
    return [
        facts["perf_name"] or event
        for event, facts in counters.items()
        if facts["status"] not in ("counted", "partly") and not _never_happened(event, facts)
    ]


def _never_happened(event: str, facts: Facts) -> bool:
    """Tell a 0 that is a count: a window without page faults, unlike one without cycles."""
    status = (facts["status"], facts.get("host_status"))
    return event in RARE_EVENTS and status == ("zero", "supported")


_CAUSES = {
    "device_rx_errors": "received damaged or refused by the device",
    "device_rx_dropped": "not taken from the device in time",
    "device_rx_fifo_errors": "that arrived while the device had no room",
    "device_tx_errors": "that the device could not send",
    "device_tx_dropped": "dropped before reaching the device",
    "device_tx_fifo_errors": "to be sent while the device had no room",
    "device_tx_carrier_errors": "to be sent while there was no link",
    "softnet_dropped": "dropped by a queue of the kernel",
}


def dropped(drops: Iterable[Facts]) -> str:
    """Return what was dropped: ``12 packets not taken from the device in time``."""
    return join_and(
        f"{plural(drop['packets'], 'packet')} {_CAUSES[drop['cause']]}" for drop in drops
    )


def wire_heading(condition: Facts) -> str:
    """Return the heading of a condition's section."""
    other = code(condition["peer"]) if condition["peer"] else "the other machine"
    ends = ("this machine", other) if condition["sends"] == "here" else (other, "this machine")
    how = "" if transport_of(condition["testbed"]) == "stream" else ", UDP"
    how += ", dropped on arrival" if condition["sender_only"] else ""
    return f"From {ends[0]} to {ends[1]}{how}"


def ends_identifier(wire: Facts, peer: Facts) -> str:
    """Return the id of the table of a peer's ends; the first one's has no name."""
    first = peer["name"] == wire["peers"][0]["name"]
    return "tbl-wire-ends" if first else identifier("tbl-wire-ends", peer["name"])


def ends_references(wire: Facts) -> list[str]:
    """Return the references to the tables of both ends, one per peer."""
    return [f"@{ends_identifier(wire, peer)}" for peer in wire["peers"]]


def ends(host: Facts, peer: Facts) -> Table:
    """Return what is known of both ends of the network, this machine's first."""
    here = _machine(host) | _device(peer["here"])
    there = _machine(peer) | _device(peer["there"])
    apart = f"known to within {ns(peer['clock']['uncertainty_ns'])}"
    name = code(peer["name"]) if peer["name"] else "The other machine"
    return ["Property", "This machine", name], [
        *([title, here[title], there[title]] for title in here),
        ["Clock, compared with this machine's", NONE, apart],
    ]


def _known(value: object) -> str:
    return _NOT_REPORTED if value is None else escape(value)


def _machine(machine: Facts) -> dict[str, str]:
    cpu = machine["cpu"]
    return {
        "Processor": _known(cpu["model"]),
        "CPUs": _known(cpu["cpus_online"]),
        "Virtualisation": escape(cpu["virtualisation"] or "none found"),
        "Frequency governor": _known(cpu["governor"]),
        "Kernel": f"Linux {escape(machine['kernel']['release'])}",
    }


def _device(device: Facts) -> dict[str, str]:
    """Return what is known of a network device; of interrupts, the CPUs of all together."""
    driver, speed = device["driver"], device["speed_mbit_per_s"]
    if driver is None:
        kind = f"virtual ({device['kind'] or 'kind not reported'})"
    else:
        kind = f"{'virtual, ' if is_virtual(driver) else ''}driver {code(driver)}"
    queues = f"{_known(device['rx_queues'])} to receive, {_known(device['tx_queues'])} to send"
    if device["rx_queues"] is None and device["tx_queues"] is None:
        queues = _NOT_REPORTED
    served = join_and(dict.fromkeys(map(escape, device["interrupt_cpus"].values())))
    runs = {True: "runs", False: "does not run", None: _NOT_REPORTED}
    states = {True: "on", False: "off", None: _NOT_REPORTED}
    return {
        "Network device": f"{code(device['device'])}, {kind}",
        "Link speed": _NOT_REPORTED if speed is None else f"{speed / 1e3:g} Gbit/s",
        "MTU": f"{_known(device['mtu_bytes'])} bytes",
        "Queues": queues,
        "CPUs that may serve their interrupts": served or _NOT_REPORTED,
        "irqbalance": runs[device["irqbalance"]],
        "Scatter-gather, which zero-copy needs": states[device["scatter_gather"]],
        "Checksum offload, likewise": states[device["tx_checksum"]],
    }
