"""What an agent does for one session: each request by the part that serves it, and news.

It runs in the agent's main thread, apart from `kill`.
"""

import select
from dataclasses import asdict
from pathlib import Path
from typing import Any

from copycost.errors import HostError
from copycost.hosts.local import LocalHost
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Line, Message, Part
from copycost.hosts.remote.served_blocks import ServedBlocks
from copycost.hosts.remote.served_facts import ServedFacts
from copycost.hosts.remote.served_plans import ServedPlans
from copycost.hosts.remote.served_programs import ServedPrograms

_CONSTANTS = ("SC_PAGE_SIZE", "SC_CLK_TCK", "SC_NPROCESSORS_ONLN")
# which kernel it is, and which boot of it
_KERNEL = (("release", "osrelease"), ("version", "version"), ("boot_id", "random/boot_id"))


def introduction(host: LocalHost) -> Message:
    """Return what everybody wants to know of a host, said when a session is opened."""
    return {
        "protocol": messages.PROTOCOL,
        "constants": {name: host.constant(name) for name in _CONSTANTS},
        "usable_cpus": sorted(host.usable_cpus()),
        "about": asdict(host.about),
        "kernel": {name: host.files.text(f"proc/sys/kernel/{path}") for name, path in _KERNEL},
    }


class Service:
    """What one session asked for, until it is over.

    Parameters
    ----------
    host
        What is served.
    line
        The way back.
    programs
        Folder of programs that are brought here.
    bell
        Becomes readable when a request has come in, or the stream has ended.
    """

    def __init__(self, host: LocalHost, line: Line, programs: Path, bell: int) -> None:
        self._bell = bell
        self._facts = ServedFacts(host)
        self._programs = ServedPrograms(host, line, programs)
        self._blocks = ServedBlocks(host, line, bell)
        self._plans = ServedPlans(host, self.do)

    def do(self, message: Message) -> Any:  # noqa: ANN401 - JSON
        """Do what a request asks, and return the answer.

        Raises
        ------
        CopycostError, OSError, ValueError, LookupError
            Whatever the request ran into.
        """
        parts: tuple[Part, ...] = (self._facts, self._programs, self._blocks, self._plans)
        for part in parts:
            serve = part.server_of(message["op"])
            if serve is not None:
                return serve(message)
        raise HostError(f"the agent knows no request {message['op']!r}; send it anew")

    def wait_for_news(self) -> None:
        """Wait for a request; tell meanwhile what programs say, and do what was planned."""
        programs, blocks, plans = self._programs, self._blocks, self._plans
        while True:
            poll = select.poll()
            outputs = blocks.outputs()
            for fd in (self._bell, *programs.talking, *programs.running, *outputs):
                poll.register(fd, select.POLLIN | select.POLLRDHUP)
            events = dict(poll.poll(plans.left_ms()))
            ready = set(events)
            for fd in ready & set(programs.talking):  # before the news that a program has ended
                hung_up = events[fd] & (select.POLLHUP | select.POLLRDHUP)
                if not programs.tell_lines(fd) and hung_up:
                    del programs.talking[fd]
            for fd in ready & set(programs.running):
                programs.tell_end(fd)
            for fd in ready & set(outputs):
                blocks.tell_output(outputs[fd])
            plans.do_what_is_due()
            if self._bell in ready:
                return

    def close(self) -> None:
        """End all that was started and give everything back."""
        self._programs.close()
        self._blocks.close()
        self._facts.close()

    def kill(self) -> None:
        """Kill all programs, while the main thread is busy with something else."""
        self._programs.kill()
