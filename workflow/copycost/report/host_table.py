"""The tables about the host and its counters, from the host's part of facts.json."""

from collections.abc import Mapping
from typing import Any

from copycost.perf.events import RARE_EVENTS
from copycost.report.markdown import Table, code, escape
from copycost.wording.filters import sentence, size
from copycost.wording.words import plural

PROPERTIES = ("Property", "Value")
_UNKNOWN = "unknown processor"
_TRUE = {True: "yes", False: "no"}


def host(host: Mapping[str, Any]) -> Table:
    """Return what there is to know about the host.

    A value that was not found says why, as the host facts have it.
    """
    cpu, kernel, memory, perf = (host[part] for part in ("cpu", "kernel", "memory", "perf"))
    rows = [
        ("Processor", _known(host, "cpu.model", escape)),
        ("CPUs", _cpus(cpu)),
        ("Caches", _caches(cpu["caches"])),
        ("Virtualisation", escape(cpu["virtualisation"] or "none found")),
        ("Frequency governor", _known(host, "cpu.governor", escape)),
        ("Turbo", _known(host, "cpu.turbo", lambda turbo: _TRUE.get(turbo, escape(turbo)))),
        ("Memory", _known(host, "memory.total_bytes", _memory)),
        ("Kernel", f"Linux {escape(kernel['release'])}, {escape(kernel['version'])}"),
        ("Timer, preemption", _timer(kernel)),
        ("CPU time of interrupts", _interrupts(kernel["irq_time_accounting"])),
        ("Locked memory, limit", _memlock(memory)),
        ("`net.core.optmem_max`", _known(host, "net.optmem_max", size)),
        ("`net.ipv4.tcp_wmem`: least, default, most", _known(host, "net.tcp_wmem", _triple)),
        ("`net.ipv4.tcp_rmem`: least, default, most", _known(host, "net.tcp_rmem", _triple)),
        ("Congestion control, default", _known(host, "net.congestion_default", code)),
        ("perf", _perf(perf)),
    ]
    return PROPERTIES, [[name, value] for name, value in rows]


def guests(made: Mapping[str, Any]) -> Table:
    """Return what guests are made of."""
    spec, probe = made["spec"], made["kvm"]
    accelerator = "the processor (KVM)" if spec["accelerator"] == "kvm" else "emulated (TCG)"
    if probe and not probe["usable"]:
        accelerator += f"; KVM was tried: {escape(probe['reason'])}"
    kernel = made["kernel"]
    return PROPERTIES, [
        ["Kernel", f"Linux {escape(kernel['release'])}, {escape(kernel['source'])}"],
        ["Kernel's arguments", code(" ".join(kernel["arguments"]))],
        ["Hypervisor", escape(made["qemu"])],
        ["Instructions", accelerator],
        ["Model of processor", code(made["cpu"])],
        ["Virtual CPUs", str(spec["vcpus"])],
        ["Memory", _memory(spec["memory_bytes"])],
        ["Network device", code(spec["network_device"])],
        ["vhost", _TRUE[spec["vhost"]]],
        ["Segmentation and checksums left to the other end", _TRUE[spec["offloads"]]],
    ]


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
    words = {
        "counted": "counted",
        "partly": "counted in a part of the repetitions",
        "zero": "reads 0 everywhere, which is no measurement",
        "not_counted": "not counted",
    }
    alike: dict[str, tuple[list[str], list[str]]] = {}
    for event, facts in found.items():
        said = words[facts["status"]]
        if _never_happened(event, facts):
            said = "counted: none in any window"
        elif facts["status"] != "counted" and facts["reason"]:
            said = f"{said}: {escape(facts['reason'])}"
        name = event.removesuffix("_ns").replace("_", " ").replace("l1d", "L1d")
        names, perf_names = alike.setdefault(said, ([], []))
        names.append(name.replace("llc", "LLC"))
        if facts["perf_name"]:
            perf_names.append(code(facts["perf_name"]))
    return ["Event", "Name in perf", "In this run"], [
        [sentence(", ".join(names)), ", ".join(perf_names), said]
        for said, (names, perf_names) in alike.items()
    ]


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


def _known(host: Mapping[str, Any], key: str, form: Any) -> str:  # noqa: ANN401
    value: Any = host
    for part in key.split("."):
        value = value[part]
    if value is None:
        return f"not found: {escape(host['unknown'].get(key, 'no reason recorded'))}"
    return str(form(value))


def _cpus(cpu: Mapping[str, Any]) -> str:
    parts = [f"{cpu['cpus_online']} online"]
    if cpu["cores"] is not None:
        parts.append(plural(cpu["cores"], "core"))
    if cpu["threads_per_core"] is not None:
        parts.append(f"{plural(cpu['threads_per_core'], 'thread')} per core")
    if cpu["numa_nodes"] is not None:
        parts.append(plural(cpu["numa_nodes"], "memory node"))
    return ", ".join(parts)


def _caches(caches: Mapping[str, int | None]) -> str:
    names = (("L1d", "l1d_bytes"), ("L2", "l2_bytes"), ("last level", "llc_bytes"))
    found = [f"{name} {size(value)}" for name, key in names if (value := caches.get(key))]
    return ", ".join(found) if found else "not found"


def _memory(total_bytes: int) -> str:
    return f"{total_bytes / 2**30:.1f} GiB"


def _memlock(memory: Mapping[str, Any]) -> str:
    if memory.get("memlock_unlimited"):
        return "none"
    return size(memory["memlock_bytes"]) if memory["memlock_bytes"] is not None else "not found"


def _timer(kernel: Mapping[str, Any]) -> str:
    ticks = f"{kernel['hz']} Hz" if kernel["hz"] is not None else "rate not found"
    return f"{ticks}, preemption {escape(kernel['preempt'] or 'not found')}"


def _interrupts(accounted: bool | None) -> str:
    if accounted is None:
        return "not found"
    return "accounted apart from tasks" if accounted else "charged to the task they interrupt"


def _triple(values: list[int]) -> str:
    return ", ".join(size(value) for value in values)


def _perf(perf: Mapping[str, Any]) -> str:
    if perf["status"] != "available":
        return f"{escape(perf['status'])}: {escape(perf['reason'] or 'no reason recorded')}"
    mode = ", user mode only" if perf["user_only"] else ""
    return f"{escape(perf['version'])}, `perf_event_paranoid` {escape(perf['paranoid'])}{mode}"
