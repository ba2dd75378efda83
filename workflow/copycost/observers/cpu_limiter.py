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
from copycost.hosts.testbeds.testbed import Testbed
from copycost.observers.protocol import WindowObserver

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

    def __init__(self, kind: LimiterKind, offered_percent: float, *, whole: bool) -> None:
        self.stops_programs = kind == "cpulimit"
        self._offered_percent = offered_percent
        self._limit_percent = None if whole else offered_percent
        self._stack = ExitStack()
        self._group: CpuGroup | None = None
        self._path = ""  # of the group's account of the time that it held back, or of cpulimit
        self._throttled: Throttling | None = None
        # a cpulimit for each process, with an equal share
        self._helpers: list[Program] = []
        self._limited: list[tuple[Host, int]] = []

    def prepare(self, testbed: Testbed) -> None:
        """Prepare the limiter; Unavailable if the senders' machine, or our rights, allow none."""
        self._held = True
        self._host = testbed.hosts["sender"].machine
        if not self.stops_programs:
            self._group = self._stack.enter_context(self._host.cpu_group(self._limit_percent))
            self._path = str(self._group.stat_path.relative_to("/"))
            self._stat = self._host.reader([self._path])
            self._stack.callback(self._stat.close)
            return
        path = self._host.find_tool("cpulimit")
        if path is None:
            raise Unavailable(
                f"cpulimit was not found on {self._host.name}",
                "install the package cpulimit there, or set cpu_budget.limiters to [cgroup]",
            )
        self._path = path
        self._stack.callback(self._release)

    def attach(self, sides: Sequence[Side]) -> None:
        """Begin to limit the senders."""
        sender = next(side for side in sides if side.name == "sender")
        if self._group is not None:
            self._group.add(sender.pids)
        elif self._limit_percent is not None:
            # cpulimit refuses more than the CPUs of the host, no limit for a process anyway
            most = 100 * sender.host.constant("SC_NPROCESSORS_ONLN")
            share = min(max(1, round(self._limit_percent / len(sender.pids))), most)
            for pid in sender.pids:
                self._limited.append((sender.host, pid))
                words = (self._path, "--lazy", "--limit", str(share), "--pid", str(pid))
                self._helpers.append(sender.host.start(Launch(words, self._path)))

    def at_edges(self) -> Iterable[tuple[Host, Reader]]:
        """Return what notes how often it held back so far; cpulimit does not tell."""
        return () if self._group is None else [(self._host, self._stat)]

    def edge(self) -> None:
        """Note that, and whether the limiter is alive."""
        super().edge()
        self._held = self._held and all(helper.exit_code is None for helper in self._helpers)

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Let the senders come to their end."""
        self._release()
        if self._group is not None:
            before, after = (
                throttling_of(text[self._path], self._group.version)
                for _, text in self._stat.edges()
            )
            self._throttled = after - before

    def _release(self) -> None:
        """Stop limiting; a process that was just stopped goes on."""
        if self._group is not None:
            self._group.release()
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

    def found(self) -> dict[str, Any]:
        """Return the record's entry about the limiter."""
        return {
            "kind": "cpulimit" if self._group is None else f"cgroup v{self._group.version}",
            "offered_percent": self._offered_percent,
            "held": self._held,
            "throttled": None if self._throttled is None else asdict(self._throttled),
        }

    def close(self) -> None:
        """Leave nothing of the limiter behind."""
        self._stack.close()
