"""Why there is no measurement, in one sentence with a remedy; and what may have disturbed one.

At each edge of a window a program's main thread, which sleeps in between, takes its snapshot and
has perf switched. Where dozens of threads share a CPU both are woken tens or hundreds of
milliseconds late: the window shrinks, and perf counts what lies outside of it. So both get
precedence (`Host.prioritise`), when all threads of the programs are there: these keep the priority
that they have, and so does all that is measured of them.
"""

import re
import signal
from collections.abc import Mapping, Sequence
from typing import Any

from copycost.config.cells import Cell
from copycost.errors import AttemptFailed, CopycostError, Unavailable, WithRemedy
from copycost.hosts.side import SideName
from copycost.measure.drivers.programs.conversation import (
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    RunningSide,
    SideEnded,
    SideSilent,
)
from copycost.measure.drivers.protocol import AGAIN, MissedWindow, Phase, UnexplainedEnd
from copycost.records.derive import counted_off_window, window_ns
from copycost.records.record import Disturbance, disturbance

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

# by these shares an edge of a window may come late, and numbers contradict each other
_LATE_SHARE = 0.01
_ODD_SHARE = 0.05
_FEWEST_SAMPLES = 100

# how a side words that it was the other one, or we, that ended
_ECHOES = ("the sender closed it", "Connection reset", "Broken pipe", "orchestrator is gone")


def judge(
    error: CopycostError, sides: Sequence[RunningSide], *, over_wire: bool = False
) -> WithRemedy:
    """Return why a repetition ended without a measurement; all sides have ended by now.

    The error is what was noticed first; often one side's end is only the echo of the other's. Over
    a wire a firewall may be between them.
    """
    during = error.during if isinstance(error, SideEnded) else "drain"
    if death := _sudden_death(sides, during, hung=isinstance(error, SideSilent)):
        return death
    if isinstance(error, SideEnded):
        first = next(side for side in sides if side.name == error.name)
        if first.exit_code == 0:  # perf gave up, and its program only then
            what = f"what ran the {first.name} ended too early, with exit status 0"
            return AttemptFailed(f"{what}, during the {during}: {first.errors()}", AGAIN)
        culprit = _culprit(sides, error.name)
        if over_wire and _KEPT_OUT.search(culprit.last_words):
            reason = f"{culprit.last_words} (during the {during})"
            return AttemptFailed(reason, f"{_FIREWALL}, then {AGAIN}")
        return _exited(culprit, during)
    if isinstance(error, SideSilent):
        said = next((f", saying {line!r}" for side in sides for line in side.errors()[-1:]), "")
        return AttemptFailed(f"{error}{said}", f"look for an overloaded host, then {AGAIN}")
    return AttemptFailed(str(error), AGAIN)


def unexplained(sides: Sequence[RunningSide]) -> bool:
    """Return whether no side says why it ended, as where one was stopped for a while under perf.

    perf takes such a stop for the end of its program, and ends it. To be asked when all have ended.
    """
    by_itself = all(side.ended_by_signal() is None and not _says_why(side) for side in sides)
    return by_itself and any(side.under_perf and not side.program.output() for side in sides)


def _says_why(side: RunningSide) -> bool:
    return bool(side.last_words) and not any(mark in side.last_words for mark in _ECHOES)


def require_success(sides: Sequence[RunningSide]) -> None:
    """Refuse what sides left whose ends are no success."""
    wrong: WithRemedy | None = _sudden_death(sides, "drain", hung=False)
    if wrong is None and any(side.exit_code != 0 for side in sides):
        wrong = _exited(_culprit(sides, None), "drain")
    if wrong is not None:
        again = unexplained(sides)
        raise UnexplainedEnd(wrong.reason, wrong.remedy) if again else wrong


