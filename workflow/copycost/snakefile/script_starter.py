"""Has the scripts of a run of Snakemake's forked from one process; see `script_server`."""

import atexit
import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from copycost.records.disk import AGAIN
from copycost.snakefile.interruption import held_back
from copycost.snakefile.script_server import BEGUN

_SERVER = "copycost.snakefile.script_server"
_END_TIMEOUT_S = 5.0
_MOST_TRIES = 5
_MOST_BYTES = 1 << 18  # of what a script tells; its socket takes no more
# As Snakemake gives it to every job of one thread: libraries look at it when they are imported.
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR")
}
_KILLED = b"\x01"


class ScriptStarter:
    """Starts scripts in forks of a server, which it starts with the first of them.

    `hear` is given what they tell (see `telling`).
    """

    def __init__(self, hear: Callable[[Mapping[str, Any]], None]) -> None:
        self._hear = hear
        self._lock = Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, script: str) -> int | None:
        """Run a script to its end; return its exit status, or None where it could not be begun.

        One that failed while the disk was full runs again, a few times at most.
        """
        for _ in range(_MOST_TRIES):
            status = self._run_once(script)
            if status != AGAIN:
                break
        return status

    def _run_once(self, script: str) -> int | None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            try:
                with theirs, self._lock:
                    socket.send_fds(self._server(), [os.fsencode(script)], [theirs.fileno()])
                if ours.recv(1) != BEGUN:
                    return None
            except OSError:
                return None  # the server is gone
            while len(told := ours.recv(_MOST_BYTES)) > 1:
                self._hear(json.loads(told))
            return (told or _KILLED)[0]

    def _server(self) -> socket.socket:
        """Return the line to the server."""
        if self._line is None:
            self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs, held_back():  # Ctrl-C is for the scripts, which let it through again
                self._process = subprocess.Popen(
                    # Snakemake takes this for a word of a shell's command line, and so do we
                    [*shlex.split(sys.executable), "-P", "-m", _SERVER, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env={**os.environ, **_ONE_THREAD},
                )
            atexit.register(self.close)
        return self._line

    def close(self) -> None:
        """End the server, where there is one."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait(_END_TIMEOUT_S)
