"""What is asked of an agent: each method here has the agent call the one of that name there."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from copycost.hosts.cgroups import CpuGroup
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.local import LocalReader
from copycost.hosts.remote import messages
from copycost.hosts.remote.connection import Connection
from copycost.hosts.remote.messages import Message, Target, request
from copycost.hosts.window_edges import Reading

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate[Any, P], T]
"""Of whatever has a `_connection`, and in `_of` what the agent calls it."""


def asked(method: Method[P, T]) -> Method[P, T]:
    """Return the method by which something here has the agent call this one, and its answer.

    What takes a ``timeout_s`` may take so long there besides.
    """
    signature = inspect.signature(method)

    @wraps(method)
    def ask(self: Any, /, *words: P.args, **named: P.kwargs) -> T:  # noqa: ANN401
        fields = _fields(signature, self, *words, **named)
        takes_s = fields.get("timeout_s", 0.0)
        answer: T = self._connection.ask(method.__name__, self._of, takes_s=takes_s, **fields)
        return answer

    return ask


def told(method: Method[P, None]) -> Method[P, None]:
    """Return the method by which something here has the agent call this one, without an answer."""
    signature = inspect.signature(method)

    @wraps(method)
    def tell(self: Any, /, *words: P.args, **named: P.kwargs) -> None:  # noqa: ANN401
        fields = _fields(signature, self, *words, **named)
        self._connection.say(method.__name__, self._of, **fields)

    return tell


def _fields(signature: inspect.Signature, *words: object, **named: object) -> dict[str, Any]:
    """Return the arguments of a method's call by their names, those with a default too."""
    given = signature.bind(*words, **named)
    given.apply_defaults()
    return {name: value for name, value in given.arguments.items() if name != "self"}


class PlannedThere(Generic[T]):
    """Two requests that an agent does by itself at the edges of a window; see `DoneHere`."""

    def __init__(self, connection: Connection, requests: Sequence[Message]) -> None:
        self._connection = connection
        self._requests = requests
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
        return [messages.result_of(answer) for answer in answers]


class RemoteReader(PlannedThere[Reading]):
    """Files that an agent reads; see `LocalReader`."""

    def __init__(self, connection: Connection, paths: Sequence[str]) -> None:
        self._of, _ = connection.hold("reader", paths=paths)
        super().__init__(connection, [request("read", self._of)] * 2)

    read = asked(LocalReader.read)

    def close(self) -> None:
        """Close the files."""
        self._connection.say("give_back", number=self._of)


@dataclass(frozen=True, slots=True)
class RemoteGroup(CpuGroup):
    """A control group there."""

    _connection: Connection
    _of: Target

    add = asked(CpuGroup.add)
    release = asked(CpuGroup.release)
    throttling = asked(CpuGroup.throttling)


@dataclass(frozen=True, slots=True)
class RemoteFiles(HostFiles):
    """The files by which a kernel there describes itself; each question takes a round trip."""

    root: Path = Path("/")
    _connection: Connection | None = None
    _of: Target = messages.FILES

    text = asked(HostFiles.text)
    texts = asked(HostFiles.texts)
    lines = asked(HostFiles.lines)
    gzipped_text = asked(HostFiles.gzipped_text)
    glob = asked(HostFiles.glob)
