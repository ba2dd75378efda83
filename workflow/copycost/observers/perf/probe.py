"""Which perf events a host can count, found by counting each of them once."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from copycost.errors import HostError, ParseError
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.tools import describe_tool, install_command
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.observers.perf.counts import PerfCount, parse_perf
from copycost.observers.perf.events import KERNEL_EVENTS, PERF_EVENTS

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


class Probe(NamedTuple):
    """What perf answered when asked to count events of one short command.

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


def read_perf(files: HostFiles, unknown: Unknowns, host: Host | None = None) -> dict[str, Any]:
    """Find a host's perf, by default ours, count each event once, and return what it can do.

    `status` is available, missing or forbidden, with `reason` and `remedy`. With `nmi_watchdog` the
    kernel keeps one of the processor's few counters for itself; counters that are `user_only` miss
    the kernel's part of a send. `events` have the names of the records, and a `status` each:
    supported, not_supported, forbidden or unknown_event.
    """
    host = host or LocalHost()
    paranoid = unknown.checked(
        "perf.paranoid",
        files.number("proc/sys/kernel/perf_event_paranoid"),
        "the kernel has no perf events: /proc/sys/kernel/perf_event_paranoid cannot be read",
    )
    # the hard-lockup detector, which counts cycles all the time
    number = files.number("proc/sys/kernel/nmi_watchdog")
    watchdog = None if number is None else number != 0
    unknown.checked("perf.nmi_watchdog", watchdog, "this kernel has no NMI watchdog")

    perf = describe_tool("perf", host)
    status, reason, remedy, user_only = "available", None, None, False
    events: dict[str, dict[str, str | None]] = {}
    if perf.path is None or perf.version is None:
        reason = f"{perf.path} does not run: no perf fits the running kernel"
        reason = "perf is not installed" if perf.path is None else reason
        unknown.checked("perf.version", None, reason)
    else:
        probes = _probes(host, perf.path)
        if all("unknown switch `j'" in probe.text for probe in probes.values()):
            reason = f"perf {perf.version} cannot write JSON (perf stat -j, perf 6.0 and later)"
        user_only = any(probe.user_only for probe in probes.values())
        events = {name: _judged(name, one, paranoid, user_only) for name, one in probes.items()}
    if reason is not None:
        status, remedy = "missing", install_command(files, "perf")
        events = {name: _event(name, "not_supported", reason) for name in PERF_EVENTS}
    elif all(event["status"] == "forbidden" for event in events.values()):
        status, reason = (
            "forbidden",
            f"perf may count nothing here (perf_event_paranoid is {paranoid})",
        )
    elif user_only:
        reason = f"perf may count user mode only (perf_event_paranoid is {paranoid})"
    return {
        "path": perf.path,
        "version": perf.version,
        "paranoid": paranoid,
        "nmi_watchdog": watchdog,
        "status": status,
        "reason": reason,
        "remedy": remedy or (RIGHTS_REMEDY if reason else None),
        "user_only": user_only,
        "events": events,
    }


def counts_with_kernel(names: Iterable[str]) -> bool:
    """Tell whether our host counts all of these events, in the kernel too."""
    perf = read_perf(HostFiles(), Unknowns())
    counted = all(perf["events"][name]["status"] == "supported" for name in names)
    return counted and not perf["user_only"]


def _probes(host: Host, perf: str) -> dict[str, Probe]:
    """Ask for all events at once, then one by one for those that perf gave no answer for.

    Of one that it does not know, it gives none for all.
    """
    asked = _probe(host, perf, ",".join(PERF_EVENTS.values()))
    told = asked.counts if asked.exit_code == 0 else ()
    probes = {}
    for name, event in PERF_EVENTS.items():
        counts = tuple(one for one in told if one.event == event)
        probes[name] = asked._replace(counts=counts) if counts else _probe(host, perf, event)
    return probes


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


def _event(name: str, status: str, reason: str | None = None) -> dict[str, str | None]:
    return {"perf_name": PERF_EVENTS[name], "status": status, "reason": reason}


def _judged(
    name: str, probe: Probe, paranoid: int | None, user_only: bool
) -> dict[str, str | None]:
    """Judge one event by perf's answer.

    `<not counted>` is support: the command was over before the event had its turn. The value
    decides, not the running percentage, which perf gives as 100 even for counters it lacks.
    """
    limit = f"with perf_event_paranoid {paranoid} perf counts user mode only"
    if any(count.status != "not_supported" for count in probe.counts):
        if user_only and name in KERNEL_EVENTS:
            return _event(name, "forbidden", f"{limit}, where this event never happens")
        return _event(name, "supported")
    if probe.counts and name == "ref_cycles" and probe.user_only:
        return _event(name, "forbidden", f"{limit}, and this counter cannot be limited to that")
    if probe.counts:
        reason = "this processor, or the virtual machine, offers no such counter"
        return _event(name, "not_supported", reason)
    if probe.exit_code == _UNKNOWN_EVENT_CODE:
        return _event(name, "unknown_event", "perf or the kernel does not know this event")
    if _NO_RIGHT.search(probe.text):
        return _event(name, "forbidden", f"perf was refused (perf_event_paranoid is {paranoid})")
    said = next((line.strip() for line in probe.text.splitlines() if line.strip()), "nothing")
    reason = f"perf ended with code {probe.exit_code} and said: {said}"
    return _event(name, "not_supported", reason)
