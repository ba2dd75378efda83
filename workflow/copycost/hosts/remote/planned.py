"""What an agent does by itself at both edges of a window."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from copycost.hosts.remote.connection import Connection, result_of
from copycost.hosts.remote.messages import Message

T = TypeVar("T")


class PlannedThere(Generic[T]):
    """Two requests that an agent keeps until their times; see `window_edges.AtEdges`.

    Parameters
    ----------
    connection
        Leads to the agent.
    requests
        What it is to do at the first edge and at the second.
    found
        Turns an answer into what came of it.
    """

    def __init__(
        self,
        connection: Connection,
        requests: tuple[Message, Message],
        found: Callable[[Any], T],
    ) -> None:
        self._connection = connection
        self._requests = requests
        self._found = found
        self._plan = connection.new_number()

    def plan(self, start_ns: int, end_ns: int) -> None:
        """Hand the requests over."""
        requests = list(zip((start_ns, end_ns), self._requests, strict=True))
        self._connection.say("plan", plan=self._plan, requests=requests)

    def edge(self) -> None:
        """Do nothing: the agent does it by itself."""

    def edges(self) -> Sequence[T]:
        """Return what came of it; raise the first error that the agent ran into."""
        answers = self._connection.ask("planned", plan=self._plan)
        return [self._found(result_of(answer)) for answer in answers]
