"""A machine at the other end of ssh, as a host: for once, or by the run's keeper."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from copycost.errors import HostError
from copycost.hosts.remote.connection import PATIENCE_S
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.remote.keeping import ask_keeper, connected
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.line import KEEP_ALIVE_S, SshLine

_KEEPER = "copycost.hosts.ssh.keeper"
# ssh may be started twice within one answer, and a bundle be brought between
_KEEPER_PATIENCE_S = 90.0


class SshHost(RemoteHost):
    """A machine at the other end of an ssh of our own; see `copycost.hosts.host.Host`.

    Raises
    ------
    Unavailable
        If it cannot be reached, or nothing there can serve us.
    """

    def __init__(self, target: SshTarget, patience_s: float = PATIENCE_S) -> None:
        self.ssh = SshLine(target)
        try:
            line = os.dup(self.ssh.line.fileno())
            super().__init__(
                line, line, target.name, patience_s, kind="ssh", keep_alive_s=KEEP_ALIVE_S
            )
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

    Raises
    ------
    Unavailable
        If it cannot be reached, or nothing there can serve us.
    """
    with connected(_KEEPER, _KEEPER_PATIENCE_S) as keeper:
        try:
            asked = {"peer": target.name, "ssh_options": list(target.options)}
            _, (line,) = ask_keeper(keeper, asked)
        except OSError as error:
            raise HostError(f"the keeper of ssh does not answer ({error}); run again") from error
        with RemoteHost(line, line, target.name, kind="ssh", keep_alive_s=KEEP_ALIVE_S) as host:
            yield host
