"""A guest as a host: what an agent in it serves, and what became of it where it ended."""

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from copycost.errors import CopycostError, HostError, MeasurementStopped, Unavailable
from copycost.hosts.guest.daemon_client import (
    MORE_MEMORY,
    GuestFailed,
    Lease,
    LentGuest,
    guest_failed,
)
from copycost.hosts.remote.host import RemoteHost


class GuestHost(RemoteHost):
    """A guest that the daemon has lent, whose line is ours from now on; see `Host`."""

    def __init__(self, guest: LentGuest) -> None:
        self.guest = guest
        super().__init__(guest.line, guest.line, f"guest {guest.name}", kind="guest")

    def cannot_keep(self, program: Path, error: OSError) -> HostError:
        """Return why a program of ours cannot be brought there."""
        if error.errno not in (errno.ENOSPC, errno.ENOMEM):
            return super().cannot_keep(program, error)
        reason = f"{self.name} has no room for {program.name} ({error.strerror})"
        return GuestFailed(reason, MORE_MEMORY)


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
            for guest in lease.guests:
                lease.discard(guest.name)
            raise
        except (CopycostError, OSError) as error:
            for guest in lease.guests:
                why = lease.why_ended(guest.name)
                if why is not None:
                    raise guest_failed(why) from error
            raise
