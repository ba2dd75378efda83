"""``perf record`` beside a measurement: attached to both sides, it samples in the window only."""

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from copycost.errors import CannotStart, HostError, ParseError
from copycost.hosts.edges import AtEdges, plan_on
from copycost.hosts.host import Host, Program
from copycost.hosts.side import Side, SideName
from copycost.observers.protocol import WindowObserver
from copycost.observers.sampling_access import SamplingPlan, alike, is_privileged
from copycost.perf.command import DATA, record_attached
from copycost.perf.script import Sampled, Stacks, read_samples
from copycost.perf.switch import on_within_window, switched_off, was_switched

# perf reads the maps of all processes that it attaches to before it listens; on a loaded host that
# takes its time, and longer with the threads or processes of further streams
_ATTACH_S = 1.5
_FURTHER_STREAM_S = 0.8
_READY_TIMEOUT_S = 10.0
_END_TIMEOUT_S = 30.0
# per CPU; holds a window's samples, so that perf itself sleeps through the window
_BUFFER = "4M"
_FIELDS = "comm,pid,tid,time,period,event,ip,sym,dso"


@dataclass(frozen=True, slots=True)
class _Recording:
    """A perf that samples the sides of one machine.

    Attributes
    ----------
    plan
        How it was called.
    host
        Where it runs.
    pids
        What it is attached to, by side.
    perf
        It.
    switch
        What switches it on and off.
    """

    plan: SamplingPlan
    host: Host
    pids: Mapping[SideName, Sequence[int]]
    perf: Program
    switch: AtEdges[bytes | None]

    def read(self) -> Sampled:
        """Return its samples once it has ended; HostError or ParseError where there are none."""
        command = [
            *(self.plan.path, "script", "--input", self.perf.file_path(DATA)),
            *("--fields", _FIELDS),
            # inlined functions would be looked up in debug data, of which the kernel has none
            *("--no-inline", "--show-lost-events"),
        ]
        with self.host.stream(command) as lines:
            return read_samples(lines, "perf script")

    def failure_at_end(self) -> str | None:
        """Wait until perf has written its file; return why there is none."""
        code = self.perf.wait(_END_TIMEOUT_S)
        if code is None:
            return f"perf record did not end within {_END_TIMEOUT_S:g} s"
        if code not in (0, -signal.SIGINT, 128 + signal.SIGINT):
            said = _last_line(self.perf.errors())
            return f"perf record ended with exit status {code}: {said}"
        return None


class Sampler(WindowObserver):
    """Samples the call stacks of both sides in the window, by a perf on each machine.

    Parameters
    ----------
    plan_of
        Returns how to call perf for a side; Unavailable where it cannot be sampled.
    n_threads
        Connections whose processes or threads it attaches to [count].

    Attributes
    ----------
    failure : str or None
        Why there are no samples, once that is known.
    """

    name = "sampling"
    takes_any_traffic = True

    def __init__(self, plan_of: Callable[[Side], SamplingPlan], n_threads: int) -> None:
        self.attach_s = _ATTACH_S + _FURTHER_STREAM_S * (n_threads - 1)
        self.failure: str | None = None
        self._plan_of = plan_of
        self._recordings: list[_Recording] = []
        self._sampled: dict[SideName, Stacks] = {}

    def attach(self, sides: Sequence[Side]) -> None:
        """Attach to the programs of the sides, and to the threads that they make; switched off."""
        machines = {id(side.host.machine): side.host.machine for side in sides}
        there = [[one for one in sides if one.host.machine is it] for it in machines.values()]
        plans = alike([self._plan_of(on_it[0]) for on_it in there])
        try:
            for on_it, plan in zip(there, plans, strict=True):
                self._recordings.append(_start(plan, on_it))
        except CannotStart as error:
            self.failure = f"{error.path}: {error.why}"
        except HostError as error:
            self.failure = str(error)
        for one in self._recordings:
            # it is off already; that it answers says that it has attached and listens
            self._require(one, "'disable'", switched_off(one.perf, _READY_TIMEOUT_S))

    def window_planned(self, start_ns: int, end_ns: int) -> None:
        """Have the sampling switched on and off."""
        for one in self._recordings:
            plan_on(one.host, one.switch, start_ns, end_ns)

    def window_begins(self) -> None:
        """Switch it on."""
        self._edge()

    def window_ends(self) -> None:
        """Switch it off."""
        self._edge()

    def _edge(self) -> None:
        if self.failure is None:
            for one in self._recordings:
                one.switch.edge()

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Have perf write what it has; it is not waited for."""
        for one in self._recordings:
            if self.failure is None:
                self._require(one, "to sample the window", was_switched(one.switch.edges()))
            one.perf.signal(signal.SIGINT)

    def _require(self, one: _Recording, command: str, done: bool) -> None:
        if not done and self.failure is None:
            one.perf.end()
            said = _last_line(one.perf.errors())
            self.failure = f"perf record did not take the command {command}: {said}"

    def found(self) -> dict[str, Any]:
        """Return how it was sampled and how much; `stacks` has the rest.

        Raises
        ------
        HostError
            If there are no samples to be read; `failure` then says the same.
        ParseError
            If perf prints what is not known.
        """
        for one in self._recordings:
            self.failure = self.failure or one.failure_at_end()
        if self.failure is not None:
            raise HostError(self.failure)
        try:
            read = [one.read() for one in self._recordings]
        except (HostError, ParseError) as error:
            self.failure = str(error)
            raise
        for one, sampled in zip(self._recordings, read, strict=True):
            self._sampled |= {side: sampled.of(pids) for side, pids in one.pids.items()}
        plan = self._recordings[0].plan
        return {
            "event": plan.event,
            "source": plan.source,
            "frequency_hz": plan.frequency_hz,
            "call_graph": "fp",
            "perf_version": ", ".join(dict.fromkeys(one.plan.version for one in self._recordings)),
            "lost": sum(one.lost for one in read),
            "truncated": any(one.truncated for one in read),
            "sides": {
                side: {"samples": one.samples, "weight": one.weight}
                for side, one in self.stacks.items()
            },
        }

    @property
    def stacks(self) -> dict[SideName, Stacks]:
        """What was sampled of each side; nothing before `found`."""
        return dict(self._sampled)

    def close(self) -> None:
        """End perf, in whatever state it is; its file goes with it."""
        for one in self._recordings:
            one.perf.end()
            one.perf.close()
        self._recordings.clear()


def _start(plan: SamplingPlan, sides: Sequence[Side]) -> _Recording:
    """Attach a perf to the sides of one machine."""
    host = sides[0].host
    pids = {side.name: side.pids for side in sides}
    perf = host.start(
        record_attached(
            plan.path,
            plan.event,
            plan.frequency_hz,
            [pid for some in pids.values() for pid in some],
            _BUFFER if is_privileged(host.files) else None,
        )
    )
    return _Recording(plan, host, pids, perf, on_within_window(perf, _READY_TIMEOUT_S))


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
