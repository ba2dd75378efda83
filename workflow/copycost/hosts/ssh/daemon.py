"""The daemon of a run's agents on other machines: ``python -m copycost.hosts.ssh.daemon FD...``.

It has an ssh with an agent for each machine that was asked for, so that a repetition finds both
running. They end with it: ssh when its input does, and an agent when its ssh does.
"""

import logging
import socket
import sys
import time
from collections.abc import Sequence

from copycost.hosts.remote.daemon import Daemon, Words, keep
from copycost.hosts.ssh.client import SshTarget, Unreachable
from copycost.hosts.ssh.line import KEEP_ALIVE_S, SshLine

_ANSWER_TIMEOUT_S = 4.0

_log = logging.getLogger(__name__)


class SshDaemon(Daemon[SshTarget, SshLine]):
    """Owns lines to agents and lends them."""

    idle_s = 30.0
    beat_s = KEEP_ALIVE_S

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
            if line.is_over():
                self.lines.pop(target).close()
            elif target not in self.lent:
                line.say(b"\n")  # somebody is here


if __name__ == "__main__":
    keep(SshDaemon, sys.argv[1:])
