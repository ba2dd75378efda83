"""QEMU while it runs: its process, the console of its guest, and its end.

It lives no longer than the thread that started it (prctl(2), PR_SET_PDEATHSIG).
"""

import os
import re
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from copycost.errors import CannotStart, HostError, MeasurementStopped
from copycost.hosts.guest.qemu import GuestSpec, Link
from copycost.hosts.program import die_with_us

UP = "copycost: the guest is up"
"""What the first process says on the console once everything is set up (init.sh)."""

_DEADLOCKED = "System is deadlocked on memory"  # mm/oom_kill.c
_NO_ROOM = "Initramfs unpacking failed"  # init/initramfs.c
_SHOWN = 8
# what programs leave there is long, and looked for at the end
_MOST_LINES, _MOST_LINE_BYTES = 1 << 14, 1 << 20
_TIME = re.compile(r"^\[ *\d+\.\d+\] ")


class Console:
    """The last lines of a guest's console."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        os.set_blocking(fd, False)
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._rest = b""

    def pump(self) -> bool:
        """Take in what has come; return False once nothing can come any more."""
        while True:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            *lines, rest = (self._rest + data).split(b"\n")
            self._rest = rest[:_MOST_LINE_BYTES]
            self._lines += [line.decode(errors="replace").strip("\r\x00") for line in lines]

    def lines(self) -> list[str]:
        """Return the last lines, the unfinished one too."""
        rest = self._rest.decode(errors="replace").strip()
        return [*(line for line in self._lines if line.strip()), *([rest] if rest else [])]

    def first(self, words: str) -> str | None:
        """Return the first line that has these words, without the kernel's time; None for none."""
        found = next((line for line in self.lines() if words in line), None)
        return None if found is None else _TIME.sub("", found)

    def end(self) -> str:
        """Return the last lines as the end of a message."""
        return " | ".join(self.lines()[-_SHOWN:]) or "nothing"


class Qemu:
    """A QEMU that runs, and its console; descriptors that it inherits stay the caller's."""

    def __init__(self, words: Sequence[str], fds: Sequence[int]) -> None:
        said_fd, write_fd = os.pipe()
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=write_fd,
                stderr=write_fd,
                pass_fds=fds,
                process_group=0,
                preexec_fn=die_with_us,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            )
        except OSError as error:
            os.close(said_fd)
            raise CannotStart(words[0], error.strerror or str(error)) from error
        finally:
            os.close(write_fd)
        self.pid = self._process.pid
        self.console = Console(said_fd)
        self.ended_fd = os.pidfd_open(self.pid)

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None as long as it runs."""
        return self._process.poll()

    def close(self) -> None:
        """End it at once, and give back the descriptors."""
        self._process.kill()
        self._process.wait()
        if self.ended_fd >= 0:
            os.close(self.console.fd)
            os.close(self.ended_fd)
            self.ended_fd = -1


class RunningGuest(Qemu):
    """A guest's QEMU; parameters as of `GuestSpec.words`."""

    def __init__(
        self,
        spec: GuestSpec,
        name: str,
        command: Sequence[str] = (),
        ports: Mapping[str, int] = MappingProxyType({}),
        link: Link | None = None,
    ) -> None:
        self._began_s = time.monotonic()
        self.boot_s: float | None = None
        fds = [*ports.values(), *([] if link is None else link.fds)]
        super().__init__(spec.words(name, command, ports, link), fds)

    def await_up(self, timeout_s: float, stop_fds: Sequence[int] = ()) -> None:
        """Wait until the first process has set everything up.

        HostError if the guest ends before, is not there in time, or has no room for its files;
        MeasurementStopped once one of `stop_fds` is readable: nobody waits for it any more.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            goes_on = self.console.pump()
            if self.console.first(UP) is not None:
                break
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
        if said := self.console.first(_NO_ROOM):  # its kernel goes on with what there was room for
            raise HostError(
                f"the guest ran out of memory ({said}); the last lines of its console:"
                f" {self.console.end()}"
            )
        self.boot_s = time.monotonic() - self._began_s

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
