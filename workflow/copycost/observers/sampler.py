"""``perf record`` beside a measurement: attached to all parties, it samples in the window only."""

import re
import signal
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from copycost.config.studies import EventChoice
from copycost.errors import CannotStart, HostError, ParseError, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.host import AtEdges, Host, stream
from copycost.hosts.side import PARTIES, REFERENCES, Side, hypervisor_of, rest_of_guest
from copycost.hosts.testbeds.testbed import Guest, Testbed
from copycost.observers.hypervisor import ThreadKind, kernel_threads_of, kind_of
from copycost.observers.perf.command import DATA, AttachedPerf, record_attached
from copycost.observers.perf.stacks import (
    EMULATOR_MARK,
    HYPERVISOR_MARK,
    KERNEL_MARK,
    OfThread,
    Sampled,
    Stacks,
    Thread,
    read_samples,
)
from copycost.observers.protocol import WindowObserver

# perf's name of the kernel's timer as an event
_TIMER = "cpu-clock"
_KALLSYMS = "proc/kallsyms"
_ALLOW = "run as root, or allow it: sudo sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0"
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
class SamplingPlan:
    """How to call ``perf record`` on this host.

    `event` is perf's name of what makes a sample, ``cycles`` or ``cpu-clock``; `frequency_hz` is
    how many are asked for per second of CPU time.
    """

    path: str
    version: str
    event: str
    frequency_hz: int

    @property
    def source(self) -> Literal["hardware", "timer"]:
        """Whether the processor's counter or the kernel's timer takes the samples."""
        return "timer" if self.event == _TIMER else "hardware"


def plan_sampling(
    host: Mapping[str, Any], event: EventChoice, frequency_hz: int, files: HostFiles
) -> SamplingPlan:
    """Return how to sample both sides on this host.

    The cycle counter is preferred: it also samples where interrupts are switched off, which the
    timer cannot. What the timer would have seen there, it sees where they are switched on again.
    By an event other than ``auto`` it is sampled or not at all.

    Unavailable where perf is missing, or the kernel may not be sampled, or hides where its
    functions are.
    """
    perf = host["perf"]
    if perf["status"] != "available":
        raise Unavailable(perf["reason"] or f"perf is {perf['status']}", perf["remedy"] or _ALLOW)
    if perf["user_only"]:
        raise Unavailable(
            f"the kernel may not be sampled (perf_event_paranoid is {perf['paranoid']})", _ALLOW
        )
    # all that an unprivileged reader sees are zeros, see kallsyms_show_value()
    if not any(re.match(r"0*[1-9a-f]", line) for line in files.lines(_KALLSYMS, 64)):
        raise Unavailable(
            f"the kernel hides where its functions are (kptr_restrict; /{_KALLSYMS} shows zeros)",
            _ALLOW,
        )
    has_cycles = perf["events"].get("cycles", {}).get("status") == "supported"
    if event == "cycles" and not has_cycles:
        raise Unavailable(
            "this processor, or the virtual machine, has no cycle counter to sample by",
            "set profile.event to auto or cpu_clock",
        )
    name = "cycles" if has_cycles and event != "cpu_clock" else _TIMER
    return SamplingPlan(perf["path"], str(perf["version"]), name, frequency_hz)


def is_privileged(files: HostFiles) -> bool:
    """Tell whether perf may use large buffers, which are locked memory."""
    status = files.text("proc/self/status") or ""
    runs_as_root = re.search(r"^Uid:\s+\d+\s+0\s", status, re.MULTILINE) is not None
    inside_and_outside = (files.text("proc/self/uid_map") or "").split()[:2]
    return runs_as_root and inside_and_outside == ["0", "0"]


