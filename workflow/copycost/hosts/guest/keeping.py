"""Borrow guests from the run's keeper, which is started by who comes first."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from copycost.errors import HostError
from copycost.hosts.guest.spec import GuestSpec
from copycost.hosts.namespaces import Isolation
from copycost.hosts.remote.keeping import ask_keeper, connected
from copycost.hosts.remote.words import Words

_KEEPER = "copycost.hosts.guest.keeper"
# two guests may both be booted within one answer
_PATIENCE_S = 300.0


@dataclass(frozen=True, slots=True)
class LentGuest:
    """A guest while it is ours.

    Attributes
    ----------
    name
        By which its network knows it.
    pid
        QEMU's process id.
    boot_s
        How long it took to boot [s].
    line
        The stream to its agent, a descriptor that whoever takes it has to close.
    """

    name: str
    pid: int
    boot_s: float
    line: int


class Lease:
    """Guests that are ours until `close`.

    Attributes
    ----------
    guests
        In the order in which they were asked for.
    isolation
        How their network is kept apart: "host" where they have none.
    user_fd, network_fd
        The namespaces of their network.
    """

    def __init__(self, client: socket.socket, answer: Words, fds: Sequence[int]) -> None:
        self._client = client
        *lines, self.user_fd, self.network_fd = fds
        self.isolation: Isolation = answer["isolation"]
        self.guests = tuple(
            LentGuest(one["name"], one["pid"], one["boot_s"], line)
            for one, line in zip(answer["guests"], lines, strict=True)
        )

    def discard(self, name: str) -> None:
        """End a guest, so that whoever borrows it next gets a fresh one."""
        with suppress(HostError, OSError):
            ask_keeper(self._client, {"op": "discard", "guest": name})

    def why_ended(self, name: str) -> str | None:
        """Return why a guest has ended, with its last words; None if it runs as far as known."""
        with suppress(HostError, OSError):
            found: str | None = ask_keeper(self._client, {"op": "why", "guest": name})[0]["why"]
            return found
        return "the guests' keeper has ended, and they with it"


@contextmanager
def borrowed(spec: GuestSpec, names: Sequence[str], *, network: bool = True) -> Iterator[Lease]:
    """Borrow guests for the time of the block; those that do not run yet are booted.

    Parameters
    ----------
    spec
        What they are made of.
    names
        Which ones.
    network
        Whether they have to have a network.

    Raises
    ------
    Unavailable
        If this host does not allow them, or not their network.
    HostError
        If one does not come up; the message has the last lines of its console.
    """
    with ExitStack() as stack:
        client = stack.enter_context(connected(_KEEPER, _PATIENCE_S))
        made_of = spec.absolute().as_plain()
        asked = {"op": "lend", "guests": list(names), "spec": made_of, "network": network}
        try:
            answer, fds = ask_keeper(client, asked)
        except OSError as error:
            raise HostError(f"the guests' keeper does not answer ({error}); run again") from error
        lease = Lease(client, answer, fds)
        for fd in (lease.user_fd, lease.network_fd):
            stack.callback(os.close, fd)
        yield lease
