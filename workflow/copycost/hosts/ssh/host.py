"""A machine at the other end of ssh, as a host: for once, or by the run's daemon.

An agent is brought to a machine once and kept there, and started by each ssh. The daemon,
``python -m MODULE FD...``, has one for each machine that was asked for, so that a repetition finds
both running. They end with it: ssh when its input does, and an agent when its ssh does.
"""

import hashlib
import logging
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from copycost.errors import AttemptFailed, HostError, MeasurementStopped, Unavailable
from copycost.hosts.lock import say
from copycost.hosts.processes import watched_parents
from copycost.hosts.remote.bundle import TOO_OLD, agent_bundle
from copycost.hosts.remote.daemon import AgentLine, Daemon, Words, ask_daemon, connected, keep
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.ssh.client import SshTarget, Unreachable

# whoever has the stream to an agent says something after so long, and an agent that hears nothing
# for so long takes the connection for broken
_KEEP_ALIVE_S, _SILENCE_S = 1.0, 3.5
_MISSING, _NO_PYTHON = 90, 92
# from ssh's start to the agent's first answer, on a slow and busy machine
_START_TIMEOUT_S = 30.0
_ANSWER_TIMEOUT_S = 4.0
_END_TIMEOUT_S = 5.0
# ssh may be started twice within one answer, and a bundle be brought between
_DAEMON_PATIENCE_S = 90.0
# how long a machine that is gone, as one that reboots, is waited for: once, whoever wants it
_COMES_BACK_S = 60.0
_LOOK_S = 1.0
_FOLDER = '"${XDG_CACHE_HOME:-$HOME/.cache}/copycost"'
# for any POSIX shell, without single quotes, since whatever shell the account has gets it in some
_START = (
    f"d={_FOLDER}; f=$d/agent-%(digest)s.pyz; [ -f $f ] || exit {_MISSING}; s={_NO_PYTHON};"
    " for p in python3 python3.14 python3.13 python3.12 python3.11; do"
    " command -v $p >/dev/null || continue;"
    f" $p -I $f --programs $d/programs --silence {_SILENCE_S:g}; s=$?;"
    f" [ $s = {TOO_OLD} ] || exit $s; done; exit $s"
)
_BRING = (
    f"umask 077; d={_FOLDER}; mkdir -p $d && cat > $d/.new.$$"
    " && mv $d/.new.$$ $d/agent-%(digest)s.pyz"
)

_log = logging.getLogger(__name__)


class SshLine(AgentLine):
    """An ssh that leads to an agent; sessions follow one another on it.

    AttemptFailed if the machine cannot be reached now, or takes no agent; Unavailable if nothing
    there can serve us; MeasurementStopped once one of `stop_fds` is readable: the run is over.
    """

    def __init__(self, target: SshTarget, stop_fds: Sequence[int] = ()) -> None:
        self.target = target
        self._words = target.words(_in_shell(_START))
        self._errors = os.memfd_create("ssh")
        super().__init__(self._start())
        try:
            if not self.answers(stop_fds, _START_TIMEOUT_S):
                if self._end() != _MISSING:
                    raise self._why()
                target.run(_in_shell(_BRING), agent_bundle())
                self.line = self._start()
                if not self.answers(stop_fds, _START_TIMEOUT_S):
                    self._end()
                    raise self._why()
        except BaseException:
            self.close()
            raise

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self.ssh = subprocess.Popen(
                self._words,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C reaches only us, who close it
            )
        return ours

    def _end(self) -> int:
        """Close the stream, wait for the end of ssh, and return its exit code."""
        self.line.close()
        try:
            return self.ssh.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.ssh.kill()
            return self.ssh.wait()

    def _why(self) -> HostError:
        """Return why no agent answered, in ssh's words or in ours."""
        name, code = self.target.name, self.ssh.returncode
        if code in (_NO_PYTHON, TOO_OLD):
            found = "has no python3" if code == _NO_PYTHON else "has an older python3 only"
            remedy = "install python3 of version 3.11 or newer there"
            return Unavailable(f"{name} {found}", remedy)
        if code:
            said = os.pread(self._errors, os.fstat(self._errors).st_size, 0)
            return self.target.refusal(code, said.decode(errors="replace"))
        noise = f"; it said {self.noise[:200]!r}" if self.noise else ""
        remedy = f"look what `ssh {name} true` says"
        return AttemptFailed(f"no agent starts on {name}{noise}", remedy)

    def close(self) -> None:
        """End the agent, what it started, and ssh; a shared connection goes on for a moment."""
        if self._errors >= 0:
            self._end()
            os.close(self._errors)
            self._errors = -1


