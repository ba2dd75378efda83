"""A machine at the other end of ssh, as a host: for once, or by the run's daemon."""

import os
import select
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from copycost.errors import HostError, MeasurementStopped
from copycost.hosts.lock import say
from copycost.hosts.parent import watched_parents
from copycost.hosts.remote.daemon import ask_daemon, connected
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.ssh.client import SshTarget, Unreachable
from copycost.hosts.ssh.daemon import KEEP_ALIVE_S, SshLine

_DAEMON = "copycost.hosts.ssh.daemon"
# ssh may be started twice within one answer, and a bundle be brought between
_DAEMON_PATIENCE_S = 90.0
# how long a machine that is gone, as one that reboots, is waited for: once, whoever wants it
_COMES_BACK_S = 60.0
_LOOK_S = 1.0


class SshHost(RemoteHost):
    """A machine at the other end of an ssh of our own; see `copycost.hosts.host`."""

    def __init__(self, target: SshTarget) -> None:
        self.ssh = SshLine(target)
        try:
            line = os.dup(self.ssh.line.fileno())
            super().__init__(line, target.name, kind="ssh", keep_alive_s=KEEP_ALIVE_S)
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
    with connected(_DAEMON, _DAEMON_PATIENCE_S) as daemon, watched_parents() as parent_fds:
        try:
            line = _line_to(target, daemon, parent_fds)
        except OSError as error:
            raise HostError(f"the daemon of ssh does not answer ({error}); run again") from error
        with RemoteHost(line, target.name, kind="ssh", keep_alive_s=KEEP_ALIVE_S) as host:
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