def require_windows(reports: Mapping[SideName, Mapping[str, Any]]) -> None:
    """Refuse, as missed, a side's window that is not the one that was planned."""
    for name, report in reports.items():
        window = report["window"]
        planned_s = (window["planned_end_ns"] - window["planned_start_ns"]) / 1e9
        late_s = _latest_edge_s(window)
        if late_s > _LATEST_EDGE_SHARE * planned_s:
            raise MissedWindow(
                f"an edge of the {name}'s window came {late_s * 1e3:.3g} ms late, where the window"
                f" is {planned_s * 1e3:.3g} ms long: its bytes and perf's counts are not of the"
                " same time",
                "make measure.duration_s longer or n_threads smaller, or run as root, then "
                + AGAIN,
            )


def require_traffic(reports: Mapping[SideName, Mapping[str, Any]], interval_ns: int) -> None:
    """Refuse, as missed, a window whose traffic is no measurement.

    From one request to the next it takes an interval; 0 where they follow replies, or there are
    none.
    """
    sender = reports["sender"]
    far_end = reports.get("receiver", sender)
    window, made = sender["window"], sender["in_window"]
    window_s = window_ns(sender) / 1e9
    if far_end["in_window"]["bytes"] == 0 and sender["total"]["bytes"] > 0:
        reason = f"nothing arrived in the window of {window_s:.3g} s, so slow was the traffic"
        raise MissedWindow(reason, f"make measure.duration_s longer, then {AGAIN}")
    if interval_ns == 0:
        return
    per_s = len(sender["threads"]) / (interval_ns / 1e9)
    n_due, n_made = round(window_s * per_s), made["messages"]
    n_first = made["first_half_bytes"] / sender["options"]["msg_bytes"]
    first_s = (window["half_ns"] - window["start_ns"]) / 1e9
    behind_s = first_s - n_first / per_s, window_s - first_s - (n_made - n_first) / per_s
    if min(behind_s) > _FARTHEST_BEHIND_S:
        raise MissedWindow(
            f"of {n_due} requests that were due in the window only {n_made} were made: round trips"
            f" take longer than the interval of {interval_ns / 1e3:g} us, so that each request"
            " waits for all those before it, and its time tells how long that went on",
            f"make measure.interval_us longer, or 0, then {AGAIN}",
        )


def _culprit(sides: Sequence[RunningSide], first: SideName | None) -> RunningSide:
    """Return the side that failed by itself: one side's end soon ends the other."""

    def innocence(side: RunningSide) -> tuple[bool, bool, bool]:
        return side.exit_code == 0, not _says_why(side), side.name != first

    return min(sides, key=innocence)


def _sudden_death(
    sides: Sequence[RunningSide], during: Phase, *, hung: bool
) -> AttemptFailed | None:
    """Return that a side was killed, if one was; a side that hung is mute too."""
    out_of_memory = f"look for the out-of-memory killer in dmesg, then {AGAIN}"
    for side in sides:
        number = side.ended_by_signal()
        if number is not None:
            its_perf = side.under_perf and side.exit_code < 0
            who = f"perf around the {side.name}" if its_perf else f"the {side.name}"
            reason = f"{who} was killed by {signal.Signals(number).name} during the {during}"
            return AttemptFailed(reason, out_of_memory if number == signal.SIGKILL else AGAIN)
    for side in sides:
        # perf does not always tell that its program was killed, which alone leaves neither a result
        # nor a reason; whom we killed did not listen when he was told to end, which says nothing
        mute = not side.program.output() and not side.last_words
        if mute and not hung and not side.program.killed and side.exit_code <= 0:
            reason = f"the {side.name} died without a word during the {during}"
            return AttemptFailed(reason, out_of_memory)
    return None


def _exited(side: RunningSide, during: Phase) -> WithRemedy:
    code = side.exit_code
    said = side.last_words or f"the {side.name} said nothing"
    known = next((remedy for mark, remedy in _REMEDIES if mark in said), None)
    if code == EXIT_UNAVAILABLE:
        return Unavailable(said, known or "take this implementation out of config.yaml")
    if code == EXIT_USAGE:
        known = "change config.yaml to values that the program takes"
    return AttemptFailed(f"{said} (exit status {code}, during the {during})", known or AGAIN)


