"""``perf record`` beside a measurement: attached to all parties, it samples in the window only."""

import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from copycost.errors import CannotStart, HostError, ParseError
from copycost.hosts.host import AtEdges, Host, stream
from copycost.hosts.local import LocalHost
from copycost.hosts.side import PARTIES, REFERENCES, Side, hypervisor_of, rest_of_guest
from copycost.observers.hypervisor import kernel_threads_of
from copycost.observers.protocol import WindowObserver
from copycost.observers.sampled_parties import besides, of_hypervisor
from copycost.observers.sampling_access import SamplingPlan, alike, is_privileged
from copycost.perf.command import (
    DATA,
    AttachedPerf,
    record_attached,
)
from copycost.perf.stacks import OfThread, Sampled, Stacks, read_samples
from copycost.testbeds.testbed import Guest, Testbed

# perf reads the maps of all processes that it attaches to before it listens; on a loaded host that
# takes its time, and longer with the threads or processes of further streams
_ATTACH_S = 1.5
_FURTHER_STREAM_S = 0.8
# an emulated guest starts perf some ten times as slowly
_IN_GUESTS_S = 10.0
_READY_TIMEOUT_S = 20.0
_END_TIMEOUT_S = 30.0
# per CPU; holds a window's samples, so that perf itself sleeps through the window
_BUFFER = "4M"
_FIELDS = "comm,pid,tid,time,period,event,ip,sym,dso"


@dataclass(frozen=True, slots=True)
class _Target:
    """What one perf is to sample: processes by party, on a host.

    `rest` is the party that all else there is; None where only the processes are sampled.
    `of_thread` is what becomes of stacks by their thread.
    """

    host: Host
    pids: Mapping[str, Sequence[int]]
    plan: SamplingPlan
    rest: str | None = None
    of_thread: OfThread | None = None


@dataclass(frozen=True, slots=True)
class _Recording:
    """A perf that samples the parties of one machine."""

    target: _Target
    perf: AttachedPerf

    def read(self) -> Sampled:
        """Return its samples once it has ended; HostError or ParseError where there are none."""
        command = [
            *(self.target.plan.path, "script", "--input", self.perf.program.file_path(DATA)),
            *("--fields", _FIELDS),
            # inlined functions would be looked up in debug data, of which the kernel has none
            *("--no-inline", "--show-lost-events"),
        ]
        with stream(self.target.host, command) as lines:
            return read_samples(lines, "perf script", self.target.of_thread)

    def parties(self, sampled: Sampled) -> dict[str, Stacks]:
        """Return the stacks of each party."""
        pids = self.target.pids
        found = {party: sampled.of(its_pids) for party, its_pids in pids.items()}
        if self.target.rest is not None:
            known = {pid for its_pids in pids.values() for pid in its_pids}
            found[self.target.rest] = besides(sampled, {*known, self.perf.program.pid})
        return found

    def failure_at_end(self) -> str | None:
        """Wait until perf has written its file; return why there is none."""
        code = self.perf.program.wait(_END_TIMEOUT_S)
        if code is None:
            return f"perf record did not end within {_END_TIMEOUT_S:g} s"
        if code not in (0, -signal.SIGINT, 128 + signal.SIGINT):
            said = _last_line(self.perf.program.errors())
            return f"perf record ended with exit status {code}: {said}"
        return None


