"""Say in one sentence why a repetition failed, and what to do about it."""

import re
import signal
from collections.abc import Mapping, Sequence
from typing import Any

from copycost.errors import CopycostError
from copycost.hosts.side import SideName
from copycost.measure.drivers.programs.conversation import SideEnded, SideSilent
from copycost.measure.drivers.programs.late_edge_warnings import latest_edge_s
from copycost.measure.drivers.programs.side import EXIT_UNAVAILABLE, EXIT_USAGE, RunningSide
from copycost.measure.drivers.protocol import AGAIN, Phase, Verdict

# what a program's last words point to
_REMEDIES = (
    ("Address already in use", "no port is free: stop what holds the ports, or widen"
     " net.ipv4.ip_local_port_range, or wire.ports in config.yaml if that names a range"),
    ("No buffer space", "raise net.core.optmem_max (sysctl) or the limit of locked memory"
     " (ulimit -l)"),
    ("Cannot allocate memory", "raise the limit of locked memory (ulimit -l) or ask for fewer"
     " threads, smaller messages or a smaller working set"),
    ("Too many open files", "raise the limit of open files (ulimit -n) or ask for fewer threads"),
    ("Resource temporarily unavailable", "raise the limit of processes (ulimit -u) or ask for"
     " fewer threads"),
)  # fmt: skip

# a firewall that drops what asks for a connection, or one that answers that nobody is there
_KEPT_OUT = re.compile(
    r"(net: connect to .*|greeting: 0 of \d+ connections have greeted)"
    ": (Connection timed out|No route to host)"
)
_FIREWALL = (
    "let TCP connections from the receiver's machine in on the sender's, to ports of"
    " net.ipv4.ip_local_port_range there, or to those of wire.ports in config.yaml"
)

# of the planned window: an edge that comes later than that leaves too little of it, and what perf
# counts is then mostly of another time than the bytes
_LATEST_EDGE_SHARE = 0.5

# behind their due times requests may fall in half a window [s]; a host that stops for a moment
# makes it more in one half, and a queue that grows on and on does in both
_FARTHEST_BEHIND_S = 0.025

# how a side words that it was the other one, or we, that ended
_ECHOES = ("the sender closed it", "Connection reset", "Broken pipe", "orchestrator is gone")


def judge(
    error: CopycostError, sides: Sequence[RunningSide], *, over_wire: bool = False
) -> Verdict:
    """Return why a repetition ended without a measurement; all sides have ended by now.

    The error is what was noticed first; often one side's end is only the echo of the other's. Over
    a wire a firewall may be between them.
    """
    during = error.during if isinstance(error, SideEnded) else "drain"
    death = _sudden_death(sides, during, hung=isinstance(error, SideSilent))
    if death is not None:
        return death
    if isinstance(error, SideEnded):
        first = next(side for side in sides if side.name == error.name)
        if first.exit_code == 0:  # perf gave up, and its program only then
            what = f"what ran the {first.name} ended too early, with exit status 0"
            return Verdict("failed", f"{what}, during the {during}: {first.errors()}", AGAIN)
        culprit = _culprit(sides, error.name)
        if over_wire and _KEPT_OUT.search(culprit.last_words):
            reason = f"{culprit.last_words} (during the {during})"
            return Verdict("failed", reason, f"{_FIREWALL}, then {AGAIN}")
        return _exited(culprit, during)
    if isinstance(error, SideSilent):
        said = next((f", saying {line!r}" for side in sides for line in side.errors()[-1:]), "")
        return Verdict("failed", f"{error}{said}", f"look for an overloaded host, then {AGAIN}")
    return Verdict("failed", str(error), AGAIN)


def unexplained(sides: Sequence[RunningSide]) -> bool:
    """Return whether no side says why it ended, as where one was stopped for a while under perf.

    perf takes such a stop for the end of its program, and ends it. To be asked when all have ended.
    """
    by_itself = all(side.ended_by_signal() is None and not _says_why(side) for side in sides)
    return by_itself and any(side.under_perf and not side.program.output() for side in sides)


def _says_why(side: RunningSide) -> bool:
    return bool(side.last_words) and not any(mark in side.last_words for mark in _ECHOES)


def judge_exits(sides: Sequence[RunningSide]) -> Verdict | None:
    """Return why both sides' ends are no success, None if they are one."""
    death = _sudden_death(sides, "drain", hung=False)
    if death is not None or all(side.exit_code == 0 for side in sides):
        return death
    return _exited(_culprit(sides, None), "drain")


