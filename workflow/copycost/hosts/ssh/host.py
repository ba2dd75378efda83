"""A machine at the other end of ssh, as a host: its agent is brought there once and kept."""

import hashlib
import os
import subprocess
from functools import cache

from copycost.errors import HostError, Unavailable
from copycost.hosts.remote.bundle import TOO_OLD, agent_bundle
from copycost.hosts.remote.connection import PATIENCE_S, ConnectionLost
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.ssh.client import SshTarget

_MISSING = 90
_NO_PYTHON = 92
# an agent that hears nothing for so long takes the connection for broken; we say something sooner
SILENCE_S = 30.0
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


class SshHost(RemoteHost):
    """A machine at the other end of ssh; see `copycost.hosts.host.Host`.

    Raises
    ------
    Unavailable
        If it cannot be reached, or nothing there can serve us.
    """

    def __init__(self, target: SshTarget, patience_s: float = PATIENCE_S) -> None:
        self.target = target
        self._errors = os.memfd_create("ssh")
        try:
            self._ssh = self._start()
            try:
                self._open(patience_s)
            except ConnectionLost as lost:
                if self._end() != _MISSING:
                    raise self._why(lost) from lost
                target.run(_in_shell(_BRING % _values()), agent_bundle())
                self._ssh = self._start()
                self._open(patience_s)
        except BaseException:
            self._give_back()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        return self.target.start(_in_shell(_START % _values()), self._errors)

    def _open(self, patience_s: float) -> None:
        """Open a session with the agent that was just started."""
        assert self._ssh.stdin is not None
        assert self._ssh.stdout is not None
        fds = os.dup(self._ssh.stdout.fileno()), os.dup(self._ssh.stdin.fileno())
        self._ssh.stdin.close()
        self._ssh.stdout.close()
        super().__init__(*fds, self.target.name, patience_s, kind="ssh")

    def _end(self) -> int:
        """Wait for the end of ssh, and return its exit code."""
        try:
            return self._ssh.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            return self._ssh.wait()

    def _why(self, lost: ConnectionLost) -> HostError:
        """Return why no agent answered, in ssh's words or in ours."""
        code = self._ssh.returncode
        said = os.pread(self._errors, os.fstat(self._errors).st_size, 0).decode(errors="replace")
        if code in (_NO_PYTHON, TOO_OLD):
            found = "has no python3" if code == _NO_PYTHON else "has an older python3 only"
            return Unavailable(f"{self.target.name} {found}", f"install {_PYTHON} there")
        return self.target.refusal(code, said) if code else lost

    def close(self) -> None:
        """End the session, and ssh's; the shared connection goes on for the next one."""
        super().close()
        self._end()
        self._give_back()

    def _give_back(self) -> None:
        if self._errors >= 0:
            os.close(self._errors)
        self._errors = -1


def clean(target: SshTarget) -> None:
    """Remove all that was brought to a machine, and end the shared connection."""
    target.run(_in_shell(_CLEAN))
    target.close()


def _in_shell(script: str) -> str:
    return f"exec sh -c '{script}'"


@cache
def _digest() -> str:
    return hashlib.sha256(agent_bundle()).hexdigest()[:16]


def _values() -> dict[str, object]:
    return {"digest": _digest(), "silence": SILENCE_S}
