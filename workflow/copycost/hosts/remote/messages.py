"""What an agent and its `RemoteHost` say to each other: one JSON object per line.

Lines, although bytes have to be written in base64 then: what is left of a line when one side was
killed within it ends at the next newline, so that the next session on the same stream (a guest's
serial line) begins clean; whatever a login shell prints before the agent starts is a line too that
is none of ours; and a person can read along. Nothing large travels but programs, once each.

A request names what is to be called, ``op``, of what, ``of``, and ``with`` what. It has a number,
``id``, if it is to be answered. Requests are done in their order; events come by themselves. The
first request opens a session. Its number is one that nobody else has, so that what was still under
way from an earlier session is known by coming before its answer.
"""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path, PurePath
from subprocess import CompletedProcess
from typing import Any

from copycost.errors import (
    AttemptFailed,
    CannotStart,
    CopycostError,
    HostError,
    MeasurementStopped,
    Unavailable,
)
from copycost.hosts.cgroups import CpuGroup
from copycost.hosts.local import About
from copycost.hosts.lock import HeldLock
from copycost.hosts.processes import Usage
from copycost.hosts.program import Launch

Message = dict[str, Any]

OPEN, END, PING, AT_EDGES = "open", "end_session", "ping", "at_edges"
"""Requests to the agent itself: to open a session and end one with all that it started, after which
the stream may serve another; to say what time it is there; and to do others at both edges of a
window, which is answered when no edge is to come any more."""

# an object of JSON with this key is a value of the type that it names
_TYPE = "@type"
_RECORDS = (About, CompletedProcess, CpuGroup, HeldLock, Launch, Usage)
# errors that have a meaning to us keep their kind, and are made again of these or of their words
_ERRORS: dict[type[Exception], tuple[str, ...]] = {
    CannotStart: ("path", "why"),
    Unavailable: ("reason", "remedy"),
    AttemptFailed: ("reason", "remedy"),
    MeasurementStopped: (),
    OSError: ("errno", "strerror", "filename"),
    HostError: (),
    ValueError: (),
}

HOST, FILES = "host", "files"
"""Of what something is asked: of the host there, of its files, or of what has a number there."""

Target = int | str


class NotAMessage(HostError):
    """A line that is no JSON object."""


def request(op: str, of: Target = HOST, **fields: object) -> Message:
    """Return a request that wants no answer."""
    return {"op": op, "of": of, "with": fields}


def as_line(message: Mapping[str, Any]) -> bytes:
    """Return a message as it travels, its newline included."""
    return json.dumps(message, separators=(",", ":"), default=_as_json).encode() + b"\n"


def end_line() -> bytes:
    """Return what ends a session whose owner is gone; it may stand within a line that was cut."""
    return b"\n" + as_line(request(END))


def message_of(line: bytes) -> Message:
    """Return the message of a line; NotAMessage if there is none in it."""
    try:
        found = json.loads(line, object_hook=_of_json)
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise NotAMessage(f"no message but {line[:60]!r}") from error
    if not isinstance(found, dict) or not {"op", "id", "event"} & found.keys():
        raise NotAMessage(f"no message but {line[:60]!r}")
    return found


def _as_json(value: object) -> object:
    """Return what JSON has no form for in one that it has."""
    match value:
        case bytes():
            return {_TYPE: "bytes", "base64": base64.b64encode(value).decode("ascii")}
        case set() | frozenset():
            return {_TYPE: "set", "of": sorted(value)}
        case PurePath():
            return {_TYPE: "Path", "path": str(value)}
        case CompletedProcess():
            return {_TYPE: "CompletedProcess", **vars(value)}
        case Iterable():
            return [*value]
    return {_TYPE: type(value).__name__, **asdict(value)}  # type: ignore[call-overload]


def _of_json(found: dict[str, Any]) -> object:
    """Return what travelled in a form of ours."""
    fields = dict(found)
    match fields.pop(_TYPE, None):
        case None:
            return found
        case "bytes":
            return base64.b64decode(fields["base64"])
        case "set":
            return frozenset(fields["of"])
        case "Path":
            return Path(fields["path"])
        case name:
            return {kind.__name__: kind for kind in _RECORDS}[name](**fields)


def answer_of(do: Callable[[Message], Any], asked: Message) -> Message:
    """Do what is asked, and return an answer: what came of it, or the error that it ran into."""
    try:
        return {"result": do(asked)}
    except (CopycostError, OSError, ValueError, LookupError) as error:
        return {"error": error_as_message(error)}


def result_of(answer: Message) -> Any:  # noqa: ANN401 - JSON
    """Return what an answer holds; raise the error that it tells."""
    if "error" in answer:
        raise error_of(answer["error"])
    return answer["result"]


def error_as_message(error: Exception) -> Message:
    """Return an error as it travels."""
    kind = next((one for one in _ERRORS if isinstance(error, one)), None)
    if kind is None:
        return {"kind": "HostError", "words": [f"{type(error).__name__}: {error}"]}
    words = [getattr(error, name) for name in _ERRORS[kind]]
    if not words or None in words[:2]:
        words = [str(error)]
    return {"kind": kind.__name__, "words": words}


def error_of(message: Message) -> Exception:
    """Return the error that travelled."""
    kinds = {kind.__name__: kind for kind in _ERRORS}
    return kinds.get(message["kind"], HostError)(*message["words"])
