"""QEMU while it runs: its process, the console of its guest, and its end.

It lives no longer than the thread that started it (prctl(2), PR_SET_PDEATHSIG).
"""

import re
import select
import signal
import time
from collections.abc import Sequence

from copycost.errors import HostError, MeasurementStopped
from copycost.hosts.guest.qemu import GuestSpec, Link
from copycost.hosts.program import Launch, LocalProgram

UP = "copycost: the guest is up"
"""What the first process says on the console once everything is set up (init.sh)."""

_DEADLOCKED = "System is deadlocked on memory"  # mm/oom_kill.c
_NO_ROOM = "Initramfs unpacking failed"  # init/initramfs.c
_SHOWN = 8
_LOOK_S = 0.02
_TIME = re.compile(r"^\[ *\d+\.\d+\] ")


class Qemu(LocalProgram):
    """A QEMU that runs; descriptors that it inherits stay the caller's."""

    def __init__(
        self, words: Sequence[str], fds: Sequence[int] = (), *, control: bool = False
    ) -> None:
        launch = Launch(tuple(words), words[0], control=control, dies_with_us=True)
        super().__init__(launch, fds)

    def console(self) -> list[str]:
        """Return the lines of its guest's console, then what QEMU itself has said."""
        lines = f"{self.output()}\n{self.errors()}".split("\n")
        return [line.strip("\r\0") for line in lines if line.strip("\r\0 ")]

    def first(self, words: str) -> str | None:
        """Return the first line that has these words, without the kernel's time; None for none."""
        found = next((line for line in self.console() if words in line), None)
        return None if found is None else _TIME.sub("", found)

    def last_lines(self) -> str:
        """Return the last lines as the end of a message."""
        return " | ".join(self.console()[-_SHOWN:]) or "nothing"

    def close(self) -> None:
        """End it at once, and give back the descriptors."""
        self.end()
        super().close()


class RunningGuest(Qemu):
    """A guest's QEMU; parameters as of `GuestSpec.words`."""

    def __init__(
        self,
        spec: GuestSpec,
        name: str,
        command: Sequence[str] = (),
        agent_fd: int | None = None,
        link: Link | None = None,
    ) -> None:
        self._began_s = time.monotonic()
        self.boot_s: float | None = None
        fds = [] if agent_fd is None else [agent_fd]
        super().__init__(spec.words(name, command, agent_fd, link), fds)

    def await_up(self, timeout_s: float, stop_fds: Sequence[int] = ()) -> None:
        """Wait until the first process has set everything up.

        HostError if the guest ends before, is not there in time, or has no room for its files;
        MeasurementStopped once one of `stop_fds` is readable: nobody waits for it any more.
        """
        deadline_s = time.monotonic() + timeout_s
        while UP not in self.output():
            if self.exit_code is not None:
                raise HostError(self.why_ended())
            if time.monotonic() >= deadline_s:
                raise HostError(self._told(f"was not up within {timeout_s:g} s"))
            ready, _, _ = select.select([self.ended_fd, *stop_fds], [], [], _LOOK_S)
            if set(ready).intersection(stop_fds):
                raise MeasurementStopped("the run ended while a guest booted")
        if said := self.first(_NO_ROOM):  # its kernel goes on with what there was room for
            raise HostError(self._told(f"ran out of memory ({said})"))
        self.boot_s = time.monotonic() - self._began_s

    def why_ended(self) -> str:
        """Return how a guest that has ended came to it, with what it said last."""
        code = self.exit_code or 0
        if said := self.first("Out of memory") or self.first(_DEADLOCKED):
            how = f"ran out of memory ({said})"
        elif said := self.first("Kernel panic"):
            how = f"panicked ({said})"
        elif code < 0:
            how = f"was ended by signal {-code} to QEMU ({signal.Signals(-code).name})"
        else:
            how = f"ended with QEMU's exit status {code}"
        return self._told(how)

    def _told(self, how: str) -> str:
        return f"the guest {how}; the last lines of its console: {self.last_lines()}"
