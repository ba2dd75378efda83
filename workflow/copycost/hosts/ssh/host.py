"""A machine at the other end of ssh, as a host.

An agent is brought to a machine once and kept there, and started by each ssh. It ends when its ssh
does, and ssh when its input does; the connection beneath is shared by those of a run.
"""

import hashlib
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from copycost.errors import AttemptFailed, HostError, MeasurementStopped, Unavailable
from copycost.hosts.lock import say
from copycost.hosts.processes import watched_parents
from copycost.hosts.remote.agent import SILENT
from copycost.hosts.remote.bundle import TOO_OLD, agent_bundle
from copycost.hosts.remote.connection import ConnectionLost
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.ssh.client import SshTarget, Unreachable

# we say something after so long, and an agent that hears nothing for so long takes the connection
# for broken
_KEEP_ALIVE_S, _SILENCE_S = 1.0, 3.5
_MISSING, _NO_PYTHON, _KILLED = 90, 92, 128 + signal.SIGKILL
# from ssh's start to the agent's first answer, on a slow and busy machine
_START_TIMEOUT_S = 30.0
_END_TIMEOUT_S = 5.0
# how long a machine that is gone, as one that reboots, is waited for: once, whoever wants it; if
# nobody has wanted it for so long, that is forgotten
_COMES_BACK_S, _FORGOTTEN_S = 60.0, 60.0
_LOOK_S = 1.0
_FOLDER = '"${XDG_CACHE_HOME:-$HOME/.cache}/copycost"'
# For any POSIX shell, without single quotes, since whatever shell the account has gets it in some.
# Where a link is broken, the sshd of our session would wait for many minutes for TCP to give up;
# the agent has heard nothing then, and ends, or kills itself if it is busy.
_START = (
    f"d={_FOLDER}; f=$d/agent-%(digest)s.pyz; [ -f $f ] || exit {_MISSING}; s={_NO_PYTHON};"
    " for p in python3 python3.14 python3.13 python3.12 python3.11; do"
    " command -v $p >/dev/null || continue;"
    f" $p -I -S $f --programs $d/programs --silence {_SILENCE_S:g}; s=$?;"
    f" [ $s = {TOO_OLD} ] || break; done;"
    f" case $s in {SILENT}|{_KILLED}) kill $PPID;; esac; exit $s"
)
_BRING = (
    f"umask 077; d={_FOLDER}; mkdir -p $d && cat > $d/.new.$$"
    " && mv $d/.new.$$ $d/agent-%(digest)s.pyz"
)


class SshHost(RemoteHost):
    """A machine at the other end of an ssh of our own; see `copycost.hosts.host`.

    AttemptFailed if it cannot be reached now, or takes no agent; Unavailable if nothing there can
    serve us.
    """

    def __init__(self, target: SshTarget) -> None:
        try:
            self._open(target, target.words(_in_shell(_START)))
        except _NoAgent:
            target.run(_in_shell(_BRING), agent_bundle())
            self._open(target, target.words(_in_shell(_START)))

    def _open(self, target: SshTarget, words: list[str]) -> None:
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as errors:
            with theirs:
                self._ssh = subprocess.Popen(
                    words,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=errors,
                    start_new_session=True,  # Ctrl-C reaches only us, who close it
                )
            try:
                super().__init__(
                    ours.detach(),
                    target.name,
                    _START_TIMEOUT_S,
                    kind="ssh",
                    keep_alive_s=_KEEP_ALIVE_S,
                )
            except ConnectionLost as lost:
                code = self._end()
                errors.seek(0)
                raise _refusal(target, code, errors.read().decode(errors="replace")) from lost

    def close(self) -> None:
        """End the agent, what it started, and ssh; a shared connection goes on for a moment."""
        super().close()
        self._end()

    def _end(self) -> int:
        """Wait for the end of ssh, whose stream is closed, and return its exit code."""
        try:
            return self._ssh.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            return self._ssh.wait()


class _NoAgent(HostError):
    """No agent of ours has been brought there."""


def _refusal(target: SshTarget, code: int, said: str) -> HostError:
    """Return why no agent answered, in ssh's words or in ours."""
    name = target.name
    if code == _MISSING:
        return _NoAgent(f"{name} has lost the agent that was brought to it; run again")
    if code in (_NO_PYTHON, TOO_OLD):
        found = "has no python3" if code == _NO_PYTHON else "has an older python3 only"
        return Unavailable(f"{name} {found}", "install python3 of version 3.11 or newer there")
    if code == 0:
        return AttemptFailed(f"no agent starts on {name}", f"look what `ssh {name} true` says")
    return target.refusal(code, said)


def clean(target: SshTarget) -> None:
    """Remove all that was brought to a machine, and end the shared connection."""
    target.run(_in_shell(f"rm -rf {_FOLDER}"))
    target.close()


def _in_shell(script: str) -> str:
    return f"exec sh -c '{script.replace('%(digest)s', _digest())}'"


@cache
def _digest() -> str:
    return hashlib.sha256(agent_bundle()).hexdigest()[:16]


@contextmanager
def reached(target: SshTarget) -> Iterator[SshHost]:
    """Return a block with another machine; one that is gone is waited for, and that is said.

    AttemptFailed if it cannot be reached, and does not come back within a minute, or takes no
    agent; Unavailable if nothing there can serve us.
    """
    mark = Path(f"{target.control_path()}.gone")
    waits = False
    with watched_parents() as parent_fds:
        while True:
            try:
                host = SshHost(target)
                break
            except Unreachable as gone:
                left_s = _COMES_BACK_S - _gone_s(mark)
                if left_s <= 0:
                    raise
                if not waits:
                    say(f"{gone.reason}: waiting, for {left_s:.0f} s at most")
                    waits = True
            if select.select(parent_fds, [], [], _LOOK_S)[0]:
                raise MeasurementStopped("the workflow ended while it waited for another machine")
    mark.unlink(missing_ok=True)
    if waits:
        say(f"{target.name} is back: going on")
    with host:
        yield host


def _gone_s(mark: Path) -> float:
    """Return for how long a machine has been gone [s], by a file that says since when."""
    since_s = now_s = time.time()
    with suppress(OSError, ValueError):
        if now_s - mark.stat().st_mtime < _FORGOTTEN_S:
            since_s = min(float(mark.read_text()), now_s)  # a clock may be set back
    mark.write_text(f"{since_s}")
    return now_s - since_s
