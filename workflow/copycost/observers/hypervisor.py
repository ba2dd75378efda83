"""What guests cost over the window: their hypervisor's threads, and what they say themselves.

Each guest is a process on this machine. Its threads are told apart by their names, which QEMU gives
them with ``-name debug-threads=on`` ("CPU %d/KVM" in accel/kvm/kvm-accel-ops.c, "CPU %d/TCG" and
"ALL CPUs/TCG" in accel/tcg/tcg-accel-ops-*.c, "IO %s" in iothread.c). vhost-net works in threads
that the kernel names "vhost-PID" (drivers/vhost/vhost.c): threads of the process since Linux 6.4,
before that tasks of the kernel's own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args

from copycost.errors import HostError
from copycost.hosts.host import AtEdges, Host, Reader
from copycost.hosts.local import LocalHost
from copycost.hosts.parsing import Counters
from copycost.hosts.processes import PATH as STAT
from copycost.hosts.processes import (
    CpuTimes,
    ThreadTimes,
    Usage,
    cpu_times_at,
    paths_of,
    ticks_of,
    times_of,
    usage_of,
)
from copycost.hosts.testbeds.testbed import Guest, Testbed
from copycost.hosts.window_edges import DoneHere
from copycost.observers.protocol import WindowObserver

ThreadKind = Literal["vcpu", "io", "vhost", "worker"]
THREAD_KINDS: tuple[ThreadKind, ...] = get_args(ThreadKind)
"""What a hypervisor's threads do: run the virtual CPUs; run the main loop, which emulates devices,
and I/O threads; copy for vhost in the kernel; anything else."""

_VCPU = re.compile(r"(?:CPU \d+|ALL CPUs)/(\w+)")


def kind_of(name: str, *, is_first: bool) -> ThreadKind:
    """Return what a thread does, by its name; the first thread of QEMU runs its main loop."""
    if _VCPU.fullmatch(name):
        return "vcpu"
    if is_first or name.startswith("IO "):
        return "io"
    return "vhost" if name.startswith("vhost-") else "worker"


class _Watched:
    """A guest, its hypervisor's lasting threads, and the files that tell of them.

    HostError, also at the edges, where the hypervisor's process is gone, or names no thread as that
    of a virtual CPU.
    """

    def __init__(self, machine: LocalHost, guest: Guest) -> None:
        self._guest = guest
        self._machine = machine
        self._inside = guest.host.reader([STAT])
        self._process = f"proc/{guest.pid}/stat"
        with self._alive():
            self._accelerator, self._folders = _threads_of(machine, guest)
            self._kernels = kernel_threads_of(machine, guest)
            lasting = [folder for folders in self._folders.values() for folder in folders]
            paths = [self._process, *paths_of([*lasting, *self._kernels])]
            self._outside = machine.reader(paths)
        self._usage = DoneHere([lambda: usage_of([guest.pid])] * 2)

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[Any]]]:
        """Return what reads the guest's account, its threads' and its process's."""
        here = [(self._machine, done) for done in (self._outside, self._usage)]
        return [(self._guest.host, self._inside), *here]

    def edge(self) -> None:
        """Read them."""
        with self._alive():
            for _, done in self.at_edges():
                done.edge()

    @contextmanager
    def _alive(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = f"process {self._guest.pid}, the hypervisor of {self._guest.name}"
            raise HostError(f"{what}, has ended") from error

    def found(self) -> dict[str, Any]:
        """Return the record's entry, after the second edge."""
        begin, end = cpu_times_at(self._inside.edges(), self._guest.host.constant("SC_CLK_TCK"))
        (begin_ns, first), (end_ns, last) = self._outside.edges()
        before, after = map(self._threads, (first, last), self._usage.edges())
        threads: dict[ThreadKind, dict[str, int | None]] = {}
        for kind in THREAD_KINDS:
            used = after[kind] - before[kind]
            # a worker takes the account of how long it waited with it when it ends
            waiting_ns = None if kind == "worker" else used.waiting_ns
            threads[kind] = {**_not_below_0(used, _OF_THREADS), "waiting_ns": waiting_ns}
        return {
            "name": self._guest.name,
            "sides": list(self._guest.sides),
            "accelerator": self._accelerator,
            "vcpu_threads": len(self._folders["vcpu"]),
            "inside": _times_entry(end - begin),
            "window_ns": end_ns - begin_ns,
            "threads": threads,
        }

    def _threads(self, texts: Mapping[str, str], usage: Usage) -> dict[ThreadKind, ThreadTimes]:
        """Return what each kind has used by one edge.

        Workers come and go, so theirs is what the process has used beyond the threads that last.
        """
        ticks_per_s = self._machine.constant("SC_CLK_TCK")
        threads: dict[ThreadKind, ThreadTimes] = {
            kind: times_of(folders, texts, ticks_per_s) for kind, folders in self._folders.items()
        }
        known = sum(threads.values(), ThreadTimes())
        ticks = ticks_of(texts[self._process], ticks_per_s)
        threads["worker"] = ThreadTimes(usage.cpu_ns, known.waiting_ns, *ticks) - known
        threads["vhost"] += times_of(self._kernels, texts, ticks_per_s)
        return threads

    def close(self) -> None:
        """Close the files."""
        self._inside.close()
        self._outside.close()


def _threads_of(machine: LocalHost, guest: Guest) -> tuple[str, dict[ThreadKind, list[str]]]:
    """Return what runs the virtual CPUs, and the folders in /proc of lasting threads, by kind."""
    accelerator = None
    found: dict[ThreadKind, list[str]] = {"vcpu": [], "io": [], "vhost": []}
    for path in machine.files.glob(f"proc/{guest.pid}/task/*/comm"):
        folder = path.parent
        name = machine.files.text(str(path)) or ""
        kind = kind_of(name, is_first=folder.name == str(guest.pid))
        if vcpu := _VCPU.fullmatch(name):
            accelerator = vcpu[1].lower()
        if kind in found:
            found[kind].append(str(folder))
    if accelerator is None:
        raise HostError(
            f"no thread of process {guest.pid}, the hypervisor of {guest.name}, is named as that of"
            " a virtual CPU; start QEMU with -name NAME,debug-threads=on"
        )
    return accelerator, found


def kernel_threads_of(machine: LocalHost, guest: Guest) -> list[str]:
    """Return the folders of the kernel's own tasks that work for a guest, before Linux 6.4."""
    tasks = machine.files.glob("proc/[0-9]*/comm")
    wanted = f"vhost-{guest.pid}"
    return [str(path.parent) for path in tasks if machine.files.text(str(path)) == wanted]


class Hypervisor(WindowObserver):
    """Looks at the guests from both sides, and at the whole machine; without guests, at nothing."""

    name = "hypervisor"

    def __init__(self) -> None:
        self._stat: Reader | None = None
        self._watched: list[_Watched] = []

    def prepare(self, testbed: Testbed) -> None:
        """Find the threads; HostError if a hypervisor does not name its threads, or is gone."""
        if testbed.guests:
            self._stat = self._machine.reader([STAT])
        for guest in testbed.guests:
            self._watched.append(_Watched(self._machine, guest))

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[Any]]]:
        """Return what reads the guests' accounts, and the machine's."""
        for one in self._watched:
            yield from one.at_edges()
        if self._stat is not None:
            yield self._machine, self._stat

    def edge(self) -> None:
        """Read them, and notice a hypervisor that has ended."""
        for one in self._watched:
            one.edge()
        if self._stat is not None:
            self._stat.edge()

    def found(self) -> dict[str, Any] | None:
        """Return the record's entry."""
        if self._stat is None:
            return None
        begin, end = cpu_times_at(self._stat.edges(), self._machine.constant("SC_CLK_TCK"))
        return {
            "machine": _times_entry(end - begin),
            "guests": [one.found() for one in self._watched],
        }

    def close(self) -> None:
        """Close the files."""
        for one in self._watched:
            one.close()
        self._watched = []
        if self._stat is not None:
            self._stat.close()
            self._stat = None


_OF_MACHINES = ("busy_ns", "softirq_ns", "steal_ns")
_OF_THREADS = ("cpu_ns", "user_ns", "kernel_ns", "guest_ns")


def _times_entry(used: CpuTimes) -> dict[str, int]:
    return {"window_ns": used.at_ns, **_not_below_0(used, _OF_MACHINES)}


def _not_below_0(used: Counters, names: Sequence[str]) -> dict[str, int]:
    """Return differences of accounts whose parts are rounded, or brought up to date, by themselves.

    An idle machine's may come out below 0, a worker's too, and what a hypervisor tells of steal
    time may go back when it moves a guest.
    """
    return {name: max(0, getattr(used, name)) for name in names}
