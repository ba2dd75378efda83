"""Guests that the run's daemon lends, and their insides as hosts.

What a repetition finds wrong with a guest is told with what became of the guest, where it ended.
"""

import errno
import os
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from copycost.errors import AttemptFailed, CopycostError, HostError, MeasurementStopped, Unavailable
from copycost.hosts.guest.qemu import GuestSpec
from copycost.hosts.namespaces import Isolation
from copycost.hosts.remote.daemon import ask_daemon, connected
from copycost.hosts.remote.host import RemoteHost

_DAEMON = "copycost.hosts.guest.guest_pool"
# two guests may both be booted within one answer
_PATIENCE_S = 300.0
_FRESH = "delete the record and run again: the next repetition gets a fresh guest"


class GuestFailed(AttemptFailed):
    """A guest did not come up, ended, or has no room, while something was measured in it."""

    def __init__(self, reason: str) -> None:
        more = "raise virtual.memory_mib in config.yaml"
        self.lacks_memory = "ran out of memory" in reason or "has no room for" in reason
        remedy = _FRESH
        if self.lacks_memory:
            remedy = f"{more}, then delete the record and run again"
        elif "was not up within" in reason:
            remedy = f"{_FRESH}; if that one is not up in time either, {more}"
        super().__init__(reason, remedy)


@dataclass(frozen=True, slots=True)
class LentGuest:
    """A guest while it is ours."""

    name: str  # by which its network knows it
    pid: int  # QEMU's process id
    boot_s: float  # how long it took to boot [s]
    line: int  # the stream to its agent, a descriptor that whoever takes it has to close


@dataclass(frozen=True, slots=True)
class Lease:
    """Guests that are ours for the time of a block, in the order in which they were asked for."""

    guests: tuple[LentGuest, ...]
    isolation: Isolation  # what keeps their network apart; "host" where they have none
    # the namespaces of that
    user_fd: int
    network_fd: int
    log: Path  # where the daemon tells what it meets with
    _daemon: socket.socket

    def why_ended(self, name: str) -> str | None:
        """Return why a guest has ended, with its last words; None if it runs as far as known."""
        with suppress(HostError, OSError):
            found: str | None = ask_daemon(self._daemon, {"op": "why", "guest": name})[0]["why"]
            return found and f"{found}; {self.log} has more"
        return f"the guests' daemon has ended, and they with it; {self.log} has more"


def log_of(spec: GuestSpec) -> Path:
    """Return where the daemon of guests tells what it meets with: next to what they are made of."""
    return Path(spec.initrd).with_name("daemon.log")


@contextmanager
def borrowed(spec: GuestSpec, names: Sequence[str], *, network: bool = True) -> Iterator[Lease]:
    """Borrow guests for the time of the block; those that do not run yet are booted.

    Unavailable if this host does not allow them, or not the network that they are to have;
    GuestFailed if one does not come up, with the last lines of its console.
    """
    log = log_of(spec)
    with ExitStack() as stack:
        daemon = stack.enter_context(connected(_DAEMON, _PATIENCE_S, log))
        # the daemon may be in another folder
        places = {at: str(Path(getattr(spec, at)).absolute()) for at in ("kernel", "initrd")}
        made_of = asdict(spec) | places
        asked = {"op": "lend", "guests": list(names), "spec": made_of, "network": network}
        try:
            answer, (*lines, user_fd, network_fd) = ask_daemon(daemon, asked)
        except Unavailable:
            raise
        except HostError as error:
            raise GuestFailed(f"{error}; {log} has more") from error
        except OSError as error:
            silent = f"the guests' daemon does not answer ({error})"
            raise GuestFailed(f"{silent}; {log} has more") from error
        for fd in (user_fd, network_fd):
            stack.callback(os.close, fd)
        lent = zip(answer["guests"], lines, strict=True)
        guests = tuple(LentGuest(**guest, line=line) for guest, line in lent)
        yield Lease(guests, answer["isolation"], user_fd, network_fd, log, daemon)


class GuestHost(RemoteHost):
    """A guest that the daemon has lent, whose line is ours from now on; see `RemoteHost`."""

    def __init__(self, guest: LentGuest) -> None:
        self.guest = guest
        super().__init__(guest.line, f"guest {guest.name}", kind="guest")

    def cannot_keep(self, program: Path, error: OSError) -> HostError:
        """Return why a program of ours cannot be brought there."""
        if error.errno not in (errno.ENOSPC, errno.ENOMEM):
            return super().cannot_keep(program, error)
        return GuestFailed(f"{self.name} has no room for {program.name} ({error.strerror})")


@contextmanager
def hosts_in(lease: Lease) -> Iterator[tuple[GuestHost, ...]]:
    """Return a block with the lent guests as hosts.

    GuestFailed takes the place of an error within the block if one of them has ended meanwhile.
    """
    with ExitStack() as stack:
        try:
            hosts = tuple(GuestHost(guest) for guest in lease.guests)
            for host in hosts:
                stack.callback(host.close)
            yield hosts
        except (MeasurementStopped, Unavailable):
            raise
        except GuestFailed:
            for guest in lease.guests:  # whoever borrows them next gets fresh ones
                with suppress(ProcessLookupError):
                    os.kill(guest.pid, signal.SIGKILL)
            raise
        except (CopycostError, OSError) as error:
            for guest in lease.guests:
                why = lease.why_ended(guest.name)
                if why is not None:
                    raise GuestFailed(why) from error
            raise