@dataclass(slots=True)
class _Recording:
    """A perf that samples the parties of one machine: processes by party, on a host.

    `rest` is the party that all else there is; None where only the processes are sampled.
    `of_thread` is what becomes of stacks by their thread.
    """

    host: Host
    pids: Mapping[str, Sequence[int]]
    plan: SamplingPlan
    rest: str | None = None
    of_thread: OfThread | None = None
    perf: AttachedPerf = field(init=False)

    def start(self) -> None:
        """Attach perf, switched off."""
        all_pids = [pid for pids in self.pids.values() for pid in pids]
        launch = record_attached(
            self.plan.path,
            self.plan.event,
            self.plan.frequency_hz,
            None if self.rest else all_pids,
            _BUFFER if is_privileged(self.host.files) else None,
        )
        self.perf = AttachedPerf.start(self.host, launch, _READY_TIMEOUT_S)

    def failure_at_end(self) -> str | None:
        """Wait until perf has written its file; return why there is none."""
        code = self.perf.program.wait(_END_TIMEOUT_S)
        if code is None:
            return f"perf record did not end within {_END_TIMEOUT_S:g} s"
        if code not in (0, -signal.SIGINT, 128 + signal.SIGINT):
            return f"perf record ended with exit status {code}: {self.last_line()}"
        return None

    def last_line(self) -> str:
        """Return what perf said last."""
        lines = [line for line in self.perf.program.errors().splitlines() if line.strip()]
        return lines[-1].strip() if lines else "it said nothing"

    def read(self) -> Sampled:
        """Return its samples once it has ended; HostError or ParseError where there are none."""
        command = [
            *(self.plan.path, "script", "--input", self.perf.program.file_path(DATA)),
            *("--fields", _FIELDS),
            # inlined functions would be looked up in debug data, of which the kernel has none
            *("--no-inline", "--show-lost-events"),
        ]
        with stream(self.host, command) as printed:
            return read_samples(printed, "perf script", self.of_thread)

    def parties(self, sampled: Sampled) -> dict[str, Stacks]:
        """Return the stacks of each party."""
        found = {party: sampled.of(pids) for party, pids in self.pids.items()}
        if self.rest is not None:
            known = {pid for pids in self.pids.values() for pid in pids}
            found[self.rest] = besides(sampled, {*known, self.perf.program.pid})
        return found


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

    def prepare(self, testbed: Testbed) -> None:
        """Note the guests; nothing is sampled yet."""
        self.failure = None
        self._sampled.clear()
        self._guests = testbed.guests

    def attach(self, sides: Sequence[Side]) -> None:
        """Attach to the programs of the sides, and to the threads that they make; switched off."""
        try:
            planned = self._planned(sides)
            same_event = len({one.plan.event for one in planned}) == 1
            for one in planned:
                if not same_event:
                    one.plan = replace(one.plan, event=_TIMER)
                one.start()
                self._recordings.append(one)
        except CannotStart as error:
            self.failure = f"{error.path}: {error.why}"
        except HostError as error:
            self.failure = str(error)
        for one in self._recordings:
            # it is off already; that it answers says that it has attached and listens
            self._require(one, "'disable'", one.perf.listens(_READY_TIMEOUT_S))

    def _planned(self, sides: Sequence[Side]) -> list[_Recording]:
        """Return what is to be sampled, machine by machine."""
        found = []
        guests = {id(guest.host.machine): guest for guest in self._guests}
        machines = {id(side.host.machine): side.host.machine for side in sides}
        for key, machine in machines.items():
            there = [side for side in sides if side.host.machine is machine]
            pids: dict[str, Sequence[int]] = {side.party or side.name: side.pids for side in there}
            rest = rest_of_guest(guests[key].sides) if key in guests else None
            found.append(_Recording(there[0].host, pids, self._plan_of(there[0]), rest))
        if guests:
            here = self._machine
            hypervisors = {
                hypervisor_of(guest.sides): (
                    guest.pid,
                    *(int(Path(folder).name) for folder in kernel_threads_of(here, guest)),
                )
                for guest in self._guests
            }
            plan = self._plan_of(None)
            found.append(_Recording(here, hypervisors, plan, of_thread=of_hypervisor))
        return found

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[bytes | None]]]:
        """Return what switches the sampling on and off."""
        listening = self._recordings if self.failure is None else ()
        return [(one.host, one.perf.switch) for one in listening]

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Have perf write what it has; it is not waited for."""
        for one in self._recordings:
            if self.failure is None:
                self._require(one, "to sample the window", one.perf.was_switched())
            one.perf.program.signal(signal.SIGINT)

    def _require(self, one: _Recording, command: str, done: bool) -> None:
        if not done and self.failure is None:
            one.perf.program.end()
            self.failure = f"perf record did not take the command {command}: {one.last_line()}"

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
        plans = [one.plan for one in self._recordings]
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


_TITLES: dict[ThreadKind, str] = {
    "vcpu": "virtual CPUs",
    "io": "main loop and I/O",
    "vhost": "vhost",
    "worker": "other threads",
}
# ends the name of a virtual CPU's thread where QEMU runs the guest's instructions by itself
_EMULATED = "/TCG"
# the kernel's own threads of a CPU that has nothing to do
_IDLE_PID = 0
# what is in the stack of an interrupt that came while the CPU was idle
_INTERRUPTS = ("interrupt", "sysvec", "softirq", "_irq")


def of_hypervisor(thread: Thread, stack: str) -> str:
    """Return a stack of a hypervisor below its kind of thread, a frame in user mode marked.

    Under an emulator, what a virtual CPU's thread does in user mode is to run the guest.

    QEMU has no frame pointers, and what it translates has none, so callers in user mode are
    invented: of a sample in the kernel the kernel's frames are kept, of another one the innermost.
    """
    kind = kind_of(thread.name, is_first=thread.pid == thread.tid)
    emulates = kind == "vcpu" and thread.name.endswith(_EMULATED)
    mark = EMULATOR_MARK if emulates else HYPERVISOR_MARK
    innermost_first = stack.split(";")[::-1]
    kernel = list(takewhile(lambda frame: frame.endswith(KERNEL_MARK), innermost_first))
    known = kernel or [f"{innermost_first[0]}{mark}"]
    return ";".join((f"{_TITLES[kind]}{mark}", *reversed(known)))


def besides(sampled: Sampled, pids: Collection[int]) -> Stacks:
    """Return what a whole machine did besides some processes, while it was not idle."""
    found = Stacks()
    for pid, stacks in sampled.processes.items():
        if pid not in pids:
            found.add(_interrupts(stacks) if pid == _IDLE_PID else stacks)
    return found


def _interrupts(idle: Stacks) -> Stacks:
    """Return those of the idle task; each sample of the timer has the same weight."""
    weights = Counter(
        {
            stack: weight
            for stack, weight in idle.weights.items()
            if any(word in stack for word in _INTERRUPTS)
        }
    )
    samples = round(idle.samples * weights.total() / idle.weight) if idle.weight else 0
    return Stacks(weights, samples)
