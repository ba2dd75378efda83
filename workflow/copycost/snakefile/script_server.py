"""Runs the rules' scripts as forks of one process, which has imported what they need already.

A script that is started as Snakemake does it spends most of its time on importing: 0.6 s of CPU
time for a repetition, 1.7 s for a figure. Here each is still a process of its own, so that nothing
of one job reaches the next; what they share is what they import.

`ScriptServer` starts one such process in a run of Snakemake's and hands it the scripts' paths. It
ends with the run, however that ends: then nobody holds the other end of its line any more.
"""

import atexit
import gc
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Lock
from types import ModuleType

from copycost.disk import AGAIN, lacks_room, room_comes
from copycost.records.aside import UNREAD, set_aside, unread
from copycost.snakefile.dependencies import imported_names
from copycost.snakefile.interruption import EXIT_CODE as INTERRUPTED

_RESULTS = Path("results")
_SERVER = "copycost.snakefile.script_server"
_MOST_PATH_BYTES = 4096
_END_TIMEOUT_S = 5.0
_MOST_TRIES = 5
# As Snakemake gives it to every job of one thread: libraries look at it when they are imported.
_ONE_THREAD = {
    f"{library}_THREADS": "1"
    for library in (
        "OMP_NUM",
        "GOTO_NUM",
        "OPENBLAS_NUM",
        "MKL_NUM",
        "VECLIB_MAXIMUM",
        "NUMEXPR_NUM",
    )
}


class ScriptServer:
    """Starts scripts in forks of a process, which it starts with the first of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._line: socket.socket | None = None

    def run(self, script: str) -> int:
        """Run a script to its end; return its exit status.

        One that failed while the disk was full runs again, a few times at most.
        """
        status = AGAIN
        for _ in range(_MOST_TRIES):
            if status == AGAIN:
                status = self._run_once(script)
        return status

    def _run_once(self, script: str) -> int:
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs, self._lock:
                    socket.send_fds(self._server(), [os.fsencode(script)], [theirs.fileno()])
                return (ours.recv(1) or b"\x01")[0]
            except OSError:  # the server was killed
                return 1

    def _server(self) -> socket.socket:
        """Return the line to the server."""
        if self._line is None:
            self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            # Ctrl-C is for the scripts, which let it through; what is blocked stays so after a fork
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                # Snakemake takes sys.executable for a word of a shell's command line, and so do we
                server = subprocess.Popen(
                    [*shlex.split(sys.executable), "-P", "-m", _SERVER, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env={**os.environ, **_ONE_THREAD},
                )
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                theirs.close()
            atexit.register(server.wait, _END_TIMEOUT_S)
            atexit.register(self.close)  # comes first
        return self._line

    def close(self) -> None:
        """Let the server end, where there is one."""
        if self._line is not None:
            self._line.close()


def serve(line: socket.socket) -> None:
    """Run scripts until the other end of the line is closed.

    Each message is a script's path with a socket, on which its exit status is answered.
    """
    imported: set[str] = set()
    running: dict[int, tuple[int, socket.socket]] = {}
    poll = select.poll()
    poll.register(line, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd != line.fileno():
                poll.unregister(fd)
                os.close(fd)
                _answer_end(*running.pop(fd))
                continue
            path, fds, _, _ = socket.recv_fds(line, _MOST_PATH_BYTES, 1)
            if not path:
                return
            answers = socket.socket(fileno=fds[0])
            script = Path(os.fsdecode(path))
            name = script.name.partition(".")[2]  # Snakemake puts a random word in front
            if name not in imported:
                imported.add(name)
                _provide(script)
            if signal.SIGINT in signal.sigpending():  # what is forked now would not see it
                with answers:
                    answers.send(bytes([INTERRUPTED]))
                continue
            pid = os.fork()
            if pid == 0:
                for inherited in (line, answers, *(one for _, one in running.values())):
                    inherited.close()
                for pidfd in running:
                    os.close(pidfd)
                _run(script)
            pidfd = os.pidfd_open(pid)
            running[pidfd] = pid, answers
            poll.register(pidfd, select.POLLIN)


def _provide(script: Path) -> None:
    """Import what a script imports; what cannot be imported the script will say itself."""
    for module in imported_names(script.read_text(encoding="utf-8")):
        with suppress(ImportError):  # many of the names are no modules
            import_module(module)
    if "copycost.records.record" in sys.modules:
        import_module("copycost.records.record").prepare_check()
    gc.collect()
    gc.freeze()  # what forks do not look at they need not copy


def _answer_end(pid: int, answers: socket.socket) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with answers, suppress(ConnectionError):
        answers.send(bytes([code if code >= 0 else 128 - code]))  # as a shell says it


def _run(script: Path) -> None:
    """Run a script as the main program of this process, and end the process."""
    code = 1
    sys.unraisablehook = _quiet_of_interrupts
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        code = _exit_code(script)
        _set_aside_unread()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:  # while it waited for room
        code = INTERRUPTED
    finally:
        os._exit(code)


def _exit_code(script: Path) -> int:
    sys.argv = [str(script)]
    main = ModuleType("__main__")
    main.__file__ = str(script)
    sys.modules["__main__"] = main
    try:
        exec(compile(script.read_bytes(), str(script), "exec", dont_inherit=True), main.__dict__)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:  # as the interpreter does at the end of a program
        interrupted = isinstance(error, KeyboardInterrupt)
        if not interrupted or sys.excepthook is not sys.__excepthook__:  # else it would be shown
            trace = error.__traceback__.tb_next if error.__traceback__ else None
            sys.excepthook(type(error), error.with_traceback(trace), trace)
        if interrupted:
            return INTERRUPTED
        if room_comes(lacked=lacks_room(error)):
            return AGAIN
        return 1
    return 0


def _set_aside_unread() -> None:
    """Set aside what steps made and this one could not read, and say so: a run makes it again."""
    for path in {path for path in unread if path.is_relative_to(_RESULTS)}:
        with suppress(OSError):  # it stays where there is no room to say why
            set_aside(path, UNREAD)
            said = f"{path}: {UNREAD}, so it lies in results/aside; run again: it is made again"
            print(f"copycost: {said}", file=sys.stderr)


def _quiet_of_interrupts(unraisable: "sys.UnraisableHookArgs") -> None:
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    # Python 3.12 warns where there is another thread: that of Arrow's jemalloc, which minds forks.
    warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)
    with socket.socket(fileno=int(sys.argv[1])) as the_line:
        serve(the_line)
    os._exit(0)
