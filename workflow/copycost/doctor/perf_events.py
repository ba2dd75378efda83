"""Which perf events this host can count, found by counting each of them once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from copycost.errors import HostError, ParseError
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.tools import find_perf, install_command
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.perf.counts import PerfCount, parse_perf
from copycost.perf.events import KERNEL_EVENTS, PERF_EVENTS

EventStatus = Literal["supported", "not_supported", "forbidden", "unknown_event"]
PerfStatus = Literal["available", "missing", "forbidden"]

_PROBE_TIMEOUT_S = 20.0
_UNKNOWN_EVENT_CODE = 129
_NO_RIGHT = re.compile(
    r"perf_event_paranoid|Access to performance monitoring|Permission denied"
    r"|No permission|Operation not permitted",
    re.IGNORECASE,
)
RIGHTS_REMEDY = (
    "sudo sysctl kernel.perf_event_paranoid=1 (until the next boot; in a container, allow "
    "perf_event_open or add CAP_PERFMON), or run as root"
)


@dataclass(frozen=True, slots=True)
class EventFacts:
    """One perf event on this host; `reason` says why it is not supported, else None."""

    perf_name: str
    status: EventStatus
    reason: str | None


@dataclass(frozen=True, slots=True)
class PerfFacts:
    """What perf can do here; `paranoid` is kernel.perf_event_paranoid.

    With `nmi_watchdog` the kernel keeps one of the processor's few counters for itself; counters
    that are `user_only` miss the kernel's part of a send. Events have the names of the records.
    """

    path: str | None
    version: str | None
    paranoid: int | None
    nmi_watchdog: bool | None
    status: PerfStatus
    reason: str | None
    remedy: str | None
    user_only: bool
    events: dict[str, EventFacts]


def read_perf(files: HostFiles, unknown: Unknowns, host: Host | None = None) -> PerfFacts:
    """Find a host's perf, by default ours, and count each event once.

    What perf does not answer for when asked for all, such as all of them for one name that it does
    not know, is tried one by one.
    """
    paranoid = unknown.checked(
        "perf.paranoid",
        files.number("proc/sys/kernel/perf_event_paranoid"),
        "/proc/sys/kernel/perf_event_paranoid cannot be read: the kernel has no perf events",
    )
    # the hard-lockup detector, which counts cycles all the time
    number = files.number("proc/sys/kernel/nmi_watchdog")
    watchdog = None if number is None else number != 0
    unknown.checked("perf.nmi_watchdog", watchdog, "this kernel has no NMI watchdog")
    host = host or LocalHost()
    perf = find_perf(host)
    reason: str | None = None
    probes: dict[str, Probe] = {}
    if perf.path is None or perf.version is None:
        reason = f"{perf.path} does not run: no perf fits the running kernel"
        reason = "perf is not installed" if perf.path is None else reason
        unknown.checked("perf.version", None, reason)
    else:
        probes = _probes(host, perf.path, PERF_EVENTS)
        if all("unknown switch `j'" in probe.text for probe in probes.values()):
            reason = f"perf {perf.version} cannot write JSON (perf stat -j, perf 6.0 and later)"
    facts = partial(PerfFacts, perf.path, perf.version, paranoid, watchdog)
    if reason is not None:
        none = {
            name: EventFacts(event, "not_supported", reason) for name, event in PERF_EVENTS.items()
        }
        return facts("missing", reason, install_command(files, "perf"), False, none)
    user_only = any(probe.user_only for probe in probes.values())
    events = {
        name: classify_event(name, probe, paranoid, user_only) for name, probe in probes.items()
    }
    forbidden = all(event.status == "forbidden" for event in events.values())
    if forbidden or user_only:
        counted = "nothing here" if forbidden else "user mode only"
        reason = f"perf may count {counted} (perf_event_paranoid is {paranoid})"
    status: PerfStatus = "forbidden" if forbidden else "available"
    return facts(status, reason, RIGHTS_REMEDY if reason else None, user_only, events)


def counts_with_kernel(names: Iterable[str]) -> bool:
    """Tell whether our host counts all of these events, in the kernel too."""
    host = LocalHost()
    perf = find_perf(host)
    if perf.path is None or perf.version is None:
        return False
    probes = _probes(host, perf.path, names)
    return all(
        not probe.user_only and classify_event(name, probe, None, False).status == "supported"
        for name, probe in probes.items()
    )


@dataclass(frozen=True, slots=True)
class Probe:
    """What perf answered when asked to count one event of one short command.

    There is no exit code if it did not end in time; counts are two on hybrid processors; `text` is
    everything that perf wrote beside them.
    """

    exit_code: int | None
    counts: tuple[PerfCount, ...]
    text: str

    @property
    def user_only(self) -> bool:
        """Whether perf fell back to counting user mode only, which it marks in the name."""
        return any(count.user_only for count in self.counts)


def _probes(host: Host, perf: str, names: Iterable[str]) -> dict[str, Probe]:
    events = {name: PERF_EVENTS[name] for name in names}
    asked = _probe(host, perf, ",".join(events.values()))
    told = asked.counts if asked.exit_code == 0 else ()
    counts = {event: tuple(one for one in told if one.event == event) for event in events.values()}
    return {
        name: replace(asked, counts=counts[event]) if counts[event] else _probe(host, perf, event)
        for name, event in events.items()
    }


def _probe(host: Host, perf: str, perf_name: str) -> Probe:
    # a shell is everywhere, in guests of few programs too
    command = [perf, "stat", "-j", "-e", perf_name, "--", "sh", "-c", ":"]
    try:
        done = host.run(command, timeout_s=_PROBE_TIMEOUT_S)
        text = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("{"))
        return Probe(done.returncode, parse_perf(done.stderr, "perf stat"), text.strip())
    except HostError:
        return Probe(None, (), f"perf did not end within {_PROBE_TIMEOUT_S:.0f} s")
    except ParseError as error:
        return Probe(done.returncode, (), str(error))


def classify_event(name: str, probe: Probe, paranoid: int | None, user_only: bool) -> EventFacts:
    """Judge one event by perf's answer.

    `<not counted>` is support: the command was over before the event had its turn. The value
    decides, not the running percentage, which perf gives as 100 even for counters it lacks.
    """
    fact = partial(EventFacts, PERF_EVENTS[name])
    limit = f"with perf_event_paranoid {paranoid} perf counts user mode only"
    if any(count.status != "not_supported" for count in probe.counts):
        if user_only and name in KERNEL_EVENTS:
            return fact("forbidden", f"{limit}, where this event never happens")
        return fact("supported", None)
    if probe.counts and name == "ref_cycles" and probe.user_only:
        return fact("forbidden", f"{limit}, and this counter cannot be limited to that")
    if probe.counts:
        reason = "this processor, or the virtual machine, offers no such counter"
        return fact("not_supported", reason)
    if probe.exit_code == _UNKNOWN_EVENT_CODE:
        return fact("unknown_event", "perf or the kernel does not know this event")
    if _NO_RIGHT.search(probe.text):
        return fact("forbidden", f"perf was refused (perf_event_paranoid is {paranoid})")
    said = next((line.strip() for line in probe.text.splitlines() if line.strip()), "nothing")
    return fact("not_supported", f"perf ended with code {probe.exit_code} and said: {said}")
