"""What an agent holds for a session until it is given back: groups, locks, commands that print."""

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from copycost.errors import CopycostError, HostError
from copycost.hosts.cgroups import CpuGroup
from copycost.hosts.local import LocalHost
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Line, Message, Part


@dataclass(frozen=True, slots=True)
class _Group:
    """A control group, and what takes it away."""

    group: CpuGroup
    stack: ExitStack


@dataclass(frozen=True, slots=True)
class _Stream:
    """A command whose output is sent while it runs, and what ends it."""

    output: IO[bytes]
    stack: ExitStack


class ServedBlocks(Part):
    """The blocks that one session is in.

    Parameters
    ----------
    host
        What is served.
    line
        The way back.
    bell
        Becomes readable when a request has come in, or the stream has ended.
    """

    def __init__(self, host: LocalHost, line: Line, bell: int) -> None:
        self._host = host
        self._line = line
        self._bell = bell
        self._groups: dict[int, _Group] = {}
        self._streams: dict[int, _Stream] = {}
        self._locks: dict[int, ExitStack] = {}

    def outputs(self) -> dict[int, int]:
        """Return the numbers of commands by the descriptors of what they print."""
        return {one.output.fileno(): number for number, one in self._streams.items()}

    def tell_output(self, number: int) -> None:
        """Tell what a command has printed, or that it is over."""
        stream = self._streams[number]
        data = os.read(stream.output.fileno(), messages.CHUNK_BYTES)
        if data:
            text = messages.as_text(data)
            self._line.send({"event": "output", "stream": number, "data": text})
            return
        over: Message = {"event": "over", "stream": number, "error": None}
        del self._streams[number]
        try:
            stream.stack.close()
        except HostError as error:
            over["error"] = messages.error_as_message(error)
        self._line.send(over)

    def _do_run(self, message: Message) -> Message:
        done = self._host.run(message["words"], message["text"], timeout_s=message["timeout_s"])
        return {"returncode": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    def _do_stream(self, message: Message) -> None:
        stack = ExitStack()
        output = stack.enter_context(self._host.stream(message["words"]))
        self._streams[message["stream"]] = _Stream(output, stack)

    def _do_stop_stream(self, message: Message) -> None:
        stream = self._streams.pop(message["stream"], None)
        if stream is not None:
            _abandon(stream.stack)

    def _do_open_group(self, message: Message) -> Message:
        stack = ExitStack()
        group = stack.enter_context(self._host.cpu_group(message["limit_percent"]))
        self._groups[message["group"]] = _Group(group, stack)
        return {"version": group.version, "path": str(group.path)}

    def _do_add_to_group(self, message: Message) -> None:
        self._groups[message["group"]].group.add(message["pids"])

    def _do_release_group(self, message: Message) -> None:
        self._groups[message["group"]].group.release()

    def _do_throttling(self, message: Message) -> list[int]:
        found = self._groups[message["group"]].group.throttling()
        return [found.periods, found.throttled_periods, found.throttled_ns]

    def _do_close_group(self, message: Message) -> None:
        self._groups.pop(message["group"]).stack.close()

    def _do_lock(self, message: Message) -> float:
        path = None if message["path"] is None else Path(message["path"])
        stack = ExitStack()
        # whoever asked for it says nothing before it has it, unless to call it off
        held = stack.enter_context(self._host.lock(path, [self._bell]))
        self._locks[message["lock"]] = stack
        return held.wait_s

    def _do_unlock(self, message: Message) -> None:
        self._locks.pop(message["lock"]).close()

    def close(self) -> None:
        """Leave them all."""
        for stream in self._streams.values():
            _abandon(stream.stack)
        for held in (*(one.stack for one in self._groups.values()), *self._locks.values()):
            with suppress(CopycostError):  # nobody is there to hear of it
                held.close()


def _abandon(stack: ExitStack) -> None:
    """Leave a block as an error would: its command is killed."""
    error = HostError("nobody reads on")
    with suppress(HostError):
        stack.__exit__(HostError, error, None)
