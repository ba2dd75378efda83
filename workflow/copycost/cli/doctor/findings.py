"""What the facts about a host mean for measuring on it, and what could be done about it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from copycost.build.typesetter import OLDEST_QUARTO, Typesetter
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.tools import describe_tool, install_command
from copycost.hosts.host import Host
from copycost.observers.perf.probe import RIGHTS_REMEDY
from copycost.wording.numbers import format_size

State = Literal["ok", "limited", "missing", "fact"]
"""limited: works with less; missing: does not work; fact: nothing to judge."""

# net.core.optmem_max since Linux 6.8 (commit 4944566706b2); before it was a sixth of that.
_USUAL_OPTMEM_MAX_BYTES = 131072
# RLIMIT_MEMLOCK since Linux 5.16 (commit 9dcc38e2813e); before it was 64 KiB.
_USUAL_MEMLOCK_BYTES = 8 << 20

ON = {None: "unknown", True: "on", False: "off"}
_ISOLATION = {
    "root": "in network namespaces made as root",
    "user_namespace": "in network namespaces inside a user namespace",
    "host": "on the host's own loopback device",
}
# Source: kernel document admin-guide/sysctl/kernel.rst; 3 and 4 are patches of Debian and Ubuntu.
_PARANOID = "from 2 on ordinary users count user mode only, from 3 on nothing; root counts all"
# Source: the same, io_uring_disabled; since Linux 6.6.
_IO_URING = {0: "allowed", 1: "for one group only", 2: "disabled"}
_DRIVES = "drives the studies cpu_budget and datagrams"
# what a tool is for on this machine, and on another one
_USES = {
    "ip": ("makes the veth testbeds", "finds the route to this machine"),
    "ethtool": ("reads and switches offloads", "reads offloads, rings and coalescing"),
    "nft": ("drops at the far end of the testbed sink", "drops what wire_sink sends there"),
    "iperf3": (_DRIVES, _DRIVES),
}
_BUSY_LOAD_PER_CPU = 0.25


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's table.

    `value` is what was found, in a few words, and `note` what that means for a measurement;
    `remedy` would change it, and is None where nothing would, or nothing needs to.
    """

    section: str
    name: str
    state: State
    value: str
    note: str = ""
    remedy: str | None = None


def say(
    name: str, state: State | bool | None, value: str, note: str = "", remedy: str | None = None
) -> Finding:
    """Return a finding of no section yet; True is ok, False limited, None nothing to judge.

    The remedy is for what is limited or missing.
    """
    judged: State = {True: "ok", False: "limited", None: "fact"}.get(state, state)  # type: ignore
    wanted = judged in ("limited", "missing")
    return Finding("", name, judged, value, note, (remedy if wanted else None) or None)


