"""``perf stat`` on processes that already run, counting only within the window.

Source: perf-stat(1), options --pid, --control, --delay, --json, --log-fd.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from copycost.drivers.iperf3.process import content_of
from copycost.errors import ParseError
from copycost.perf.command import ControlPipes, PerfPlan, plan_perf
from copycost.perf.counters import join_counts, no_perf
from copycost.perf.output import parse_perf
from copycost.records.record import PerfSide, PerfStatus

_ACK_TIMEOUT_S = 2.0
_END_TIMEOUT_S = 2.0


class AttachedPerf:
    """perf on some processes; a failure of perf costs the counts and never the measurement.

    Parameters
    ----------
    host : mapping
        The host facts, which say how perf is to be called.
    pids : sequence of int
        The processes; threads that they make later are counted too.
    """

    def __init__(self, host: Mapping[str, Any], pids: Sequence[int], name: str) -> None:
        self._host = host
        self._name = name
        self._plan: PerfPlan | None = plan_perf(host)
        self._failure: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._output_fd = os.memfd_create(f"perf_{name}")
        self._error_fd = os.memfd_create(f"perf_{name}_stderr")
        self._pipes = ControlPipes.make()
        if self._plan is not None:
            self._start(self._plan, pids)

    def _start(self, plan: PerfPlan, pids: Sequence[int]) -> None:
        command = [plan.path, "stat", "--json", "--log-fd", str(self._output_fd)]
        command += ["--delay", "-1"]
        command += ["--control", f"fd:{self._pipes.control_read},{self._pipes.ack_write}"]
        command += ["--event", ",".join(plan.events.values()), "--pid", ",".join(map(str, pids))]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._error_fd,
                pass_fds=(self._output_fd, self._pipes.control_read, self._pipes.ack_write),
                process_group=0,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            self._failure = f"{plan.path}: {error.strerror}"

    def switch(self, *, on: bool) -> None:
        """Switch counting on or off, and wait for perf to say that it did."""
        if self._process is None or self._failure is not None:
            return
        with suppress(BrokenPipeError):
            os.write(self._pipes.control_write, b"enable\n" if on else b"disable\n")
        deadline_s = time.monotonic() + _ACK_TIMEOUT_S
        while time.monotonic() < deadline_s:
            if select.select([self._pipes.ack_read], [], [], 0.01)[0]:
                os.read(self._pipes.ack_read, 64)
                return
            if self._process.poll() is not None:
                break
        self._failure = f"perf did not answer; it said: {content_of(self._error_fd).strip()[-200:]}"

    def counts(self) -> PerfSide:
        """End perf and return what it counted, or why there is nothing."""
        self._end()
        if self._plan is None:
            missing = self._host["perf"]["status"] == "missing"
            status: PerfStatus = "missing" if missing else "forbidden"
            return no_perf(self._host, status, self._host["perf"]["reason"])
        if self._failure is not None:
            return no_perf(self._host, "failed", self._failure)
        try:
            counts = parse_perf(content_of(self._output_fd), f"perf's output for the {self._name}")
        except ParseError as error:
            return no_perf(self._host, "failed", str(error))
        if not counts:
            said = content_of(self._error_fd).strip()[-200:]
            return no_perf(self._host, "failed", f"perf counted nothing: {said}")
        return join_counts(self._host, self._plan, counts)

    def close(self) -> None:
        """End perf if it still runs, and give back the file descriptors."""
        self._end()
        for fd in (self._output_fd, self._error_fd, *self._pipes.fds):
            os.close(fd)

    def _end(self) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
