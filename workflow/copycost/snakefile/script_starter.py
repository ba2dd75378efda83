"""Has the scripts of a run of Snakemake's forked from one process; see `script_server`."""

import atexit
import os
import shlex
import signal
import socket
import subprocess
import sys
from threading import Lock

from copycost.records.disk import AGAIN
from copycost.snakefile.script_server import BEGUN

_SERVER = "copycost.snakefile.script_server"
_END_TIMEOUT_S = 5.0
_MOST_TRIES = 5
# As Snakemake gives it to every job of one thread: libraries look at it when they are imported.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "GOTO_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)
_KILLED = b"\x01"


class ScriptStarter:
    """Starts scripts in forks of a server, which it starts with the first of them."""

    def __init__(self) -> None:
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
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs, self._lock:
                    socket.send_fds(self._server(), [os.fsencode(script)], [theirs.fileno()])
                if ours.recv(1) != BEGUN:
                    return None
            except OSError:
                return None  # the server is gone
            return (ours.recv(1) or _KILLED)[0]

    def _server(self) -> socket.socket:
        """Return the line to the server."""
        if self._line is None:
            self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = _start(theirs)
            atexit.register(self.close)
        return self._line

    def close(self) -> None:
        """End the server, where there is one."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait(_END_TIMEOUT_S)


def _start(line: socket.socket) -> subprocess.Popen[bytes]:
    # Ctrl-C is for the scripts, which let it through again; what is blocked stays so after a fork
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            # Snakemake takes this for a word of a shell's command line, and so do we elsewhere
            [*shlex.split(sys.executable), "-P", "-m", _SERVER, str(line.fileno())],
            pass_fds=[line.fileno()],
            env={**os.environ, **_ONE_THREAD},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
