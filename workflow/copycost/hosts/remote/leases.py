"""What a session holds on a remote host until it gives it back: files, a group, an output."""

import io
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition

from copycost.hosts.cgroups import CpuGroup, Throttling
from copycost.hosts.host import Reading
from copycost.hosts.remote import messages
from copycost.hosts.remote.connection import Connection
from copycost.hosts.remote.messages import Message
from copycost.hosts.remote.planned import PlannedThere


class RemoteReader(PlannedThere[Reading]):
    """Files that an agent reads; see `copycost.hosts.host.Reader`."""

    def __init__(self, connection: Connection, paths: list[str]) -> None:
        self._reader = connection.new_number()
        request = {"op": "read", "reader": self._reader}
        super().__init__(connection, (request, request), _reading_of)
        connection.ask("open_reader", reader=self._reader, paths=paths)

    def read(self) -> Reading:
        """Read them now."""
        return _reading_of(self._connection.ask("read", reader=self._reader))

    def close(self) -> None:
        """Close the files."""
        self._connection.say("forget_plan", plan=self._plan)
        self._connection.say("close_reader", reader=self._reader)


def _reading_of(answer: tuple[int, dict[str, str]]) -> Reading:
    at_ns, texts = answer
    return at_ns, texts


@dataclass(frozen=True, slots=True)
class RemoteGroup(CpuGroup):
    """A control group there."""

    connection: Connection
    number: int

    def add(self, pids: Sequence[int]) -> None:
        """Move processes, with all their threads, into the group."""
        self.connection.ask("add_to_group", group=self.number, pids=list(pids))

    def release(self) -> None:
        """Take the limit off; what is in the group stays there."""
        self.connection.ask("release_group", group=self.number)

    def throttling(self) -> Throttling:
        """Return how often the group was held back so far."""
        return Throttling(*self.connection.ask("throttling", group=self.number))


class RemoteOutput(io.RawIOBase):
    """What a command prints, as it comes in; its end is that of the connection too."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = False
        self.error: Message | None = None
        self._lost = False
        self._held: deque[bytes] = deque()
        self._changed = Condition()

    def hear(self, message: Message) -> None:
        """Take news of it, in the connection's thread."""
        with self._changed:
            match message["event"]:
                case "output":
                    self._held.append(messages.bytes_of(message["data"]))
                case "over":
                    self.is_over = True
                    self.error = message["error"]
                case _:
                    self._lost = True
            self._changed.notify_all()

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with what is next, once there is something; 0 at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._held or self.is_over or self._lost)
            if not self._held:
                return 0
            data = self._held.popleft()
            taken, rest = data[: len(buffer)], data[len(buffer) :]
            if rest:
                self._held.appendleft(rest)
            buffer[: len(taken)] = taken
            return len(taken)
