"""``perf record`` beside a measurement: attached to both sides, it samples in the window only."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from copycost.drivers.programs.side import Side
from copycost.errors import HostError, ParseError
from copycost.observers.sampling_access import SamplingPlan, is_privileged
from copycost.perf.command import ControlPipes
from copycost.perf.script import Sampled, read_samples

# perf reads the maps of all processes that it attaches to before it listens
_READY_TIMEOUT_S = 10.0
_END_TIMEOUT_S = 30.0
# per CPU; holds a window's samples, so that perf itself sleeps through the window
_BUFFER = "4M"
_FIELDS = "comm,pid,tid,time,period,event,ip,sym,dso"


class Sampler:
    """Samples the call stacks of processes between two moments; an onlooker at a repetition.

    Parameters
    ----------
    plan : SamplingPlan
        How to call perf.
    folder : Path
        An existing folder for perf's own file, which may take megabytes.

    Attributes
    ----------
    failure : str or None
        Why there are no samples, once that is known.
    processes : dict
        The process ids by the name of their side.
    """

    def __init__(self, plan: SamplingPlan, folder: Path) -> None:
        self.failure: str | None = None
        self.processes: dict[str, tuple[int, ...]] = {}
        self._plan = plan
        self._data = folder / "perf.data"
        self._perf: subprocess.Popen[bytes] | None = None
        self._control = self._ack = -1

    def __enter__(self) -> Self:
        """Return self; perf is started by `attach`."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End perf, in whatever state it is."""
        if self._perf is not None and self._perf.poll() is None:
            self._perf.kill()
            self._perf.communicate()
        self._close()

    def attach(self, sides: Sequence[Side]) -> None:
        """Attach to the programs of the sides, switched off."""
        try:
            self.attach_to({side.name: (side.program_pid,) for side in sides})
        except HostError as error:
            self.failure = str(error)

    def attach_to(self, processes: Mapping[str, tuple[int, ...]]) -> None:
        """Attach to processes, by the names of their sides, and to the threads that they make."""
        self.processes = dict(processes)
        pipes = ControlPipes.make()
        try:
            self._perf = subprocess.Popen(
                self._command(pipes),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(pipes.control_read, pipes.ack_write),
                process_group=0,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            self.failure = f"{self._plan.path}: {error.strerror}"
        self._control, self._ack = os.dup(pipes.control_write), os.dup(pipes.ack_read)
        for fd in pipes.fds:
            os.close(fd)
        # it is off already; that it answers says that it has attached and listens
        self._tell("disable")

    def window_begins(self) -> None:
        """Switch the sampling on."""
        self._tell("enable")

    def window_ends(self) -> None:
        """Switch the sampling off, and have perf write what it has; it is not waited for."""
        self._tell("disable")
        if self._perf is not None and self._perf.poll() is None:
            self._perf.send_signal(signal.SIGINT)

    def _await_end(self) -> None:
        """Wait until perf has written its file."""
        if self._perf is None or self.failure is not None:
            return
        try:
            _, said = self._perf.communicate(timeout=_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.failure = f"perf record did not end within {_END_TIMEOUT_S:g} s"
            return
        if self._perf.returncode not in (0, -signal.SIGINT, 128 + signal.SIGINT):
            self.failure = (
                f"perf record ended with exit status {self._perf.returncode}: {_last_line(said)}"
            )

    def read(self) -> Sampled:
        """Return what was sampled, by process id.

        Raises
        ------
        HostError
            If there are no samples to be read; `failure` then says the same.
        ParseError
            If perf prints what is not known.
        """
        self._await_end()
        if self.failure is not None:
            raise HostError(self.failure)
        command = [
            *[self._plan.path, "script", "--input", str(self._data), "--fields", _FIELDS],
            # inlined functions would be looked up in debug data, of which the kernel has none
            *["--no-inline", "--show-lost-events"],
        ]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
        ) as script:
            assert script.stdout is not None
            assert script.stderr is not None
            try:
                sampled = read_samples(script.stdout, "perf script")
            except ParseError as error:
                script.kill()
                self.failure = str(error)
                raise
            said = script.stderr.read()
        if script.returncode != 0:
            self.failure = (
                f"perf script ended with exit status {script.returncode}: {_last_line(said)}"
            )
            raise HostError(self.failure)
        return sampled

    def _command(self, pipes: ControlPipes) -> list[str]:
        """Return the command that samples, switched off at first.

        Source: perf-record(1), options --control, --delay, --call-graph, --mmap-pages.
        """
        plan = self._plan
        pids = [str(pid) for side in self.processes.values() for pid in side]
        buffer = ["--mmap-pages", _BUFFER] if is_privileged() else []
        return [
            *[plan.path, "record", "--output", str(self._data)],
            *["--event", plan.event, "--freq", str(plan.frequency_hz), "--call-graph", "fp"],
            *["--delay", "-1", "--control", f"fd:{pipes.control_read},{pipes.ack_write}"],
            *["--pid", ",".join(pids), *buffer],
            # nobody looks for the programs of this profile later
            *["--no-buildid", "--no-buildid-cache"],
        ]

    def _tell(self, word: str) -> None:
        """Give perf a command and wait for its answer."""
        if self._perf is None or self.failure is not None:
            return
        with suppress(BrokenPipeError):
            os.write(self._control, word.encode() + b"\n")
        if not self._answered():
            self.failure = f"perf record did not take the command {word!r}: {self._last_words()}"

    def _answered(self) -> bool:
        """Wait for ``ack``; perf may die instead."""
        assert self._perf is not None
        deadline_s = time.monotonic() + _READY_TIMEOUT_S
        while time.monotonic() < deadline_s:
            readable, _, _ = select.select([self._ack], [], [], 0.02)
            if readable:
                return b"ack" in os.read(self._ack, 64)
            if self._perf.poll() is not None:
                return False
        return False

    def _last_words(self) -> str:
        assert self._perf is not None
        if self._perf.poll() is None:
            self._perf.kill()
        _, said = self._perf.communicate()
        return _last_line(said)

    def _close(self) -> None:
        for fd in (self._control, self._ack):
            if fd >= 0:
                os.close(fd)
        self._control = self._ack = -1
        self._data.unlink(missing_ok=True)


def _last_line(said: bytes) -> str:
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
