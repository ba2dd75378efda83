"""ssh to an agent on another machine: it is brought there once and kept, and started anew."""

import hashlib
import os
import socket
import subprocess
from collections.abc import Sequence
from functools import cache

from copycost.errors import AttemptFailed, HostError, Unavailable
from copycost.hosts.remote.bundle import TOO_OLD, agent_bundle
from copycost.hosts.remote.daemon import AgentLine
from copycost.hosts.ssh.client import SshTarget

SILENCE_S = 3.5
"""An agent that hears nothing for so long takes the connection for broken."""

KEEP_ALIVE_S = 1.0
"""Whoever has the stream says something after so long."""

_MISSING = 90
_NO_PYTHON = 92
# from ssh's start to the agent's first answer, on a slow and busy machine
_START_TIMEOUT_S = 30.0
_END_TIMEOUT_S = 5.0
_FOLDER = '"${XDG_CACHE_HOME:-$HOME/.cache}/copycost"'
# for any POSIX shell, without single quotes, since whatever shell the account has gets it in some
_START = (
    f"d={_FOLDER}; f=$d/agent-%(digest)s.pyz; [ -f $f ] || exit {_MISSING}; s={_NO_PYTHON};"
    " for p in python3 python3.14 python3.13 python3.12 python3.11; do"
    " command -v $p >/dev/null || continue;"
    " $p -I $f --programs $d/programs --silence %(silence)g; s=$?;"
    f" [ $s = {TOO_OLD} ] || exit $s; done; exit $s"
)
_BRING = (
    f"umask 077; d={_FOLDER}; mkdir -p $d && cat > $d/.new.$$"
    " && mv $d/.new.$$ $d/agent-%(digest)s.pyz"
)
_CLEAN = f"rm -rf {_FOLDER}"
_PYTHON = "python3 of version 3.11 or newer"


class SshLine(AgentLine):
    """An ssh that leads to an agent; sessions follow one another on it.

    AttemptFailed if the machine cannot be reached now, or takes no agent; Unavailable if nothing
    there can serve us; MeasurementStopped once one of `stop_fds` is readable: the run is over.
    """

    def __init__(self, target: SshTarget, stop_fds: Sequence[int] = ()) -> None:
        self.target = target
        self._errors = os.memfd_create("ssh")
        try:
            super().__init__(self._start())
            if not self.answers(stop_fds, _START_TIMEOUT_S):
                if self._end() != _MISSING:
                    raise self._why()
                target.run(_in_shell(_BRING % _values()), agent_bundle())
                self.line = self._start()
                if not self.answers(stop_fds, _START_TIMEOUT_S):
                    self._end()
                    raise self._why()
        except BaseException:
            self.close()
            raise

    def _start(self) -> socket.socket:
        words = self.target.words(_in_shell(_START % _values()))
        ours, theirs = socket.socketpair()
        with theirs:
            self._ssh = subprocess.Popen(
                words,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C reaches only us, who close it
            )
        return ours

    def is_over(self) -> bool:
        """Return whether ssh has ended."""
        return self._ssh.poll() is not None

    def _end(self) -> int:
        """Close the stream, wait for the end of ssh, and return its exit code."""
        self.line.close()
        try:
            return self._ssh.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            return self._ssh.wait()

    def _why(self) -> HostError:
        """Return why no agent answered, in ssh's words or in ours."""
        name, code = self.target.name, self._ssh.returncode
        said = os.pread(self._errors, os.fstat(self._errors).st_size, 0).decode(errors="replace")
        if code in (_NO_PYTHON, TOO_OLD):
            found = "has no python3" if code == _NO_PYTHON else "has an older python3 only"
            return Unavailable(f"{name} {found}", f"install {_PYTHON} there")
        if code:
            return self.target.refusal(code, said)
        noise = f"; it said {self.noise[:200]!r}" if self.noise else ""
        remedy = f"look what `ssh {name} true` says"
        return AttemptFailed(f"no agent starts on {name}{noise}", remedy)

    def close(self) -> None:
        """End the agent, what it started, and ssh; a shared connection goes on for a moment."""
        if self._errors >= 0:
            if hasattr(self, "line"):  # else ssh was never started
                self._end()
            os.close(self._errors)
            self._errors = -1


def clean(target: SshTarget) -> None:
    """Remove all that was brought to a machine, and end the shared connection."""
    target.run(_in_shell(_CLEAN))
    target.close()


def _in_shell(script: str) -> str:
    return f"exec sh -c '{script}'"


@cache
def _values() -> dict[str, object]:
    return {
        "digest": hashlib.sha256(agent_bundle()).hexdigest()[:16],
        "silence": SILENCE_S,
    }
