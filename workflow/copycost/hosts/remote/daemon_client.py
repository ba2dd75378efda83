"""Reach a run's daemon, which is started by who comes first; see `copycost.hosts.remote.daemon`."""

import array
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from copycost.errors import HostError
from copycost.hosts.cpu_times import value_of
from copycost.hosts.parent import waiting_process, watched_parents
from copycost.hosts.remote.messages import error_of

Words = dict[str, Any]

MOST_BYTES = 1 << 16
_MOST_FDS = 8
_PACKAGE_ROOT = Path(__file__).parents[3]
_TRIES = 5


def ask_daemon(client: socket.socket, words: Words) -> tuple[Words, list[int]]:
    """Return what a daemon answers, and the descriptors that came with it; raise its errors."""
    client.send(json.dumps(words).encode())
    data, fds, _, _ = socket.recv_fds(client, MOST_BYTES, _MOST_FDS)
    if not data:
        raise HostError("the run's daemon has ended; run again")
    answer: Words = json.loads(data)
    if "error" in answer:
        raise error_of(answer["error"])
    return answer, fds


def connected(module: str, patience_s: float, log: Path | None = None) -> socket.socket:
    """Return a connection to the run's daemon that a module serves, and is started for if need be.

    An answer may take `patience_s`. In `log`, a daemon that is started tells what it meets with.
    """
    with watched_parents() as parents:
        address = _address(module)
        for _ in range(_TRIES):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                client.connect(address)
            except ConnectionRefusedError:
                client.close()
                _start(module, address, parents, log)
                continue
            _require_ours(client)
            client.settimeout(patience_s)
            return client
    raise HostError(f"{module} cannot be started; run again")


def _address(module: str) -> str:
    """Return a daemon's address, an abstract one, which leaves no file (unix(7)).

    A run is known by the process that waits for us, and by when that started.
    """
    owner = waiting_process()
    started = value_of(Path(f"/proc/{owner}/stat").read_text(), 19)
    return f"\0{module}-{os.getuid()}-{owner}-{started}"


def _require_ours(client: socket.socket) -> None:
    """Refuse a daemon of somebody else's: anybody may take an abstract address."""
    credentials = array.array("i")
    credentials.frombytes(client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if credentials[1] != os.geteuid():
        client.close()
        raise HostError(f"user {credentials[1]} pretends to be our daemon; run again")


def _start(module: str, address: str, parents: Sequence[int], log: Path | None) -> None:
    """Start a daemon, unless another process has just done it."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening,
        Path(log or os.devnull).open("ab") as told,
    ):
        try:
            listening.bind(address)
        except OSError:
            return
        listening.listen(8)
        fds = [listening.fileno(), *parents]
        # it outlives us, and holds nothing of ours open; what we start forks it, and ends
        subprocess.run(
            [sys.executable, "-SP", "-m", module, *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=told,
            pass_fds=fds,
            start_new_session=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(_PACKAGE_ROOT)},
        )