def clean(target: SshTarget) -> None:
    """Remove all that was brought to a machine, and end the shared connection."""
    target.run(_in_shell(f"rm -rf {_FOLDER}"))
    target.close()


def _in_shell(script: str) -> str:
    return f"exec sh -c '{script.replace('%(digest)s', _digest())}'"


@cache
def _digest() -> str:
    return hashlib.sha256(agent_bundle()).hexdigest()[:16]


class SshHost(RemoteHost):
    """A machine at the other end of an ssh of our own; see `copycost.hosts.host`."""

    def __init__(self, target: SshTarget) -> None:
        self.ssh = SshLine(target)
        try:
            line = os.dup(self.ssh.line.fileno())
            super().__init__(line, target.name, kind="ssh", keep_alive_s=_KEEP_ALIVE_S)
        except BaseException:
            self.ssh.close()
            raise

    def close(self) -> None:
        """End the session, and ssh."""
        super().close()
        self.ssh.close()


@contextmanager
def kept_host(target: SshTarget) -> Iterator[RemoteHost]:
    """Return a block with another machine, whose agent outlasts it for the run's next repetition.

    AttemptFailed if it cannot be reached, and does not come back within a minute, or takes no
    agent; Unavailable if nothing there can serve us.
    """
    with connected(__name__, _DAEMON_PATIENCE_S) as daemon, watched_parents() as parent_fds:
        try:
            line = _line_to(target, daemon, parent_fds)
        except OSError as error:
            raise HostError(f"the daemon of ssh does not answer ({error}); run again") from error
        with RemoteHost(line, target.name, kind="ssh", keep_alive_s=_KEEP_ALIVE_S) as host:
            yield host


def _line_to(target: SshTarget, daemon: socket.socket, parent_fds: Sequence[int]) -> int:
    """Return the line to a machine's agent; one that is gone is waited for, and that is said."""
    asked = {"peer": target.name, "ssh_options": list(target.options)}
    waits = False
    while True:
        answer, lines = ask_daemon(daemon, asked)
        if lines:
            if waits:
                say(f"{target.name} is back: going on")
            return lines[0]
        gone = Unreachable(*answer["gone"])
        if answer["s"] >= _COMES_BACK_S:
            raise gone
        if not waits:
            say(f"{gone.reason}: waiting, for {_COMES_BACK_S - answer['s']:.0f} s at most")
            waits = True
        if select.select(parent_fds, [], [], _LOOK_S)[0]:
            raise MeasurementStopped("the workflow ended while it waited for another machine")


class SshDaemon(Daemon[SshTarget, SshLine]):
    """Owns lines to agents and lends them."""

    idle_s = 30.0
    beat_s = _KEEP_ALIVE_S

    def __init__(self, listening: socket.socket, parent_fds: Sequence[int]) -> None:
        super().__init__(listening, parent_fds)
        self._gone_since_s: dict[SshTarget, float] = {}

    def answer(self, asked: Words) -> tuple[Words, list[int]]:
        """Lend the line to a machine; or say why there is none, and for how long."""
        target = SshTarget(asked["peer"], tuple(asked["ssh_options"]))
        line = self.lines.get(target)
        if line is not None and not line.answers(self.parent_fds, _ANSWER_TIMEOUT_S):
            _log.warning("the agent on %s does not answer: another one is started", target.name)
            self.lines.pop(target).close()
        if target not in self.lines:
            try:
                self.lines[target] = SshLine(target, self.parent_fds)
            except Unreachable as gone:
                since_s = self._gone_since_s.setdefault(target, time.monotonic())
                return {"gone": [gone.reason, gone.remedy], "s": time.monotonic() - since_s}, []
        self._gone_since_s.pop(target, None)
        self.lent.add(target)
        return {}, [self.lines[target].line.fileno()]

    def beat(self) -> None:
        """Keep the lines alive that nobody has; close those whose ssh has ended."""
        for target, line in list(self.lines.items()):
            if line.ssh.poll() is not None:
                self.lines.pop(target).close()
            elif target not in self.lent:
                line.say(b"\n")  # somebody is here


if __name__ == "__main__":
    keep(SshDaemon, sys.argv[1:])