def own_disturbances(
    sender: Mapping[str, Any],
    receiver: Mapping[str, Any] | None,
    sink: Mapping[str, int] | None,
    unknown_peers: str = "",
) -> list[Disturbance]:
    """Return warnings about a measured window, by what the programs printed.

    `unknown_peers` tells who else came to the sender's port; '' for nobody.
    """
    found = [disturbance("unknown_peers", unknown_peers)] if unknown_peers else []
    late_s = max(_late_s(side["window"]) for side in (sender, receiver) if side is not None)
    if late_s > _LATE_SHARE * window_ns(sender) / 1e9:
        detail = f"an edge of the window came {late_s * 1e3:.1f} ms late"
        found.append(disturbance("window_edge_late", detail))
    round_trip = sender["round_trip"]
    samples = (round_trip or sender["service_time"])["samples"]
    if samples < _FEWEST_SAMPLES:
        detail = f"{samples} round trips were made in the window, too few for their p99"
        if round_trip is None:
            sampled = f"{samples} service times were sampled in the window"
            detail = f"{sampled}, so that p99 rests on the slowest one"
        found.append(disturbance("few_messages", detail))
    if sink is not None and sink["lost_before_hook"]:
        lost, sent = sink["lost_before_hook"], sink["sent_datagrams"]
        detail = f"{lost} of {sent} datagrams were lost before the hook that drops them"
        found.append(disturbance("sink_loss", detail))
    return found


def _latest_edge_s(window: Mapping[str, Any]) -> float:
    """Return by how much the later edge of a side's window, as it printed it, came too late [s].

    An edge is over when the counts are taken and perf is switched, which comes first at the start
    and last at the end.
    """
    end_ns: int = window["end_ns"] + (window["perf_disable_ns"] or 0)
    start_ns: int = window["start_ns"]
    late_ns: int = max(start_ns - window["planned_start_ns"], end_ns - window["planned_end_ns"])
    return late_ns / 1e9


def _late_s(window: Mapping[str, Any]) -> float:
    """Return by how much a side was late itself, and not perf [s].

    What perf takes to be switched counts as well where its counts no longer stand for the window.
    """
    if not counted_off_window(window):
        start_ns = window["start_ns"] - (window["perf_enable_ns"] or 0)
        window = {**window, "start_ns": start_ns, "perf_disable_ns": None}
    return _latest_edge_s(window)


def odd_numbers(cell: Cell, sides: Mapping[SideName, Mapping[str, Any]]) -> list[Disturbance]:
    """Return the warning that numbers of a window were not read at one moment, if it shows.

    Between two looks a program may have to wait for a CPU while its threads go on.
    """
    found = []
    sender = sides["sender"]
    n_bytes, messages = sender["in_window"]["bytes"], sender["in_window"]["messages"]
    # what a thread has under way at an edge is counted in one of them: a batch, and the ring
    under_way = cell.n_threads * cell.batch + sender["ring"]["messages"]
    if abs(n_bytes - messages * cell.msg_bytes) > under_way * cell.msg_bytes:
        found.append(f"{messages} messages of {cell.msg_bytes} bytes are {n_bytes} bytes")
    for name, side in sides.items():
        # io_uring has threads of the kernel besides, which count with the process: one per thread
        with_kernel = "uring" in (cell.strategy if name == "sender" else cell.receiver)
        n_cpus = cell.n_threads * (2 if with_kernel else 1)
        cpu_ns, most_ns = side["process"]["cpu_ns"], n_cpus * window_ns(side)
        if cpu_ns > most_ns * (1 + _ODD_SHARE):
            found.append(
                f"the {name} used {cpu_ns / 1e6:.1f} ms of CPU time, and its CPUs had"
                f" {most_ns / 1e6:.1f} ms"
            )
    return [disturbance("odd_numbers", "; ".join(found))] if found else []
