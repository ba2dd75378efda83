"""What the facts about a host mean for measuring on it, and what could be done about it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from copycost.build.typesetter import OLDEST_QUARTO, Typesetter
from copycost.doctor.perf_events import RIGHTS_REMEDY
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.facts.packages import install_command
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.needs import Need
from copycost.hosts.host import Host
from copycost.wording.numbers import format_size

State = Literal["ok", "limited", "missing", "fact"]
"""limited: works with less; missing: does not work; fact: nothing to judge."""

# net.core.optmem_max since Linux 6.8 (commit 4944566706b2); before it was a sixth of that.
_USUAL_OPTMEM_MAX_BYTES = 131072
# RLIMIT_MEMLOCK since Linux 5.16 (commit 9dcc38e2813e); before it was 64 KiB.
_USUAL_MEMLOCK_BYTES = 8 << 20
_MEMLOCK_REMEDY = (
    'raise it: "* - memlock 65536" (KiB) in /etc/security/limits.conf, then log in again'
)

ON = {None: "unknown", True: "on", False: "off"}
_ISOLATION_WORDS = {
    "root": "in network namespaces made as root",
    "user_namespace": "in network namespaces inside a user namespace",
    "host": "on the host's own loopback device",
}
_EVENT_WORDS = {
    "supported": "counted",
    "not_supported": "not supported",
    "forbidden": "forbidden",
    "unknown_event": "unknown event",
}
# Source: kernel document admin-guide/sysctl/kernel.rst; 3 is a patch of Debian, 4 of Ubuntu.
_PARANOID_WORDS = {
    -1: "no restriction",
    0: "no raw tracepoints for ordinary users",
    1: "ordinary users may count the kernel's part of their own processes",
    2: "ordinary users may count user mode only",
    3: "ordinary users may count nothing",
    4: "ordinary users may count nothing",
}
# Source: kernel document admin-guide/sysctl/kernel.rst, io_uring_disabled; since Linux 6.6.
_IO_URING_WORDS = {0: "allowed", 1: "for one group only", 2: "disabled"}

_BBR_NOTE = (
    "paces sends, which can slow other tools here by a factor of five; copycost sets its own"
    " algorithm per socket"
)
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


def judged(
    section: str, name: str, good: bool | None, value: str, note: str = "", remedy: str = ""
) -> Finding:
    """Return a finding that is as it should be, or else limited; None is nothing to judge.

    The remedy is for what is limited.
    """
    state: State = "fact" if good is None else "ok" if good else "limited"
    return Finding(section, name, state, value, note, (remedy if good is False else "") or None)


def judge_host(host: Mapping[str, Any], files: HostFiles) -> list[Finding]:
    """Return all findings about a host, given what `collect_host` says of it.

    `files` only tells which distribution's words the remedies have to use.
    """
    return [*_testbeds(host), *_perf(host), *_zero_copy(host), *judge_machine(host, files)]


def judge_machine(
    host: Mapping[str, Any], files: HostFiles, other: Host | None = None
) -> Iterator[Finding]:
    """Yield the findings about the machine itself and what is installed on it.

    Its own files tell how busy it is, and which distribution's words remedies have to use. It is
    this machine, or an `other` one, on which nothing is built.
    """
    yield from _processors(host, files)
    yield from _kernel(host)
    yield from _network(host)
    yield from _tools(host, files, other)


def _testbeds(host: Mapping[str, Any]) -> Iterator[Finding]:
    for name, bed in host["testbeds"].items():
        if bed["available"]:
            yield Finding("Testbeds", name, "ok", "yes", _ISOLATION_WORDS[bed["isolation"]])
        else:
            yield Finding("Testbeds", name, "missing", "no", bed["reason"], bed["remedy"])


def judge_perf(perf: Mapping[str, Any], section: str) -> Finding:
    """Return whether a host's perf counts, given its facts."""
    states: dict[str, State] = {"available": "ok", "missing": "missing", "forbidden": "missing"}
    state = "limited" if perf["user_only"] else states[perf["status"]]
    value = perf["version"] or "missing"
    return Finding(section, "perf", state, value, perf["reason"] or "", perf["remedy"])


