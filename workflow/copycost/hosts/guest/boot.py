"""A guest that runs: its process, its console, and its end.

It lives no longer than the thread that started it (prctl(2), PR_SET_PDEATHSIG).
"""

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence

from copycost.errors import CannotStart, HostError, MeasurementStopped
from copycost.hosts.guest.console import Console
from copycost.hosts.guest.qemu import GuestMachine

# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
UP = "copycost: the guest is up"
"""What the first process says on the console once everything is set up (init.sh)."""

_DEADLOCKED = "System is deadlocked on memory"  # mm/oom_kill.c
_NO_ROOM = "Initramfs unpacking failed"  # init/initramfs.c


class RunningGuest:
    """A guest's process.

    Parameters
    ----------
    machine
        What to start; descriptors that it inherits stay the caller's.
    qemu
        Path of QEMU.

    Raises
    ------
    CannotStart
        If QEMU cannot be executed.
    """

    def __init__(self, machine: GuestMachine, qemu: str) -> None:
        self.machine = machine
        self._began_s = time.monotonic()
        self.boot_s: float | None = None
        read, write = os.pipe()
        # what QEMU itself says goes the way of the console
        try:
            self._process = subprocess.Popen(
                machine.words(qemu),
                stdin=subprocess.DEVNULL,
                stdout=write,
                stderr=write,
                pass_fds=machine.inherited,
                process_group=0,
                preexec_fn=die_with_us,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            )
        except OSError as error:
            os.close(read)
            raise CannotStart(qemu, error.strerror or str(error)) from error
        finally:
            os.close(write)
        self.console = Console(read)
        self.ended_fd = os.pidfd_open(self._process.pid)

    @property
    def pid(self) -> int:
        """QEMU's process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """QEMU's exit code, negative for a signal; None as long as it runs."""
        return self._process.poll()

    def await_up(self, timeout_s: float, stop_fds: Sequence[int] = ()) -> float:
        """Wait until the first process has set everything up; return how long that took [s].

        Parameters
        ----------
        stop_fds
            Become readable when nobody waits for it any more.

        Raises
        ------
        HostError
            If the guest ends before, is not there in time, or has no room for its first files.
        MeasurementStopped
            If nobody waits for it any more.
        """
        self.await_words(UP, timeout_s, stop_fds)
        if said := self.console.first(_NO_ROOM):  # its kernel goes on with what there was room for
            raise HostError(
                f"the guest ran out of memory ({said}); the last lines of its console:"
                f" {self.console.end()}"
            )
        self.boot_s = time.monotonic() - self._began_s
        return self.boot_s

    def await_words(self, words: str, timeout_s: float, stop_fds: Sequence[int] = ()) -> None:
        """Wait until words stand on the console; parameters and errors as of `await_up`."""
        deadline_s = time.monotonic() + timeout_s
        while True:
            goes_on = self.console.pump()
            if self.console.says(words):
                return
            left_s = deadline_s - time.monotonic()
            if not goes_on or self.exit_code is not None:
                raise HostError(self.why_ended())
            if left_s <= 0:
                raise HostError(
                    f"the guest was not up within {timeout_s:g} s; the last lines of its console:"
                    f" {self.console.end()}"
                )
            watched = [self.console.fd, self.ended_fd, *stop_fds]
            ready, _, _ = select.select(watched, [], [], left_s)
            if set(ready).intersection(stop_fds):
                raise MeasurementStopped("the run ended while a guest booted")

    def await_end(self, timeout_s: float) -> int | None:
        """Wait for the end of QEMU, and return its exit code; None if it still runs."""
        deadline_s = time.monotonic() + timeout_s
        while self.exit_code is None and (left_s := deadline_s - time.monotonic()) > 0:
            ready, _, _ = select.select([self.console.fd, self.ended_fd], [], [], left_s)
            if self.console.fd in ready and not self.console.pump():
                select.select([self.ended_fd], [], [], left_s)
        self.console.pump()
        return self.exit_code

    def why_ended(self) -> str:
        """Return how a guest that has ended came to it, with what it said last."""
        self.console.pump()
        code = self._process.wait()
        if said := self.console.first("Out of memory") or self.console.first(_DEADLOCKED):
            how = f"ran out of memory ({said})"
        elif said := self.console.first("Kernel panic"):
            how = f"panicked ({said})"
        elif code < 0:
            how = f"was ended by signal {-code} to QEMU ({signal.Signals(-code).name})"
        else:
            how = f"ended with QEMU's exit status {code}"
        return f"the guest {how}; the last lines of its console: {self.console.end()}"

    def end(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it, and give back the descriptors."""
        self.end()
        self.console.close()
        if self.ended_fd >= 0:
            os.close(self.ended_fd)
            self.ended_fd = -1


def die_with_us() -> None:
    """End the calling process, about to become QEMU, with the thread that started it."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
