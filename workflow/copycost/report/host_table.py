"""The tables about the host and its counters, from the host's part of facts.json."""

from collections.abc import Callable, Mapping
from typing import Any

from copycost.perf.events import RARE_EVENTS
from copycost.wording.filters import sentence, size
from copycost.wording.markdown import Table, code, escape, listing, tabulate
from copycost.wording.words import plural

_UNKNOWN = "unknown processor"
_TRUE = {True: "yes", False: "no"}
_FARED = {
    "counted": "counted",
    "partly": "counted in a part of the repetitions",
    "zero": "reads 0 everywhere, which is no measurement",
    "not_counted": "not counted",
}
"""By the status of an event, what became of it."""


def host(host: Mapping[str, Any]) -> Table:
    """Return what there is to know about the host.

    A value that was not found says why, as the host facts have it.
    """

    def known(key: str, form: Callable[[Any], str]) -> str:
        part, name = key.split(".")
        if (value := host[part][name]) is not None:
            return form(value)
        return f"not found: {escape(host['unknown'].get(key, 'no reason recorded'))}"

    cpu, kernel, memory = host["cpu"], host["kernel"], host["memory"]
    return listing(
        [
            ("Processor", known("cpu.model", escape)),
            ("CPUs", _cpus(cpu)),
            ("Caches", _caches(cpu["caches"])),
            ("Virtualisation", escape(cpu["virtualisation"] or "none found")),
            ("Frequency governor", known("cpu.governor", escape)),
            ("Turbo", known("cpu.turbo", lambda turbo: _TRUE.get(turbo, escape(turbo)))),
            ("Memory", known("memory.total_bytes", _memory)),
            ("Kernel", f"Linux {escape(kernel['release'])}, {escape(kernel['version'])}"),
            ("Timer, preemption", _timer(kernel)),
            ("CPU time of interrupts", _INTERRUPTS[kernel["irq_time_accounting"]]),
            (
                "Locked memory, limit",
                "none" if memory.get("memlock_unlimited") else known("memory.memlock_bytes", size),
            ),
            ("`net.core.optmem_max`", known("net.optmem_max", size)),
            ("`net.ipv4.tcp_wmem`: least, default, most", known("net.tcp_wmem", _sizes)),
            ("`net.ipv4.tcp_rmem`: least, default, most", known("net.tcp_rmem", _sizes)),
            ("perf", _perf(host["perf"])),
        ]
    )


def _cpus(cpu: Mapping[str, Any]) -> str:
    parts = {
        "cores": (cpu["cores"], "core", ""),
        "threads": (cpu["threads_per_core"], "thread", " per core"),
        "nodes": (cpu["numa_nodes"], "memory node", ""),
    }
    said = [plural(n, noun) + of for n, noun, of in parts.values() if n is not None]
    return ", ".join([f"{cpu['cpus_online']} online", *said])


def _caches(caches: Mapping[str, int | None]) -> str:
    names = {"L1d": "l1d_bytes", "L2": "l2_bytes", "last level": "llc_bytes"}
    found = [f"{name} {size(value)}" for name, key in names.items() if (value := caches.get(key))]
    return ", ".join(found) or "not found"


def _memory(total_bytes: int) -> str:
    return f"{total_bytes / 2**30:.1f} GiB"


def _timer(kernel: Mapping[str, Any]) -> str:
    ticks = f"{kernel['hz']} Hz" if kernel["hz"] is not None else "rate not found"
    return f"{ticks}, preemption {escape(kernel['preempt'] or 'not found')}"


_INTERRUPTS = {
    None: "not found",
    True: "accounted apart from tasks",
    False: "charged to the task they interrupt",
}


def _sizes(values: list[int]) -> str:
    return ", ".join(map(size, values))


def _perf(perf: Mapping[str, Any]) -> str:
    if perf["status"] != "available":
        return f"{escape(perf['status'])}: {escape(perf['reason'] or 'no reason recorded')}"
    mode = ", user mode only" if perf["user_only"] else ""
    return f"{escape(perf['version'])}, `perf_event_paranoid` {escape(perf['paranoid'])}{mode}"


def guests(made: Mapping[str, Any]) -> Table:
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
            ("vhost", _TRUE[spec["vhost"]]),
            ("Segmentation and checksums left to the other end", _TRUE[spec["offloads"]]),
        ]
    )


def measured_on(
    host: Mapping[str, Any],
    run: Mapping[str, Any],
    virtual: Mapping[str, Any] | None = None,
    wire: Mapping[str, Any] | None = None,
) -> str:
    """Return the machine and the date in one line of plain text, from parts of facts.json."""
    cpu = host["cpu"]
    parts = [
        cpu["model"] or _UNKNOWN,
        *([plural(cpu["cpus_online"], "CPU")] if cpu["cpus_online"] else []),
        *(["a virtual machine"] if cpu["virtualisation"] else []),
        f"Linux {host['kernel']['release']}",
        *_guests(virtual),
        *_others(wire),
        *([run["started_at"][:10]] if run["started_at"] else []),
    ]
    return ", ".join(parts)


def processor_and_kernel(host: Mapping[str, Any]) -> str:
    """Return a machine in a few words, as plain text."""
    return f"{host['cpu']['model'] or _UNKNOWN}, Linux {host['kernel']['release']}"


def _guests(virtual: Mapping[str, Any] | None) -> list[str]:
    """Return what the guests run, and that they are emulated where they are."""
    if not virtual or not virtual["conditions"]:
        return []
    made = virtual["made"]
    words = f"guests with Linux {made['kernel']['release']}" if made else "guests"
    return [f"{words} (emulated)" if virtual["emulated"] else words]


def _others(wire: Mapping[str, Any] | None) -> list[str]:
    """Return the other machines that something was measured with."""
    used = {one["peer"] for one in wire["conditions"]} if wire else set()
    return [
        f"and over the wire {peer['name'] or 'another machine'} ({processor_and_kernel(peer)})"
        for peer in (wire["peers"] if wire else ())
        if peer["name"] in used
    ]


def counters(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return events, perf's names of them and what became of them in this run.

    Events that fared alike share a row, so that what differs stands out.
    """
    alike: dict[str, dict[str, Mapping[str, Any]]] = {}
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


def uncounted_events(counters: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return perf's names of the events that this run has no counts of."""
    return [
        facts["perf_name"] or event
        for event, facts in counters.items()
        if facts["status"] not in ("counted", "partly") and not _never_happened(event, facts)
    ]


def _never_happened(event: str, facts: Mapping[str, Any]) -> bool:
    """Tell a 0 that is a count: a window without page faults, unlike one without cycles."""
    return (
        event in RARE_EVENTS
        and facts["status"] == "zero"
        and facts.get("host_status") == "supported"
    )
