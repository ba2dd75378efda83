"""How perf is called: around a program, or attached to processes, counting only when switched on.

Source: perf-stat(1) and perf-record(1), options --control, --delay, --json, --log-fd, --pid.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from copycost.hosts.host import Program
from copycost.hosts.launch import Launch, file_word, pipe_word
from copycost.hosts.window_edges import AtEdges

COUNTS = "perf"
"""The memory file of a launch that perf's counts go to."""

DATA = "perf_data"
"""The memory file of a launch that perf's samples go to: it leaves nothing on any disk."""

CONTROL, ACK = "perf_control", "perf_ack"
"""The pipes of a launch: commands to perf, and its acknowledgements."""

# switched off at first, and obeying a pipe
_SWITCHED = (
    *("--delay", "-1"),
    *("--control", f"fd:{pipe_word(CONTROL, 'read')},{pipe_word(ACK, 'write')}"),
)


@dataclass(frozen=True, slots=True)
class PerfPlan:
    """How to call perf on a host: the program, and the events to ask for by our name and perf's."""

    path: str
    events: dict[str, str]


def plan_perf(facts: Mapping[str, Any], only: Collection[str] | None = None) -> PerfPlan | None:
    """Return how to call perf, from the host facts; None where it is missing or forbidden.

    Events that the host does not support are not asked for: one unknown name would stop perf.
    `only` are our names of the others to ask for; None asks for all.
    """
    perf = facts["perf"]
    supported = {
        name: event["perf_name"]
        for name, event in perf["events"].items()
        if event["status"] == "supported" and (only is None or name in only)
    }
    if perf["status"] != "available" or not supported:
        return None
    return PerfPlan(perf["path"], supported)


def _stat(plan: PerfPlan) -> tuple[str, ...]:
    """Return the words that count; as JSON, so that stdout and stderr are the program's own."""
    return (
        *(plan.path, "stat", "--json", "--log-fd", file_word(COUNTS)),
        *_SWITCHED,
        *("--event", ",".join(plan.events.values())),
    )


def stat_around(plan: PerfPlan, launch: Launch) -> Launch:
    """Return a launch whose program runs under perf and switches it by itself.

    Threads that the program makes are counted too, which is perf's default.
    """
    fds = f"{pipe_word(CONTROL, 'write')},{pipe_word(ACK, 'read')}"
    return replace(
        launch,
        words=(*_stat(plan), "--", *launch.words, "--perf-fds", fds),
        files=(*launch.files, COUNTS),
        pipes=(*launch.pipes, CONTROL, ACK),
    )


def stat_attached(plan: PerfPlan, pids: Sequence[int]) -> Launch:
    """Return a launch of perf that counts processes which run already."""
    words = (*_stat(plan), "--pid", ",".join(map(str, pids)))
    return Launch(words, plan.path, files=(COUNTS,), pipes=(CONTROL, ACK))


def record_attached(
    path: str, event: str, frequency_hz: int, pids: Sequence[int] | None, buffer: str | None
) -> Launch:
    """Return a launch of perf that samples call stacks of processes; None for all on any CPU.

    `buffer` is the memory per CPU, as perf takes sizes; None leaves it at perf's own.
    """
    attached = ("--all-cpus",) if pids is None else ("--pid", ",".join(map(str, pids)))
    words = (
        *(path, "record", "--output", f"/proc/self/fd/{file_word(DATA)}"),
        *("--event", event, "--freq", str(frequency_hz), "--call-graph", "fp"),
        *_SWITCHED,
        *attached,
        *(("--mmap-pages", buffer) if buffer else ()),
        # nobody looks for the programs of this profile later
        *("--no-buildid", "--no-buildid-cache"),
    )
    return Launch(words, path, files=(DATA,), pipes=(CONTROL, ACK))


_ON, _OFF = b"enable\n", b"disable\n"


def switched_off(perf: Program, timeout_s: float) -> bool:
    """Switch a perf of ours off; return whether it acknowledged in time."""
    return _acknowledged(perf.ask(CONTROL, ACK, _OFF, timeout_s))


def on_within_window(perf: Program, timeout_s: float) -> AtEdges[bytes | None]:
    """Return what switches a perf of ours on at the first edge and off at the second."""
    return perf.ask_at_edges(CONTROL, ACK, (_ON, _OFF), timeout_s)


def was_switched(answers: Sequence[bytes | None]) -> bool:
    """Whether it acknowledged both in time."""
    return len(answers) == 2 and all(map(_acknowledged, answers))


def _acknowledged(answer: bytes | None) -> bool:
    return answer is not None and b"ack" in answer
