"""Limits of the senders' CPU: a control group's quota, or `cpulimit`, which stops and continues."""

import signal
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any, Literal

from copycost.errors import Unavailable
from copycost.hosts.cgroups import CpuGroup, Throttling, throttling_of
from copycost.hosts.host import Host, Program, Reader
from copycost.hosts.program import Launch
from copycost.hosts.side import Side
from copycost.observers.protocol import WindowObserver
from copycost.testbeds.testbed import Testbed

LimiterKind = Literal["cgroup", "cpulimit"]

_END_TIMEOUT_S = 1.0


class CpuLimit(WindowObserver):
    """Holds the senders within a share of a CPU, from before the warm-up to after the window.

    All of them together may use `offered_percent` of one CPU. Where that is all that they can use
    (`whole`), they are not held back: a quota of a whole CPU costs a process that needs all of it
    some per cent, lost between the periods.
    """

    name = "cpu_limit"
    takes_any_traffic = True
    _limit: "_Group | _Signals"

    def __init__(self, kind: LimiterKind, offered_percent: float, *, whole: bool) -> None:
        self.stops_programs = kind == "cpulimit"
        self._kind = kind
        self._offered_percent = offered_percent
        self._whole = whole
        self._stack = ExitStack()
        self._throttled: Throttling | None = None

    def prepare(self, testbed: Testbed) -> None:
        """Prepare the limiter; Unavailable if the senders' machine, or our rights, allow none."""
        self._held = True
        machine = testbed.hosts["sender"].machine
        limit_percent = None if self._whole else self._offered_percent
        if self._kind == "cgroup":
            group = self._stack.enter_context(machine.cpu_group(limit_percent))
            self._limit = _Group(machine, group)
            self._stack.callback(self._limit.close)
            return
        path = machine.find_tool("cpulimit")
        if path is None:
            raise Unavailable(
                f"cpulimit was not found on {machine.name}",
                "install the package cpulimit there, or set cpu_budget.limiters to [cgroup]",
            )
        self._limit = _Signals(path, limit_percent)
        self._stack.callback(self._limit.release)

    def attach(self, sides: Sequence[Side]) -> None:
        """Begin to limit the senders."""
        for side in sides:
            if side.name == "sender":
                self._limit.limit(side.host, side.pids)

    def at_edges(self) -> Iterable[tuple[Host, Reader]]:
        """Return what notes how often it held back so far."""
        return self._limit.at_edges()

    def edge(self) -> None:
        """Note that, and whether the limiter is alive."""
        super().edge()
        self._held = self._held and self._limit.alive()

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Let the senders come to their end."""
        self._limit.release()
        self._throttled = self._limit.throttled()

    def found(self) -> dict[str, Any]:
        """Return the record's entry about the limiter."""
        return {
            "kind": self._limit.description,
            "offered_percent": self._offered_percent,
            "held": self._held,
            "throttled": None if self._throttled is None else asdict(self._throttled),
        }

    def close(self) -> None:
        """Leave nothing of the limiter behind."""
        self._stack.close()


class _Group:
    """The quota of a control group."""

    def __init__(self, machine: Host, group: CpuGroup) -> None:
        self.description = f"cgroup v{group.version}"
        self._machine = machine
        self._group = group
        self._path = str(group.stat_path.relative_to("/"))
        self._stat = machine.reader([self._path])

    def limit(self, host: Host, pids: Sequence[int]) -> None:
        self._group.add(pids)

    def at_edges(self) -> Iterable[tuple[Host, Reader]]:
        return [(self._machine, self._stat)]

    def throttled(self) -> Throttling | None:
        before, after = (
            throttling_of(text[self._path], self._group.version) for _, text in self._stat.edges()
        )
        return after - before

    def alive(self) -> bool:
        return True

    def release(self) -> None:
        self._group.release()

    def close(self) -> None:
        self._stat.close()


class _Signals:
    """A `cpulimit` for each process, with an equal share."""

    description = "cpulimit"

    def __init__(self, path: str, limit_percent: float | None) -> None:
        self._path = path
        self._limit_percent = limit_percent
        self._helpers: list[Program] = []
        self._limited: list[tuple[Host, int]] = []

    def limit(self, host: Host, pids: Sequence[int]) -> None:
        if self._limit_percent is None:
            return
        # it refuses more than the CPUs of the host, which is no limit for a process anyway
        most = 100 * host.constant("SC_NPROCESSORS_ONLN")
        share = min(max(1, round(self._limit_percent / len(pids))), most)
        for pid in pids:
            self._limited.append((host, pid))
            words = (self._path, "--lazy", "--limit", str(share), "--pid", str(pid))
            self._helpers.append(host.start(Launch(words, self._path)))

    def at_edges(self) -> Iterable[tuple[Host, Reader]]:
        return ()

    def throttled(self) -> Throttling | None:
        return None  # it does not tell

    def alive(self) -> bool:
        return all(helper.exit_code is None for helper in self._helpers)

    def release(self) -> None:
        """Stop limiting; a process that was just stopped goes on."""
        for helper in self._helpers:
            helper.signal(signal.SIGTERM)
        for helper in self._helpers:
            helper.wait(_END_TIMEOUT_S)
            helper.end()
            helper.close()
        for host, pid in self._limited:
            host.signal([pid], signal.SIGCONT)
        self._helpers.clear()
        self._limited.clear()
