"""Borrow guests from the run's keeper, which is started by who comes first."""

import array
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from copycost.errors import HostError
from copycost.hosts.guest.spec import GuestSpec
from copycost.hosts.guest.words import MOST_BYTES, MOST_FDS, Words, raise_if_error
from copycost.hosts.namespaces import Isolation
from copycost.hosts.parent import waiting_process, watched_parents

_PACKAGE_ROOT = Path(__file__).parents[3]
_TRIES = 5
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
            _ask(self._client, {"op": "discard", "guest": name})

    def why_ended(self, name: str) -> str | None:
        """Return why a guest has ended, with its last words; None if it runs as far as known."""
        with suppress(HostError, OSError):
            found: str | None = _ask(self._client, {"op": "why", "guest": name})[0]["why"]
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
        client = stack.enter_context(_connected())
        client.settimeout(_PATIENCE_S)
        made_of = spec.absolute().as_plain()
        asked = {"op": "lend", "guests": list(names), "spec": made_of, "network": network}
        try:
            answer, fds = _ask(client, asked)
        except OSError as error:
            raise HostError(f"the guests' keeper does not answer ({error}); run again") from error
        lease = Lease(client, answer, fds)
        for fd in (lease.user_fd, lease.network_fd):
            stack.callback(os.close, fd)
        yield lease


def _ask(client: socket.socket, words: Words) -> tuple[Words, list[int]]:
    client.send(json.dumps(words).encode())
    data, fds, _, _ = socket.recv_fds(client, MOST_BYTES, MOST_FDS)
    if not data:
        raise HostError("the guests' keeper has ended; run again")
    answer: Words = json.loads(data)
    raise_if_error(answer)
    return answer, fds


def _connected() -> socket.socket:
    """Return a connection to the run's keeper."""
    with watched_parents() as parents:
        address = _address()
        for _ in range(_TRIES):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                client.connect(address)
            except ConnectionRefusedError:
                client.close()
                _start_keeper(address, parents)
                continue
            _require_ours(client)
            return client
    raise HostError("the guests' keeper cannot be started; run again")


def _address() -> str:
    """Return the run's address, an abstract one, which leaves no file (unix(7)).

    A run is known by the process that waits for us, and by when that started.
    """
    owner = waiting_process()
    started = Path(f"/proc/{owner}/stat").read_text().rpartition(")")[2].split()[19]
    return f"\0copycost-{os.getuid()}-{owner}-{started}"


def _require_ours(client: socket.socket) -> None:
    """Refuse a keeper of somebody else's: anybody may take an abstract address."""
    credentials = array.array("i")
    credentials.frombytes(client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if credentials[1] != os.geteuid():
        client.close()
        raise HostError(f"user {credentials[1]} pretends to keep our guests; run again")


def _start_keeper(address: str, parents: Sequence[int]) -> None:
    """Start a keeper, unless another process has just done it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        try:
            listening.bind(address)
        except OSError:
            return
        listening.listen(8)
        fds = [listening.fileno(), *parents]
        # it outlives us, and holds nothing of ours open; what we start forks it, and ends
        subprocess.run(
            [sys.executable, "-SP", "-m", "copycost.hosts.guest.keeper", *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=fds,
            start_new_session=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(_PACKAGE_ROOT)},
        )
