"""What the facts about a host mean for measuring on it, and what could be done about it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from copycost.build.typesetter import OLDEST_QUARTO, Typesetter
from copycost.doctor.finding import Finding, State
from copycost.doctor.findings_machine import judge_machine
from copycost.doctor.perf_events import RIGHTS_REMEDY
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.guest.needs import Need
from copycost.wording.numbers import format_size

# net.core.optmem_max since Linux 6.8 (commit 4944566706b2); before it was a sixth of that.
_USUAL_OPTMEM_MAX_BYTES = 131072
# RLIMIT_MEMLOCK since Linux 5.16 (commit 9dcc38e2813e); before it was 64 KiB.
_USUAL_MEMLOCK_BYTES = 8 << 20

_ISOLATION_WORDS = {
    "root": "in network namespaces made as root",
    "user_namespace": "in network namespaces inside a user namespace",
    "host": "on the host's own loopback device",
}
_EVENT_WORDS = {
    "supported": "counted",
    "not_supported": "not supported",
    "forbidden": "forbidden",
    "unknown_event": "unknown here",
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


def judge_host(host: Mapping[str, Any], files: HostFiles) -> list[Finding]:
    """Return all findings about a host, given what `collect_host` says of it.

    `files` only tells which distribution's words the remedies have to use.
    """
    return [
        *_testbeds(host),
        *_perf(host),
        *_zero_copy(host),
        *judge_machine(host, files),
    ]


def _testbeds(host: Mapping[str, Any]) -> Iterator[Finding]:
    for name, bed in host["testbeds"].items():
        if bed["available"]:
            yield Finding("Testbeds", name, "ok", "yes", _ISOLATION_WORDS[bed["isolation"]])
        else:
            yield Finding("Testbeds", name, "missing", "no", bed["reason"], bed["remedy"])


def judge_typesetter(found: Typesetter) -> Finding:
    """Return what will typeset the report, and what is wrong with a Quarto that cannot."""
    if found.quarto is not None:
        return Finding("Report", "typeset by", "ok", found.description)
    remedy = f"install Quarto {OLDEST_QUARTO} or newer, or go on without" if found.faulty else None
    state: State = "limited" if found.faulty else "ok"
    return Finding("Report", "typeset by", state, "the embedded default", found.description, remedy)


def judge_perf(perf: Mapping[str, Any], section: str) -> Finding:
    """Return whether a host's perf counts, given its facts."""
    states: dict[str, State] = {"available": "ok", "missing": "missing", "forbidden": "missing"}
    state = "limited" if perf["user_only"] else states[perf["status"]]
    value = perf["version"] or "missing"
    return Finding(section, "perf", state, value, perf["reason"] or "", perf["remedy"])


def judge_cost_unit(perf: Mapping[str, Any], section: str) -> Finding:
    """Return the finest unit of cost that a host counts, given the facts of its perf."""
    return Finding(section, "cost per byte in", "fact", *_cost_unit(perf["events"]))


def _perf(host: Mapping[str, Any]) -> Iterator[Finding]:
    perf = host["perf"]
    section = "Counters"
    yield judge_perf(perf, section)
    paranoid = perf["paranoid"]
    if paranoid is not None:
        words = _PARANOID_WORDS[max(-1, min(paranoid, 4))]
        note = f"{words}; root may count all" if paranoid > -1 else words
        yield Finding(section, "perf_event_paranoid", "fact", str(paranoid), note)
    for event in perf["events"].values():
        counted = event["status"] == "supported"
        yield Finding(
            section,
            event["perf_name"],
            "ok" if counted else "missing",
            _EVENT_WORDS[event["status"]] if perf["status"] != "missing" else "no perf",
            "" if perf["status"] == "missing" else event["reason"] or "",
            _event_remedy(event["status"], host["cpu"]["virtualisation"]),
        )
    if perf["nmi_watchdog"] and perf["events"]["cycles"]["status"] == "supported":
        yield Finding(
            section,
            "nmi_watchdog",
            "limited",
            "on",
            "holds one of the processor's counters, so that events must take turns (multiplexed)",
            "sudo sysctl kernel.nmi_watchdog=0",
        )
    yield judge_cost_unit(perf, section)


def _event_remedy(status: str, virtual: str | None) -> str | None:
    if status == "forbidden":
        return RIGHTS_REMEDY
    if status == "not_supported" and virtual not in (None, "none"):
        return "if the hypervisor is yours, give the guest counters (qemu: -cpu host,pmu=on)"
    return None


def _cost_unit(events: Mapping[str, Any]) -> tuple[str, str]:
    """Return the finest unit of cost that can be had, and what that means."""
    if events["cycles"]["status"] == "supported":
        return "cycles", "and reference cycles and CPU time"
    if events["ref_cycles"]["status"] == "supported":
        return (
            "reference cycles",
            "and CPU time; core cycles, instructions and cache misses are not counted here",
        )
    return "CPU time", "no cycles of any kind are counted here"


def _zero_copy(host: Mapping[str, Any]) -> Iterator[Finding]:
    section = "Zero-copy limits"
    beds = [bed for bed in host["testbeds"].values() if bed["available"]]
    inside = [bed["optmem_max"] for bed in beds if bed["optmem_max"] is not None]
    optmem_max = min(inside, default=host["net"]["optmem_max"])
    if optmem_max is None:
        yield Finding(section, "optmem_max", "fact", "unknown", "it cannot be read here")
    else:
        small = optmem_max < _USUAL_OPTMEM_MAX_BYTES
        yield Finding(
            section,
            "optmem_max",
            "limited" if small else "ok",
            format_size(optmem_max),
            "sends meet ENOBUFS early and wait for notifications"
            if small
            else "bounds the notifications a socket may have waiting",
            f"sudo sysctl net.core.optmem_max={_USUAL_OPTMEM_MAX_BYTES}" if small else None,
        )
    memory = host["memory"]
    if memory["memlock_unlimited"] or host["identity"]["euid_is_root"]:
        yield Finding(section, "memlock", "ok", "no limit", "root is not held to one")
        return
    small = memory["memlock_bytes"] < _USUAL_MEMLOCK_BYTES
    yield Finding(
        section,
        "memlock",
        "limited" if small else "ok",
        format_size(memory["memlock_bytes"]),
        "bounds the bytes in flight of zero-copy sends, over all threads",
        'raise it: "* - memlock 65536" (KiB) in /etc/security/limits.conf, then log in again'
        if small
        else None,
    )


_SECTION = "Virtual machines"


def judge_guests(needs: Sequence[Need]) -> Iterator[Finding]:
    """Yield the findings about guests; without what they cannot do without, they are missing."""
    for need in needs:
        if need.found is not None:
            yield Finding(_SECTION, need.name, "ok", _short(need.found), need.use)
        else:
            note = f"{need.reason}; it {need.use}" if need.reason else need.use
            state: State = "missing" if need.necessary else "limited"
            yield Finding(_SECTION, need.name, state, "missing", note, need.remedy)


def _short(found: str) -> str:
    """Return the number of a version line, such as ``QEMU emulator version 7.2.22 (...)``."""
    match = re.search(r"version (\d+(?:\.\d+)+)", found)
    return match[1] if match else found