def judge_cost_unit(perf: Mapping[str, Any], section: str) -> Finding:
    """Return the finest unit of cost that a host counts, given the facts of its perf."""
    unit, note = "CPU time", "no cycles of any kind can be counted here"
    if perf["events"]["cycles"]["status"] == "supported":
        unit, note = "cycles", "also reference cycles and CPU time"
    elif perf["events"]["ref_cycles"]["status"] == "supported":
        unit = "reference cycles"
        note = "also CPU time; core cycles, instructions and cache misses cannot be counted here"
    return Finding(section, "cost per byte in", "fact", unit, note)


def _perf(host: Mapping[str, Any]) -> Iterator[Finding]:
    perf = host["perf"]
    section = "Counters"
    yield judge_perf(perf, section)
    paranoid = perf["paranoid"]
    if paranoid is not None:
        words = _PARANOID_WORDS[max(-1, min(paranoid, 4))]
        note = f"{words}; root may count all" if paranoid > -1 else words
        yield Finding(section, "perf_event_paranoid", "fact", str(paranoid), note)
    there = perf["status"] != "missing"
    for event in perf["events"].values():
        name, status = event["perf_name"], event["status"]
        state: State = "ok" if status == "supported" else "missing"
        value = _EVENT_WORDS[status] if there else "no perf"
        note = (there and event["reason"]) or ""
        remedy = None
        if status == "forbidden":
            remedy = RIGHTS_REMEDY
        elif status == "not_supported" and host["cpu"]["virtualisation"] not in (None, "none"):
            remedy = "if the hypervisor is yours, give the guest counters (qemu: -cpu host,pmu=on)"
        yield Finding(section, name, state, value, note, remedy)
    if perf["nmi_watchdog"] and perf["events"]["cycles"]["status"] == "supported":
        note = "occupies one of the processor's counters, so events must take turns (multiplexed)"
        remedy = "sudo sysctl kernel.nmi_watchdog=0"
        yield Finding(section, "nmi_watchdog", "limited", "on", note, remedy)
    yield judge_cost_unit(perf, section)


def _zero_copy(host: Mapping[str, Any]) -> Iterator[Finding]:
    say = partial(judged, "Zero-copy limits")
    beds = [bed for bed in host["testbeds"].values() if bed["available"]]
    inside = [bed["optmem_max"] for bed in beds if bed["optmem_max"] is not None]
    optmem_max = min(inside, default=host["net"]["optmem_max"])
    if optmem_max is None:
        yield say("optmem_max", None, "unknown", "cannot be read here")
    else:
        enough = optmem_max >= _USUAL_OPTMEM_MAX_BYTES
        note = "sends soon fail with ENOBUFS and wait for notifications"
        if enough:
            note = "limits the pending notifications of a socket"
        remedy = f"sudo sysctl net.core.optmem_max={_USUAL_OPTMEM_MAX_BYTES}"
        yield say("optmem_max", enough, format_size(optmem_max), note, remedy)
    memory = host["memory"]
    if memory["memlock_unlimited"] or host["identity"]["euid_is_root"]:
        yield say("memlock", True, "no limit", "root has none")
    else:
        locked = memory["memlock_bytes"]
        note = "limits the bytes of zero-copy sends in flight, over all threads"
        enough = locked >= _USUAL_MEMLOCK_BYTES
        yield say("memlock", enough, format_size(locked), note, _MEMLOCK_REMEDY)


