"""What processors, kernel, network settings and tools mean for measuring on a host."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from copycost.doctor.finding import Finding
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.packages import install_command
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.host import Host

_PROCESSORS = "Processors"
_DRIVES = "drives the studies cpu_budget and datagrams"
# what a tool is for on this machine, and on another one
_USES = {
    "ip": ("makes the veth testbeds", "tells the way to this machine"),
    "ethtool": ("reads and switches offloads", "reads offloads, rings and coalescing"),
    "nft": ("drops at the far end of the testbed sink", "drops what wire_sink sends there"),
    "iperf3": (_DRIVES, _DRIVES),
}
_BUSY_LOAD_PER_CPU = 0.25
# Source: kernel document admin-guide/sysctl/kernel.rst, io_uring_disabled; since Linux 6.6.
_IO_URING_WORDS = {0: "allowed", 1: "for a group only", 2: "disabled"}


def judge_machine(
    host: Mapping[str, Any], files: HostFiles, other: Host | None = None
) -> Iterator[Finding]:
    """Yield the findings about the machine itself and what is installed on it.

    Parameters
    ----------
    host
        What `collect_host` says of it.
    files
        Its own, which tell how busy it is and which distribution's words remedies have to use.
    other
        The machine itself, where it is another one, on which nothing is built; by default this one.
    """
    yield from _processors(host)
    yield from _load(host, files)
    yield from _kernel(host)
    yield from _network(host)
    yield from _tools(host, files, other)
    if other is None:
        yield from _what_builds(files)


def _processors(host: Mapping[str, Any]) -> Iterator[Finding]:
    cpu, unknown = host["cpu"], host["unknown"]
    yield Finding(_PROCESSORS, "model", "fact", cpu["model"] or "unknown")
    yield _cpus(cpu, host["identity"]["cpus_allowed"])
    if cpu["core_types"]:
        yield Finding(
            _PROCESSORS,
            "kinds of core",
            "limited",
            ", ".join(f"{kind} {cpus}" for kind, cpus in cpu["core_types"].items()),
            "results depend on which kind runs what",
            "name CPUs of one kind under measure.cpus in config.yaml",
        )
    yield _governor(cpu["governor"], unknown.get("cpu.governor", ""))
    yield _turbo(cpu, unknown.get("cpu.turbo", ""))
    yield _virtualisation(cpu["virtualisation"])


def _cpus(cpu: Mapping[str, Any], allowed: str) -> Finding:
    value = f"{cpu['cpus_online']} (this process may use {allowed})"
    if cpu["cpus_online"] == 1 or allowed.isdigit():
        note = "sender and receiver share one CPU, so each waits for the other"
        remedy = (
            "allow more CPUs to this process (taskset, cpuset, or the virtual machine's settings)"
        )
        return Finding(_PROCESSORS, "CPUs", "limited", value, note, remedy)
    per_core = cpu["threads_per_core"]
    shared = per_core is not None and per_core > 1
    note = f"{per_core} hardware threads per core share its caches" if shared else ""
    return Finding(_PROCESSORS, "CPUs", "ok", value, note)


def _governor(governor: str | None, why_unknown: str) -> Finding:
    name = "frequency governor"
    if governor is None:
        return Finding(_PROCESSORS, name, "fact", "unknown", why_unknown)
    if governor == "performance":
        return Finding(_PROCESSORS, name, "ok", governor)
    note = "the clock follows the load, so short measurements vary more"
    remedy = "sudo cpupower frequency-set --governor performance"
    return Finding(_PROCESSORS, name, "limited", governor, note, remedy)


def _turbo(cpu: Mapping[str, Any], why_unknown: str) -> Finding:
    if cpu["turbo"] is None:
        return Finding(_PROCESSORS, "turbo", "fact", "unknown", why_unknown)
    if not cpu["turbo"]:
        return Finding(_PROCESSORS, "turbo", "fact", "off")
    note = "the clock depends on temperature and on what else runs"
    remedy = "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    if cpu["vendor"] == "GenuineIntel":
        remedy = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    return Finding(_PROCESSORS, "turbo", "limited", "on", note, remedy)


def _virtualisation(kind: str | None) -> Finding:
    if kind in (None, "none"):
        return Finding(_PROCESSORS, "virtualisation", "fact", kind or "unknown")
    note = "other guests may take time, and counters may be missing"
    return Finding(_PROCESSORS, "virtualisation", "limited", str(kind), note)


def _load(host: Mapping[str, Any], files: HostFiles) -> Iterator[Finding]:
    """Say how busy the host is now; being no lasting fact, this is in no file of facts."""
    load = (files.text("proc/loadavg") or "").partition(" ")[0]
    if re.fullmatch(r"\d{1,6}\.\d{2}", load):
        busy = float(load) > _BUSY_LOAD_PER_CPU * (host["cpu"]["cpus_online"] or 1)
        yield Finding(
            _PROCESSORS,
            "load of the last minute",
            "limited" if busy else "ok",
            load,
            "other programs take the CPUs and caches that a measurement needs" if busy else "",
            "measure when the host is idle" if busy else None,
        )


def _kernel(host: Mapping[str, Any]) -> Iterator[Finding]:
    section = "Kernel"
    kernel = host["kernel"]
    yield Finding(section, "release", "fact", kernel["release"] or "unknown")
    irq_time = kernel["irq_time_accounting"]
    yield Finding(
        section,
        "IRQ time accounting",
        "limited" if irq_time else "fact",
        {True: "on", False: "off", None: "unknown"}[irq_time],
        {
            True: "a task's CPU time leaves out the receive path that runs in its softirqs",
            False: "a task's CPU time contains the softirqs that run in its context",
            None: host["unknown"].get("kernel.irq_time_accounting", ""),
        }[irq_time],
    )
    if kernel["hz"] is not None:
        yield Finding(section, "timer ticks", "fact", f"{kernel['hz']} per second")
    disabled = host["identity"]["io_uring_disabled"]
    if disabled is not None:
        yield Finding(
            section,
            "io_uring",
            "ok" if disabled == 0 else "missing",
            _IO_URING_WORDS.get(disabled, str(disabled)),
            "" if disabled == 0 else "senders and receivers by io_uring are skipped",
            None if disabled == 0 else "sudo sysctl kernel.io_uring_disabled=0",
        )
    flaws = host["identity"]["mitigations"]
    if flaws:
        acting = sum(text.startswith("Mitigation") for text in flaws.values())
        yield Finding(
            section,
            "mitigations",
            "fact",
            f"{acting} active",
            f"against flaws of this processor ({', '.join(flaws)}); each system call pays for them",
        )


def _network(host: Mapping[str, Any]) -> Iterator[Finding]:
    section = "Network"
    net = host["net"]
    available = net["congestion_available"] or []
    yield Finding(
        section,
        "congestion control",
        "ok" if "cubic" in available else "limited",
        " ".join(available) or "unknown",
        "" if "cubic" in available else "cubic is not loaded; reno is taken where it stays away",
        None if "cubic" in available else "sudo modprobe tcp_cubic",
    )
    if net["congestion_default"] == "bbr":
        yield Finding(
            section,
            "host's default",
            "fact",
            "bbr",
            "paces, which can cost other tools a factor of five here; copycost sets its own "
            "algorithm per socket",
        )
    elif net["congestion_default"]:
        yield Finding(section, "host's default", "fact", net["congestion_default"])
    allowed = net["congestion_allowed"] or []
    if not host["identity"]["euid_is_root"] and "cubic" not in allowed and "cubic" in available:
        yield Finding(
            section,
            "cubic on loopback",
            "limited",
            "refused",
            f"ordinary users may choose only {' '.join(allowed) or 'the default'} outside of "
            "namespaces of their own",
            f'sudo sysctl net.ipv4.tcp_allowed_congestion_control="{" ".join(allowed)} cubic"',
        )


def _tools(host: Mapping[str, Any], files: HostFiles, other: Host | None) -> Iterator[Finding]:
    iperf3 = describe_tool("iperf3", other)
    found = {**host["tools"], "iperf3": {"path": iperf3.path, "version": iperf3.version}}
    for name, (use_here, use_there) in _USES.items():
        use = use_here if other is None else use_there
        yield _tool(files, name, use, found[name]["path"], found[name]["version"])


def _tool(files: HostFiles, name: str, use: str, path: str | None, version: str | None) -> Finding:
    if path is None:
        return Finding("Tools", name, "missing", "missing", use, install_command(files, name))
    return Finding("Tools", name, "ok", _short_version(version), use)


def _what_builds(files: HostFiles) -> Iterator[Finding]:
    compiler = describe_tool("cc")
    yield _tool(files, "cc", "builds the C programs", compiler.path, compiler.version)
    use = "its headers, for senders and receivers by io_uring"
    if files.glob("usr/include/liburing.h"):
        yield Finding("Tools", "liburing", "ok", "yes", use)
    else:
        remedy = install_command(files, "liburing")
        yield Finding("Tools", "liburing", "missing", "missing", use, remedy)


def _short_version(line: str | None) -> str:
    """Return the number in a line such as ``ip utility, iproute2-6.1.0, libbpf 1.1.2``."""
    match = re.search(r"\d+(\.\d+)+", line or "")
    return match[0] if match else line or "does not tell"
