"""Runs the rules' scripts as forks of one process, which has imported what they need already.

A script that is started as Snakemake does it spends most of its time on importing: a repetition
twice as long as on everything else that is no traffic. Here each is still a process of its own, so
that nothing of one job reaches the next; what they share is what they import. An edit of the
package during a run counts in the next one.

`script_starter` starts one such process in a run of Snakemake's and hands it the scripts' paths. It
ends with the run, however that ends: then nobody holds the other end of its line any more.
"""

import atexit
import gc
import os
import selectors
import signal
import socket
import sys
import warnings
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from copycost.records.disk import AGAIN, lacks_room, room_comes
from copycost.records.files import UNREAD, set_aside, unread
from copycost.snakefile.dependencies import imported_names
from copycost.snakefile.telling import tell_by

BEGUN = b"+"
"""The first answer, once a script runs; without it the script was not begun and may be elsewhere.

What the script tells follows, in more than a byte each; the last one is a byte: its exit status.
"""

_RESULTS = Path("results")
_INTERRUPTED = 130  # what a shell makes of SIGINT
_MOST_PATH_BYTES = 4096


@cache
def _import(*names: str) -> None:
    """Import what a script imports; what cannot be imported the script will say itself."""
    for name in names:
        with suppress(ImportError):  # many of the names are no modules
            import_module(name)
    if "copycost.records.record" in sys.modules:
        import_module("copycost.records.record").prepare_check()
    gc.collect()
    gc.freeze()  # what forks do not look at they need not copy


def serve(line: socket.socket) -> None:
    """Run scripts until the other end of the line is closed.

    Each message is a script's path with a socket, on which it is answered: `BEGUN`, and at its end
    the exit status. Where the socket is closed without an answer, the script was not begun.
    """
    selector = selectors.DefaultSelector()
    selector.register(line, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is not line:
                selector.unregister(key.fd)
                os.close(key.fd)
                pid, answers = key.data
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with answers, suppress(ConnectionError):
                    answers.send(bytes([code if code >= 0 else 128 - code]))  # as a shell says it
                continue
            path, fds, _, _ = socket.recv_fds(line, _MOST_PATH_BYTES, 1)
            if not path:
                return
            answers = socket.socket(fileno=fds[0])
            script = Path(os.fsdecode(path))
            _import(*imported_names(script.read_text(encoding="utf-8")))
            with suppress(ConnectionError):  # nobody waits for it, who will see to its end
                answers.send(BEGUN)
                if signal.SIGINT in signal.sigpending():  # what is forked now would not see it
                    answers.send(bytes([_INTERRUPTED]))
                    answers.close()
                    continue
            pid = os.fork()
            if pid == 0:
                for other in (
                    line,
                    *(one.data[1] for one in selector.get_map().values() if one.data),
                ):
                    other.close()
                tell_by(answers)
                _run(script)
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answers))


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
        code = _INTERRUPTED
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
            return _INTERRUPTED
        return AGAIN if room_comes(lacked=lacks_room(error)) else 1
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
