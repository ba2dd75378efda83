"""What an agent does for one session: what its host is asked, what it holds for it, and news.

It runs in the agent's main thread, apart from `kill`.
"""

import hashlib
import os
import select
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from copycost.errors import CopycostError, HostError
from copycost.hosts.launch import Launch
from copycost.hosts.local import LocalHost
from copycost.hosts.process_usage import Usage, usage_or_none
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Line, Message, Target
from copycost.hosts.remote.served_plans import ServedPlans
from copycost.hosts.remote.served_program import ServedProgram

_CONSTANTS = ("SC_PAGE_SIZE", "SC_CLK_TCK", "SC_NPROCESSORS_ONLN")
# which kernel it is, and which boot of it
_KERNEL = (("release", "osrelease"), ("version", "version"), ("boot_id", "random/boot_id"))
_T = TypeVar("_T")


def introduction(host: LocalHost) -> Message:
    """Return what everybody wants to know of a host, said when a session is opened."""
    return {
        "protocol": messages.PROTOCOL,
        "constants": {name: host.constant(name) for name in _CONSTANTS},
        "usable_cpus": host.usable_cpus(),
        "about": host.about,
        "kernel": {name: host.files.text(f"proc/sys/kernel/{path}") for name, path in _KERNEL},
    }


class Service:
    """What one session asked for, until it is over.

    Programs that are brought here are kept in a folder. The bell is a descriptor that becomes
    readable when a request has come in, or the stream has ended.
    """

    def __init__(self, host: LocalHost, line: Line, folder: Path, bell: int) -> None:
        self._host = host
        self._line = line
        self._folder = folder
        self._bell = bell
        # what can be asked, by what requests call it; numbers are given by who asks
        self._things: dict[Target, Any] = {messages.HOST: host, messages.FILES: host.files}
        # the blocks that we are in, of files that are open, groups, locks, commands that print
        self._blocks: dict[int, ExitStack] = {}
        self._outputs: dict[int, int] = {}  # numbers of commands by descriptors of what they print
        self._plans = ServedPlans(host, self.do)

    def do(self, message: Message) -> Any:  # noqa: ANN401 - JSON
        """Do what a request asks, and return the answer, or raise what it ran into.

        What is more than a call has a method here: ``start``, say, is ``_do_start``.
        """
        op, fields = message["op"], message["with"]
        for part in (self, self._plans):
            serve = getattr(part, f"_do_{op}", None)
            if serve is not None:
                return serve(**fields)
        serve = getattr(self._things[message["of"]], op, None)
        if serve is None:
            raise HostError(f"the agent knows no request {op!r}; send it anew")
        return serve(**fields)

    def wait_for_news(self) -> None:
        """Wait for a request; tell meanwhile what programs say, and do what was planned."""
        while True:
            talking = {one.control_fd: at for at, one in self._programs().items() if one.talks}
            running = {one.ended_fd: at for at, one in self._programs().items() if one.runs}
            poll = select.poll()
            for fd in (self._bell, *talking, *running, *self._outputs):
                poll.register(fd, select.POLLIN | select.POLLRDHUP)
            events = dict(poll.poll(self._plans.left_ms()))
            for fd in events.keys() & talking:  # before the news that a program has ended
                hung_up = events[fd] & (select.POLLHUP | select.POLLRDHUP)
                if not self._tell_lines(talking[fd]) and hung_up:
                    self._things[talking[fd]].talks = False
            for fd in events.keys() & running:
                self._tell_end(running[fd])
            for fd in events.keys() & self._outputs:
                self._tell_output(fd)
            self._plans.do_what_is_due()
            if self._bell in events:
                return

    def close(self) -> None:
        """End all that was started and give everything back."""
        for program in self._programs().values():
            program.hang_up()
        for program in self._programs().values():
            program.program.end()
            program.close()
        for number in self._outputs.values():
            _abandon(self._blocks.pop(number))
        for block in reversed(self._blocks.values()):
            with suppress(CopycostError):  # nobody is there to hear of it
                block.close()

    def kill(self) -> None:
        """Kill all programs, while the main thread is busy with something else."""
        for program in self._programs().values():
            program.kill()

    # -- programs ---------------------------------------------------------------------------------

    def _programs(self) -> dict[Target, ServedProgram]:
        things = list(self._things.items())
        return {at: one for at, one in things if isinstance(one, ServedProgram)}

    def _do_has(self, digest: str, name: str) -> str | None:
        path = self._path_of(digest, name)
        return str(path) if path.exists() else None

    def _do_bring(self, digest: str, name: str, data: bytes) -> str:
        """Keep a program that was brought here; it appears whole or not at all."""
        path = self._path_of(digest, name)
        if hashlib.sha256(data).hexdigest() != digest:
            raise HostError(f"{name}: came to {path} damaged; run again")
        half = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            half.write_bytes(data)
            half.chmod(0o755)
            half.replace(path)
        except OSError:
            with suppress(OSError):
                half.unlink()
            raise
        return str(path)

    def _path_of(self, digest: str, name: str) -> Path:
        return self._folder.absolute() / digest[:16] / Path(name).name

    def _do_start(self, number: int, launch: Launch) -> Message:
        # should we be killed, nobody else would end it
        program = ServedProgram(self._host.start(replace(launch, dies_with_us=True)))
        self._things[number] = program
        return {"pid": program.pid, "paths": program.paths()}

    def _do_forget_program(self, number: int) -> None:
        """Forget a program; one that still runs goes on, and is ended with the session."""
        if self._things[number].program.exit_code is not None:
            self._things.pop(number).close()

    def _tell_lines(self, number: Target) -> bool:
        """Tell what a program has said; return whether there was a whole line."""
        lines = self._things[number].lines()
        if lines:
            self._line.send({"event": "lines", "of": number, "lines": lines})
        return bool(lines)

    def _tell_end(self, number: Target) -> None:
        """Tell that a program has ended, with what it left."""
        program: ServedProgram = self._things[number]
        while program.talks and self._tell_lines(number):
            pass
        program.talks = program.runs = False
        self._line.send({"event": "ended", "of": number, **program.left()})

    # -- what is held until it is given back ------------------------------------------------------

    def _hold(self, number: int, block: AbstractContextManager[_T]) -> _T:
        stack = ExitStack()
        thing = stack.enter_context(block)
        self._things[number], self._blocks[number] = thing, stack
        return thing

    def _do_give_back(self, number: int) -> None:
        del self._things[number]
        self._blocks.pop(number).close()

    def _do_open_reader(self, number: int, paths: Sequence[str]) -> None:
        self._hold(number, closing(self._host.reader(paths)))

    def _do_open_group(self, number: int, limit_percent: float | None) -> Message:
        group = self._hold(number, self._host.cpu_group(limit_percent))
        return {"version": group.version, "path": group.path}

    def _do_open_lock(self, number: int, path: str | None) -> float:
        # whoever asked for it says nothing before it has it, unless to call it off
        lock = self._host.lock(None if path is None else Path(path), [self._bell])
        return self._hold(number, lock).wait_s

    def _do_open_stream(self, number: int, words: Sequence[str]) -> None:
        output = self._hold(number, self._host.stream(words))
        self._outputs[output.fileno()] = number

    def _do_stop_stream(self, number: int) -> None:
        if number in self._outputs.values():
            del self._outputs[self._things.pop(number).fileno()]
            _abandon(self._blocks.pop(number))

    def _tell_output(self, fd: int) -> None:
        """Tell what a command has printed, or that it is over."""
        number = self._outputs[fd]
        data = os.read(fd, messages.CHUNK_BYTES)
        if data:
            self._line.send({"event": "output", "of": number, "data": data})
            return
        del self._outputs[fd]
        over: Message = {"event": "over", "of": number, "error": None}
        try:
            self._do_give_back(number)
        except HostError as error:
            over["error"] = messages.error_as_message(error)
        self._line.send(over)

    def _do_usage_or_none(self, pids: Sequence[int]) -> Usage | None:
        return usage_or_none(pids)


def _abandon(block: ExitStack) -> None:
    """Leave a block as an error would: its command is killed."""
    error = HostError("nobody reads on")
    with suppress(HostError):
        block.__exit__(HostError, error, None)