def titled(section: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings as those of a section."""
    return [replace(one, section=section) for one in findings]


def version_in(said: str | None) -> str:
    """Return the number in a line such as ``ip utility, iproute2-6.1.0, libbpf 1.1.2``."""
    number = re.search(r"\d+(\.\d+)+", said or "")
    return number[0] if number else said or "unknown"


def judge_host(host: Mapping[str, Any], files: HostFiles) -> list[Finding]:
    """Return all findings about a host, given what `collect_host` says of it.

    `files` only tells which distribution's words the remedies have to use.
    """
    return [
        *titled("Testbeds", _testbeds(host["testbeds"])),
        *titled("Counters", _counters(host)),
        *titled("Zero-copy limits", _zero_copy(host)),
        *judge_machine(host, files),
    ]


def judge_machine(
    host: Mapping[str, Any], files: HostFiles, other: Host | None = None
) -> list[Finding]:
    """Return the findings about the machine itself and what is installed on it.

    Its own files tell how busy it is, and which distribution's words remedies have to use. It is
    this machine, or an `other` one, on which nothing is built.
    """
    return [
        *titled("Processors", _processors(host, files)),
        *titled("Kernel", _kernel(host)),
        *titled("Network", _network(host)),
        *titled("Tools", _tools(host, files, other)),
    ]


def _testbeds(testbeds: Mapping[str, Any]) -> Iterator[Finding]:
    for name, bed in testbeds.items():
        if bed["available"]:
            yield say(name, "ok", "yes", _ISOLATION[bed["isolation"]])
        else:
            yield say(name, "missing", "no", bed["reason"], bed["remedy"])


def judge_perf(perf: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield whether a host's perf counts, and the finest unit of cost, given its facts."""
    state: State = "ok" if perf["status"] == "available" else "missing"
    state = "limited" if perf["user_only"] else state
    yield say("perf", state, perf["version"] or "missing", perf["reason"] or "", perf["remedy"])
    unit, note = "CPU time", "no cycles of any kind can be counted here"
    if perf["events"]["cycles"]["status"] == "supported":
        unit, note = "cycles", "also reference cycles and CPU time"
    elif perf["events"]["ref_cycles"]["status"] == "supported":
        unit = "reference cycles"
        note = "also CPU time; core cycles, instructions and cache misses cannot be counted here"
    yield say("cost per byte in", None, unit, note)


def _counters(host: Mapping[str, Any]) -> Iterator[Finding]:
    perf = host["perf"]
    yield from judge_perf(perf)
    if perf["paranoid"] is not None:
        yield say("perf_event_paranoid", None, str(perf["paranoid"]), _PARANOID)
    remedies = {"forbidden": RIGHTS_REMEDY}
    if _is_guest(host):
        give = "if the hypervisor is yours, give the guest counters (qemu: -cpu host,pmu=on)"
        remedies["not_supported"] = give
    for event in perf["events"].values():
        name, status = event["perf_name"], event["status"]
        if perf["status"] == "missing":
            yield say(name, "missing", "no perf", "", remedies.get(status))
        elif status == "supported":
            yield say(name, "ok", "counted")
        else:
            value = status.replace("_", " ")
            yield say(name, "missing", value, event["reason"], remedies.get(status))
    if perf["nmi_watchdog"] and perf["events"]["cycles"]["status"] == "supported":
        note = "occupies one of the processor's counters, so events must take turns (multiplexed)"
        yield say("nmi_watchdog", "limited", "on", note, "sudo sysctl kernel.nmi_watchdog=0")


def _is_guest(host: Mapping[str, Any]) -> bool:
    return host["cpu"]["virtualisation"] not in (None, "none")


def _zero_copy(host: Mapping[str, Any]) -> Iterator[Finding]:
    inside = [bed["optmem_max"] for bed in host["testbeds"].values()]
    known = [value for value in inside if value is not None]
    optmem_max = min(known, default=host["net"]["optmem_max"])
    if optmem_max is None:
        yield say("optmem_max", None, "unknown", "cannot be read here")
    else:
        enough = optmem_max >= _USUAL_OPTMEM_MAX_BYTES
        note = "sends soon fail with ENOBUFS and wait for notifications"
        note = "limits the pending notifications of a socket" if enough else note
        remedy = f"sudo sysctl net.core.optmem_max={_USUAL_OPTMEM_MAX_BYTES}"
        yield say("optmem_max", enough, format_size(optmem_max), note, remedy)
    memory = host["memory"]
    if memory["memlock_unlimited"] or host["identity"]["euid_is_root"]:
        yield say("memlock", "ok", "no limit", "root has none")
    else:
        locked = memory["memlock_bytes"]
        note = "limits the bytes of zero-copy sends in flight, over all threads"
        line = '"* - memlock 65536" (KiB) in /etc/security/limits.conf'
        remedy = f"raise it: {line}, then log in again"
        yield say("memlock", locked >= _USUAL_MEMLOCK_BYTES, format_size(locked), note, remedy)


def _processors(host: Mapping[str, Any], files: HostFiles) -> Iterator[Finding]:
    cpu, unknown = host["cpu"], host["unknown"]
    yield say("model", None, cpu["model"] or "unknown")
    allowed, per_core, note = host["identity"]["cpus_allowed"], cpu["threads_per_core"], ""
    alone = cpu["cpus_online"] == 1 or allowed.isdigit()
    if alone:
        note = "sender and receiver share one CPU, so each waits for the other"
    elif per_core is not None and per_core > 1:
        note = f"{per_core} hardware threads per core share its caches"
    value = f"{cpu['cpus_online']} (this process may use {allowed})"
    remedy = "allow more CPUs to this process (taskset, cpuset, or the virtual machine's settings)"
    yield say("CPUs", not alone, value, note, remedy)
    if cpu["core_types"]:
        value = ", ".join(f"{kind} {cpus}" for kind, cpus in cpu["core_types"].items())
        note = "results depend on which kind of core runs what"
        remedy = "name CPUs of one kind under measure.cpus in config.yaml"
        yield say("kinds of core", "limited", value, note, remedy)

    yield judge_governor(cpu["governor"], "unknown", unknown.get("cpu.governor", ""))
    note = "the clock rate depends on temperature and on what else runs"
    note = note if cpu["turbo"] else unknown.get("cpu.turbo", "")
    boost = "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    if cpu["vendor"] == "GenuineIntel":
        boost = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    yield say("turbo", "limited" if cpu["turbo"] else "fact", ON[cpu["turbo"]], note, boost)
    virtualisation = cpu["virtualisation"] or "unknown"
    if _is_guest(host):
        note = "other guests may take CPU time, and counters may be missing"
        yield say("virtualisation", "limited", virtualisation, note)
    else:
        yield say("virtualisation", None, virtualisation)

    # being no lasting fact, how busy the host is now is in no file of facts
    load = (files.text("proc/loadavg") or "").partition(" ")[0]
    if re.fullmatch(r"\d{1,6}\.\d{2}", load):
        idle = float(load) <= _BUSY_LOAD_PER_CPU * (cpu["cpus_online"] or 1)
        note = "" if idle else "other programs take the CPUs and caches that a measurement needs"
        yield say("load of the last minute", idle, load, note, "measure when the host is idle")


def judge_governor(governor: str | None, unknown: str, why_unknown: str = "") -> Finding:
    """Return whether the clock rate of a host's processors is steady."""
    name = "frequency governor"
    if governor is None:
        return say(name, None, unknown, why_unknown)
    if governor == "performance":
        return say(name, "ok", governor)
    note = "the clock rate follows the load, so short measurements vary more"
    remedy = "sudo cpupower frequency-set --governor performance"
    return say(name, "limited", governor, note, remedy)


def _kernel(host: Mapping[str, Any]) -> Iterator[Finding]:
    kernel, identity = host["kernel"], host["identity"]
    yield say("release", None, kernel["release"] or "unknown")
    accounting = kernel["irq_time_accounting"]
    note = {
        True: "a task's CPU time excludes the receive path that runs in softirqs in its context",
        False: "a task's CPU time includes the softirqs that run in its context",
        None: host["unknown"].get("kernel.irq_time_accounting", ""),
    }[accounting]
    yield say("IRQ time accounting", "limited" if accounting else "fact", ON[accounting], note)
    disabled = identity["io_uring_disabled"]
    if disabled is not None:
        note = "senders and receivers by io_uring are skipped" if disabled else ""
        remedy = "sudo sysctl kernel.io_uring_disabled=0"
        value = _IO_URING.get(disabled, str(disabled))
        yield say("io_uring", "missing" if disabled else "ok", value, note, remedy)
    if flaws := identity["mitigations"]:
        acting = sum(text.startswith("Mitigation") for text in flaws.values())
        note = f"against flaws of this processor ({', '.join(flaws)}); they slow each system call"
        yield say("mitigations", None, f"{acting} active", note)


def _network(host: Mapping[str, Any]) -> Iterator[Finding]:
    net = host["net"]
    available, allowed = net["congestion_available"] or [], net["congestion_allowed"] or []
    has_cubic = "cubic" in available
    note = "" if has_cubic else "cubic is not loaded; reno is used where it is missing"
    value = " ".join(available) or "unknown"
    yield say("congestion control", has_cubic, value, note, "sudo modprobe tcp_cubic")
    if not host["identity"]["euid_is_root"] and has_cubic and "cubic" not in allowed:
        choice = " ".join(allowed) or "the default"
        note = f"ordinary users may choose only {choice} outside namespaces of their own"
        remedy = f'sudo sysctl net.ipv4.tcp_allowed_congestion_control="{" ".join(allowed)} cubic"'
        yield say("cubic on loopback", "limited", "refused", note, remedy)


def _tools(host: Mapping[str, Any], files: HostFiles, other: Host | None) -> Iterator[Finding]:
    def tool(name: str, use: str, path: str | None, version: str | None) -> Finding:
        if path is None:
            return say(name, "missing", "missing", use, install_command(files, name))
        return say(name, "ok", version_in(version), use)

    iperf3 = describe_tool("iperf3", other)
    found = {**host["tools"], "iperf3": {"path": iperf3.path, "version": iperf3.version}}
    for name, uses in _USES.items():
        yield tool(name, uses[other is not None], found[name]["path"], found[name]["version"])
    if other is None:
        compiler = describe_tool("cc")
        yield tool("cc", "builds the C programs", compiler.path, compiler.version)
        header = next(map(str, files.glob("usr/include/liburing.h")), None)
        use = "its headers, for senders and receivers by io_uring"
        yield tool("liburing", use, header, "yes")


def judge_typesetter(found: Typesetter) -> Finding:
    """Return what will typeset the report, and what is wrong with a Quarto that cannot."""
    if found.quarto is not None:
        return Finding("Report", "typeset by", "ok", found.description)
    remedy = f"install Quarto {OLDEST_QUARTO} or newer, or do without"
    finding = say("typeset by", not found.faulty, "embedded default", found.description, remedy)
    return replace(finding, section="Report")