def _processors(host: Mapping[str, Any], files: HostFiles) -> Iterator[Finding]:
    say = partial(judged, "Processors")
    cpu, unknown = host["cpu"], host["unknown"]
    yield say("model", None, cpu["model"] or "unknown")

    allowed = host["identity"]["cpus_allowed"]
    value = f"{cpu['cpus_online']} (this process may use {allowed})"
    per_core, note = cpu["threads_per_core"], ""
    alone = cpu["cpus_online"] == 1 or allowed.isdigit()
    if alone:
        note = "sender and receiver share one CPU, so each waits for the other"
    elif per_core is not None and per_core > 1:
        note = f"{per_core} hardware threads per core share its caches"
    remedy = "allow more CPUs to this process (taskset, cpuset, or the virtual machine's settings)"
    yield say("CPUs", not alone, value, note, remedy)
    if cpu["core_types"]:
        value = ", ".join(f"{kind} {cpus}" for kind, cpus in cpu["core_types"].items())
        note = "results depend on which kind of core runs what"
        remedy = "name CPUs of one kind under measure.cpus in config.yaml"
        yield say("kinds of core", False, value, note, remedy)

    governor = cpu["governor"]
    note = unknown.get("cpu.governor", "") if governor is None else ""
    if governor not in (None, "performance"):
        note = "the clock rate follows the load, so short measurements vary more"
    yield judge_governor("Processors", governor, "unknown", note)
    boost = "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    if cpu["vendor"] == "GenuineIntel":
        boost = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    note = unknown.get("cpu.turbo", "") if cpu["turbo"] is None else ""
    if cpu["turbo"]:
        note = "the clock rate depends on temperature and on what else runs"
    yield say("turbo", False if cpu["turbo"] else None, ON[cpu["turbo"]], note, boost)
    is_guest = cpu["virtualisation"] not in (None, "none")
    note = "other guests may take CPU time, and counters may be missing" if is_guest else ""
    value = cpu["virtualisation"] or "unknown"
    yield say("virtualisation", False if is_guest else None, value, note)

    # being no lasting fact, how busy the host is now is in no file of facts
    load = (files.text("proc/loadavg") or "").partition(" ")[0]
    if re.fullmatch(r"\d{1,6}\.\d{2}", load):
        idle = float(load) <= _BUSY_LOAD_PER_CPU * (cpu["cpus_online"] or 1)
        note = "" if idle else "other programs take the CPUs and caches that a measurement needs"
        yield say("load of the last minute", idle, load, note, "measure when the host is idle")


def judge_governor(section: str, governor: str | None, unknown: str, note: str = "") -> Finding:
    """Return whether the clock rate of a host's processors is steady."""
    steady = None if governor is None else governor == "performance"
    remedy = "sudo cpupower frequency-set --governor performance"
    return judged(section, "frequency governor", steady, governor or unknown, note, remedy)


def _kernel(host: Mapping[str, Any]) -> Iterator[Finding]:
    say = partial(Finding, "Kernel")
    kernel, identity = host["kernel"], host["identity"]
    yield say("release", "fact", kernel["release"] or "unknown")
    accounting = kernel["irq_time_accounting"]
    note = "a task's CPU time includes the softirqs that run in its context"
    if accounting:
        note = "a task's CPU time excludes the receive path that runs in softirqs in its context"
    elif accounting is None:
        note = host["unknown"].get("kernel.irq_time_accounting", "")
    state: State = "limited" if accounting else "fact"
    yield say("IRQ time accounting", state, ON[accounting], note)
    if kernel["hz"] is not None:
        yield say("timer ticks", "fact", f"{kernel['hz']} per second")
    disabled = identity["io_uring_disabled"]
    if disabled == 0:
        yield say("io_uring", "ok", _IO_URING_WORDS[0])
    elif disabled is not None:
        value = _IO_URING_WORDS.get(disabled, str(disabled))
        note = "senders and receivers by io_uring are skipped"
        yield say("io_uring", "missing", value, note, "sudo sysctl kernel.io_uring_disabled=0")
    flaws = identity["mitigations"]
    if flaws:
        acting = sum(text.startswith("Mitigation") for text in flaws.values())
        note = f"against flaws of this processor ({', '.join(flaws)}); they slow each system call"
        yield say("mitigations", "fact", f"{acting} active", note)


