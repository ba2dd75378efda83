"""Guests that the run's daemon lends, and their insides as hosts.

Each repetition is a process of its own. What takes long to boot is had by a daemon, which serves
one of them after the other (`copycost.hosts.guest.daemon`). Whoever borrows first starts it, says
one JSON object and gets one with descriptors; what was borrowed is its own until it closes. What a
repetition finds wrong with a guest is told with what became of the guest, where it ended.
"""

import errno
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from copycost.errors import AttemptFailed, CopycostError, HostError, MeasurementStopped, Unavailable
from copycost.hosts.guest.qemu import GuestSpec
from copycost.hosts.namespaces import Isolation, join_namespaces
from copycost.hosts.processes import value_of_process, waiting_process, watched_parents
from copycost.hosts.remote import messages
from copycost.hosts.remote.host import RemoteHost

_DAEMON = "copycost.hosts.guest.daemon"
_PACKAGE_ROOT = Path(__file__).parents[3]
_TRIES = 5
_MOST_BYTES = 1 << 16
_MOST_FDS = 8
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


class GuestHost(RemoteHost):
    """A guest that the daemon has lent, whose line is ours from now on; see `RemoteHost`.

    Its network knows it by `guest`; `pid` is QEMU's process id; it took `boot_s` to boot [s].
    """

    def __init__(self, line: int, guest: str, pid: int, boot_s: float) -> None:
        self.guest, self.pid, self.boot_s = guest, pid, boot_s
        super().__init__(line, f"guest {guest}", kind="guest")

    def cannot_keep(self, program: Path, error: OSError) -> HostError:
        """Return why a program of ours cannot be brought there."""
        if error.errno not in (errno.ENOSPC, errno.ENOMEM):
            return super().cannot_keep(program, error)
        return GuestFailed(f"{self.name} has no room for {program.name} ({error.strerror})")


@dataclass(frozen=True, slots=True)
class Lease:
    """Guests that are ours for the time of a block, in the order in which they were asked for."""

    hosts: tuple[GuestHost, ...]
    isolation: Isolation  # what keeps their network apart; "host" where they have none
    network_fd: int  # the namespace of that


def log_of(spec: GuestSpec) -> Path:
    """Return where the daemon tells what it meets with: next to what its guests are made of."""
    return Path(spec.initrd).with_name("daemon.log")


@contextmanager
def borrowed(spec: GuestSpec, names: Sequence[str], *, network: bool = True) -> Iterator[Lease]:
    """Borrow guests for the time of the block; those that do not run yet are booted.

    Where their network is in a user namespace, we enter it for good. Unavailable if this host does
    not allow guests, or not the network that they are to have; GuestFailed if one does not come up,
    with the last lines of its console, and in place of an error within the block if one of them has
    ended meanwhile.
    """
    more = f"{log_of(spec)} has more"
    with ExitStack() as stack:
        daemon = stack.enter_context(connected(log_of(spec)))
        # the daemon may be in another folder
        places = {at: str(Path(getattr(spec, at)).absolute()) for at in ("kernel", "initrd")}
        asked = {"guests": list(names), "spec": asdict(spec) | places, "network": network}
        try:
            answer, (*lines, user_fd, network_fd) = ask_daemon(daemon, asked)
        except Unavailable:
            raise
        except HostError as error:
            raise GuestFailed(f"{error}; {more}") from error
        except OSError as error:
            silent = f"the guests' daemon does not answer ({error})"
            raise GuestFailed(f"{silent}; {more}") from error
        for fd in (user_fd, network_fd):
            stack.callback(os.close, fd)
        if network and answer["isolation"] == "user_namespace":
            # before there is a thread that reads from the agents
            join_namespaces(user_fd, network_fd)
        try:
            lent = zip(lines, answer["guests"], strict=True)
            hosts = tuple(GuestHost(line, **guest) for line, guest in lent)
            for host in hosts:
                stack.callback(host.close)
            yield Lease(hosts, answer["isolation"], network_fd)
        except (MeasurementStopped, Unavailable):
            raise
        except GuestFailed:
            for guest in answer["guests"]:  # whoever borrows them next gets fresh ones
                with suppress(ProcessLookupError):
                    os.kill(guest["pid"], signal.SIGKILL)
            raise
        except (CopycostError, OSError) as error:
            for name in names:
                why = _why_ended(daemon, name)
                if why is not None:
                    raise GuestFailed(f"{why}; {more}") from error
            raise


def _why_ended(daemon: socket.socket, name: str) -> str | None:
    """Return why a guest has ended, with its last words; None if it runs as far as known."""
    with suppress(HostError, OSError):
        found: str | None = ask_daemon(daemon, {"why": name})[0]["why"]
        return found
    return "the guests' daemon has ended, and they with it"


def ask_daemon(client: socket.socket, words: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """Return what the daemon answers, and the descriptors that came with it; raise its errors."""
    client.send(json.dumps(words).encode())
    data, fds, _, _ = socket.recv_fds(client, _MOST_BYTES, _MOST_FDS)
    if not data:
        raise HostError("the guests' daemon has ended; run again")
    answer: dict[str, Any] = json.loads(data)
    if "error" in answer:
        raise messages.error_of(answer["error"])
    return answer, fds


def connected(log: Path) -> socket.socket:
    """Return a connection to the run's daemon, which is started if need be, and logs to a file.

    Its address is an abstract one, which leaves no file (unix(7)).
    """
    # a run is known by the process that waits for us, and by when that started
    owner = waiting_process()
    started = value_of_process(owner, 19)
    address = f"\0{_DAEMON}-{os.getuid()}-{owner}-{started}"
    with watched_parents() as parents:
        for _ in range(_TRIES):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                client.connect(address)
            except ConnectionRefusedError:
                client.close()
                _start_daemon(address, parents, log)
                continue
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            _, user, _ = struct.unpack("iii", credentials)
            if user != os.geteuid():  # anybody may take an abstract address
                client.close()
                raise HostError(f"user {user} pretends to be our daemon; run again")
            client.settimeout(_PATIENCE_S)
            return client
    raise HostError(f"{_DAEMON} cannot be started; run again")


def _start_daemon(address: str, parents: Sequence[int], log: Path) -> None:
    """Start the daemon, unless another process has just done it."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening,
        log.open("ab") as told,
    ):
        try:
            listening.bind(address)
        except OSError:
            return
        listening.listen(8)
        fds = [listening.fileno(), *parents]
        # it outlives us, and holds nothing of ours open; what we start forks it, and ends
        subprocess.run(
            [sys.executable, "-SP", "-m", _DAEMON, *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=told,
            pass_fds=fds,
            start_new_session=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(_PACKAGE_ROOT)},
        )