class Sampler(WindowObserver):
    """Samples the call stacks of both sides in the window, by a perf on each machine.

    Where sides run in guests, each guest is sampled as a whole, and its hypervisor on this machine.
    `plan_of` returns how to call perf for a side, or for what runs on this machine (None), or
    raises Unavailable; it attaches to the processes or threads of so many connections. `failure` is
    why there are no samples, once that is known.
    """

    name = "sampling"
    takes_any_traffic = True
    takes_both = True
    _machine: LocalHost

    def __init__(
        self,
        plan_of: Callable[[Side | None], SamplingPlan],
        n_threads: int,
        *,
        in_guests: bool = False,
    ) -> None:
        self.attach_s = _ATTACH_S + _FURTHER_STREAM_S * (n_threads - 1)
        if in_guests:
            self.attach_s += _IN_GUESTS_S
        self.failure: str | None = None
        self._plan_of = plan_of
        self._recordings: list[_Recording] = []
        self._guests: Sequence[Guest] = ()
        self._sampled: dict[str, Stacks] = {}

    def open(self, machine: LocalHost) -> None:
        """Note the machine that guests would run on."""
        self._machine = machine

    def prepare(self, testbed: Testbed) -> None:
        """Note the guests; nothing is sampled yet."""
        self.failure = None
        self._sampled.clear()
        self._guests = testbed.guests

    def attach(self, sides: Sequence[Side]) -> None:
        """Attach to the programs of the sides, and to the threads that they make; switched off."""
        try:
            targets = self._targets(sides)
            plans = alike([target.plan for target in targets])
            for target, plan in zip(targets, plans, strict=True):
                self._recordings.append(_start(replace(target, plan=plan)))
        except CannotStart as error:
            self.failure = f"{error.path}: {error.why}"
        except HostError as error:
            self.failure = str(error)
        for one in self._recordings:
            # it is off already; that it answers says that it has attached and listens
            self._require(one, "'disable'", one.perf.listens(_READY_TIMEOUT_S))

    def _targets(self, sides: Sequence[Side]) -> list[_Target]:
        """Return what is to be sampled, machine by machine."""
        found = []
        guests = {id(guest.host.machine): guest for guest in self._guests}
        machines = {id(side.host.machine): side.host.machine for side in sides}
        for key, machine in machines.items():
            there = [side for side in sides if side.host.machine is machine]
            pids: dict[str, Sequence[int]] = {side.party or side.name: side.pids for side in there}
            rest = rest_of_guest(guests[key].sides) if key in guests else None
            found.append(_Target(there[0].host, pids, self._plan_of(there[0]), rest))
        if guests:
            hypervisors = {
                hypervisor_of(guest.sides): (
                    guest.pid,
                    *(int(Path(folder).name) for folder in kernel_threads_of(self._machine, guest)),
                )
                for guest in self._guests
            }
            plan = self._plan_of(None)
            found.append(_Target(self._machine, hypervisors, plan, of_thread=of_hypervisor))
        return found

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[bytes | None]]]:
        """Return what switches the sampling on and off."""
        listening = self._recordings if self.failure is None else ()
        return [(one.target.host, one.perf.switch) for one in listening]

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Have perf write what it has; it is not waited for."""
        for one in self._recordings:
            if self.failure is None:
                self._require(one, "to sample the window", one.perf.was_switched())
            one.perf.program.signal(signal.SIGINT)

    def _require(self, one: _Recording, command: str, done: bool) -> None:
        if not done and self.failure is None:
            one.perf.program.end()
            said = _last_line(one.perf.program.errors())
            self.failure = f"perf record did not take the command {command}: {said}"

    def found(self) -> dict[str, Any]:
        """Return how it was sampled and how much; `stacks` has the rest.

        HostError where there are no samples to be read, and ParseError where perf prints what is
        not known; `failure` then says the same.
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
            self._sampled |= one.parties(sampled)
        plans = [one.target.plan for one in self._recordings]
        return {
            "event": plans[0].event,
            "source": plans[0].source,
            "frequency_hz": plans[0].frequency_hz,
            "call_graph": "fp",
            "perf_version": ", ".join(dict.fromkeys(plan.version for plan in plans)),
            "lost": sum(one.lost for one in read),
            "truncated": any(one.truncated for one in read),
            "sides": {
                side: {"samples": one.samples, "weight": one.weight}
                for side, one in self.stacks.items()
            },
        }

    @property
    def stacks(self) -> dict[str, Stacks]:
        """What was sampled of each party, sides first; nothing before `found`."""
        order = (*PARTIES, *REFERENCES)
        return {party: self._sampled[party] for party in order if party in self._sampled}

    def close(self) -> None:
        """End perf, in whatever state it is; its file goes with it."""
        for one in self._recordings:
            one.perf.close()
        self._recordings.clear()


def _start(target: _Target) -> _Recording:
    """Attach a perf to the parties of one machine."""
    host, plan = target.host, target.plan
    pids = [pid for its_pids in target.pids.values() for pid in its_pids]
    buffer = _BUFFER if is_privileged(host.files) else None
    attached = None if target.rest else pids
    launch = record_attached(plan.path, plan.event, plan.frequency_hz, attached, buffer)
    return _Recording(target, AttachedPerf.start(host, launch, _READY_TIMEOUT_S))


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