def _network(host: Mapping[str, Any]) -> Iterator[Finding]:
    say = partial(judged, "Network")
    net = host["net"]
    available = net["congestion_available"] or []
    has_cubic = "cubic" in available
    note = "" if has_cubic else "cubic is not loaded; reno is used where it is missing"
    value = " ".join(available) or "unknown"
    yield say("congestion control", has_cubic, value, note, "sudo modprobe tcp_cubic")
    if net["congestion_default"]:
        note = _BBR_NOTE if net["congestion_default"] == "bbr" else ""
        yield say("host's default", None, net["congestion_default"], note)
    allowed = net["congestion_allowed"] or []
    if not host["identity"]["euid_is_root"] and has_cubic and "cubic" not in allowed:
        choice = " ".join(allowed) or "the default"
        note = f"ordinary users may choose only {choice} outside namespaces of their own"
        remedy = f'sudo sysctl net.ipv4.tcp_allowed_congestion_control="{" ".join(allowed)} cubic"'
        yield say("cubic on loopback", False, "refused", note, remedy)


def _tools(host: Mapping[str, Any], files: HostFiles, other: Host | None) -> Iterator[Finding]:
    iperf3 = describe_tool("iperf3", other)
    found = {**host["tools"], "iperf3": {"path": iperf3.path, "version": iperf3.version}}
    for name, (use_here, use_there) in _USES.items():
        use = use_here if other is None else use_there
        yield _tool(files, name, use, found[name]["path"], found[name]["version"])
    if other is not None:
        return
    compiler = describe_tool("cc")
    yield _tool(files, "cc", "builds the C programs", compiler.path, compiler.version)
    use = "its headers, for senders and receivers by io_uring"
    header = next(map(str, files.glob("usr/include/liburing.h")), None)
    yield _tool(files, "liburing", use, header, "yes")


def _tool(files: HostFiles, name: str, use: str, path: str | None, version: str | None) -> Finding:
    if path is None:
        return Finding("Tools", name, "missing", "missing", use, install_command(files, name))
    # the number in a line such as ``ip utility, iproute2-6.1.0, libbpf 1.1.2``
    number = re.search(r"\d+(\.\d+)+", version or "")
    return Finding("Tools", name, "ok", number[0] if number else version or "unknown", use)


def judge_guests(needs: Sequence[Need]) -> Iterator[Finding]:
    """Yield the findings about guests; without what they cannot do without, they are missing."""
    for need in needs:
        if need.found is None:
            yield _missing("Virtual machines", need)
        else:
            # of a line such as ``QEMU emulator version 7.2.22 (...)``
            number = re.search(r"version (\d+(?:\.\d+)+)", need.found)
            value = number[1] if number else need.found
            yield Finding("Virtual machines", need.name, "ok", value, need.use)


def _missing(section: str, need: Need) -> Finding:
    note = f"{need.reason}; it {need.use}" if need.reason else need.use
    state: State = "missing" if need.necessary else "limited"
    return Finding(section, need.name, state, "missing", note, need.remedy)


def judge_simulation(needs: Iterable[Need]) -> list[Finding]:
    """Return what is missing for simulated counts, or that nothing is."""
    section = "Simulated counts"
    missing = [_missing(section, need) for need in needs if need.found is None]
    note = "./run simulated tells which cache level misses what if none is counted"
    return missing or [Finding(section, "cache model", "ok", "yes", note)]


def judge_typesetter(found: Typesetter) -> Finding:
    """Return what will typeset the report, and what is wrong with a Quarto that cannot."""
    if found.quarto is not None:
        return Finding("Report", "typeset by", "ok", found.description)
    remedy = f"install Quarto {OLDEST_QUARTO} or newer, or do without" if found.faulty else None
    state: State = "limited" if found.faulty else "ok"
    return Finding("Report", "typeset by", state, "embedded default", found.description, remedy)
