"""How perf is called: around a program, or attached to processes, counting only when switched on.

Source: perf-stat(1) and perf-record(1), options --control, --delay, --json, --log-fd, --pid.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from copycost.hosts.host import AtEdges, Host, Program
from copycost.hosts.program import Launch, file_word, pipe_word

COUNTS, DATA = "perf", "perf_data"
"""The memory files of a launch that perf's counts and its samples go to: none is on any disk."""

# the pipes of a launch: commands to perf, and its acknowledgements
_CONTROL, _ACK = "perf_control", "perf_ack"
_ON, _OFF = b"enable\n", b"disable\n"

# switched off at first, and obeying a pipe
_SWITCHED = (
    *("--delay", "-1"),
    *("--control", f"fd:{pipe_word(_CONTROL, 'read')},{pipe_word(_ACK, 'write')}"),
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
    fds = f"{pipe_word(_CONTROL, 'write')},{pipe_word(_ACK, 'read')}"
    return replace(
        launch,
        words=(*_stat(plan), "--", *launch.words, "--perf-fds", fds),
        files=(*launch.files, COUNTS),
        pipes=(*launch.pipes, _CONTROL, _ACK),
    )


def stat_attached(plan: PerfPlan, pids: Sequence[int]) -> Launch:
    """Return a launch of perf that counts processes which run already."""
    words = (*_stat(plan), "--pid", ",".join(map(str, pids)))
    return Launch(words, plan.path, files=(COUNTS,), pipes=(_CONTROL, _ACK))


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
    return Launch(words, path, files=(DATA,), pipes=(_CONTROL, _ACK))


@dataclass(frozen=True, slots=True)
class AttachedPerf:
    """A perf of ours beside programs that know nothing of it, switched off at first."""

    host: Host
    program: Program
    switch: AtEdges[bytes | None]  # on at the first edge of a window and off at the second

    @classmethod
    def start(cls, host: Host, launch: Launch, timeout_s: float) -> Self:
        """Start it; it may take so long to answer at an edge."""
        program = host.start(launch)
        return cls(host, program, program.ask_at_edges(_CONTROL, _ACK, (_ON, _OFF), timeout_s))

    def listens(self, timeout_s: float) -> bool:
        """Return whether it has attached in time: told to be off, as it is, it acknowledges."""
        return _acknowledged(self.program.ask(_CONTROL, _ACK, _OFF, timeout_s))

    def was_switched(self) -> bool:
        """Return whether it acknowledged both in time."""
        answers = self.switch.edges()
        return len(answers) == 2 and all(map(_acknowledged, answers))

    def close(self) -> None:
        """End it, in whatever state it is."""
        self.program.end()
        self.program.close()


def _acknowledged(answer: bytes | None) -> bool:
    return answer is not None and b"ack" in answer