def judge_windows(reports: Mapping[SideName, Mapping[str, Any]]) -> Verdict | None:
    """Return why a side's window is not the one that was planned, None if all are."""
    for name, report in reports.items():
        window = report["window"]
        planned_s = (window["planned_end_ns"] - window["planned_start_ns"]) / 1e9
        late_s = latest_edge_s(window)
        if late_s > _LATEST_EDGE_SHARE * planned_s:
            reason = (
                f"an edge of the {name}'s window came {late_s * 1e3:.3g} ms late, where the window"
                f" is {planned_s * 1e3:.3g} ms long: its bytes and perf's counts are not of the"
                " same time"
            )
            remedy = "make measure.duration_s longer or n_threads smaller, or run as root, then"
            return Verdict("failed", reason, f"{remedy} {AGAIN}")
    return None


def judge_traffic(
    reports: Mapping[SideName, Mapping[str, Any]], interval_ns: int
) -> Verdict | None:
    """Return why the traffic of a window is no measurement, None if it is one.

    From one request to the next it takes an interval; 0 where they follow replies, or there are
    none.
    """
    sender = reports["sender"]
    far_end = reports.get("receiver", sender)
    window, made = sender["window"], sender["in_window"]
    window_s = (window["end_ns"] - window["start_ns"]) / 1e9
    if far_end["in_window"]["bytes"] == 0 and sender["total"]["bytes"] > 0:
        reason = f"nothing arrived in the window of {window_s:.3g} s, so slow was the traffic"
        return Verdict("failed", reason, f"make measure.duration_s longer, then {AGAIN}")
    if interval_ns == 0:
        return None
    per_s = len(sender["threads"]) / (interval_ns / 1e9)
    n_due, n_made = round(window_s * per_s), made["messages"]
    n_first = made["first_half_bytes"] / sender["options"]["msg_bytes"]
    first_s = (window["half_ns"] - window["start_ns"]) / 1e9
    behind_s = first_s - n_first / per_s, window_s - first_s - (n_made - n_first) / per_s
    if min(behind_s) <= _FARTHEST_BEHIND_S:
        return None
    reason = (
        f"of {n_due} requests that were due in the window only {n_made} were made: round trips"
        f" take longer than the interval of {interval_ns / 1e3:g} us, so that each request waits"
        " for all those before it, and its time tells how long that went on"
    )
    return Verdict("failed", reason, f"make measure.interval_us longer, or 0, then {AGAIN}")


def _culprit(sides: Sequence[RunningSide], first: SideName | None) -> RunningSide:
    """Return the side that failed by itself: one side's end soon ends the other."""

    def innocence(side: RunningSide) -> tuple[bool, bool, bool]:
        return side.exit_code == 0, not _says_why(side), side.name != first

    return min(sides, key=innocence)


def _sudden_death(sides: Sequence[RunningSide], during: Phase, *, hung: bool) -> Verdict | None:
    """Return that a side was killed, if one was; a side that hung is mute too."""
    for side in sides:
        number = side.ended_by_signal()
        if number is not None:
            its_perf = side.under_perf and side.exit_code < 0
            who = f"perf around the {side.name}" if its_perf else f"the {side.name}"
            name = signal.Signals(number).name
            return _death(f"{who} was killed by {name} during the {during}", number)
    for side in sides:
        # perf does not always tell that its program was killed, which alone leaves neither a result
        # nor a reason; whom we killed did not listen when he was told to end, which says nothing
        mute = not side.program.output() and not side.last_words
        if mute and not hung and not side.program.killed and side.exit_code <= 0:
            reason = f"the {side.name} died without a word during the {during}"
            return _death(reason, signal.SIGKILL)
    return None


def _death(reason: str, number: int) -> Verdict:
    hint = "look for the out-of-memory killer in dmesg, then " if number == signal.SIGKILL else ""
    return Verdict("failed", reason, f"{hint}{AGAIN}")


def _exited(side: RunningSide, during: Phase) -> Verdict:
    code = side.exit_code
    said = side.last_words or f"the {side.name} said nothing"
    known = next((remedy for mark, remedy in _REMEDIES if mark in said), None)
    if code == EXIT_UNAVAILABLE:
        return Verdict("skipped", said, known or "take this implementation out of config.yaml")
    if code == EXIT_USAGE:
        known = "change config.yaml to values that the program takes"
    return Verdict("failed", f"{said} (exit status {code}, during the {during})", known or AGAIN)
