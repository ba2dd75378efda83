"""What an agent and its `RemoteHost` say to each other: one JSON object per line.

Lines, although bytes have to be written in base64 then: what is left of a line when one side was
killed within it ends at the next newline, so that the next session on the same stream (a guest's
serial line) begins clean; whatever a login shell prints before the agent starts is a line too that
is none of ours; and a person can read along. Nothing large travels but programs, once each.

Requests have a number if they are to be answered, and are done in their order; events come by
themselves. The first request opens a session. Its number is one that nobody else has, so that what
was still under way from an earlier session is known by coming before its answer.
"""

import base64
import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from copycost.errors import AttemptFailed, CannotStart, HostError, MeasurementStopped, Unavailable
from copycost.hosts.launch import Launch
from copycost.hosts.process_usage import Usage

Message = dict[str, Any]

PROTOCOL = 2
"""Number of what is said here; both ends must know the same."""

LONGEST_LINE_BYTES = 1 << 28
"""A longer line is none of ours; programs are a thousandth of that."""

CHUNK_BYTES = 1 << 16
"""What a command prints travels in pieces of at most so many bytes."""

OPEN, END, PING = "open", "end", "ping"
"""Requests to the agent itself: to open a session and end one with all that it started, after which
the stream may serve another; and to say what time it is there."""


class NotAMessage(HostError):
    """A line that is no JSON object."""


def as_line(message: Mapping[str, Any]) -> bytes:
    """Return a message as it travels, its newline included."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def end_line() -> bytes:
    """Return what ends a session whose owner is gone; it may stand within a line that was cut."""
    return b"\n" + as_line({"op": END})


def message_of(line: bytes) -> Message:
    """Return the message of a line; NotAMessage if there is none in it."""
    try:
        found = json.loads(line)
    except ValueError as error:
        raise NotAMessage(f"no message but {line[:60]!r}") from error
    if not isinstance(found, dict) or not {"op", "id", "event"} & found.keys():
        raise NotAMessage(f"no message but {line[:60]!r}")
    return found


def as_text(data: bytes) -> str:
    """Return bytes as they travel."""
    return base64.b64encode(data).decode("ascii")


def bytes_of(text: str) -> bytes:
    """Return the bytes that travelled as a text."""
    return base64.b64decode(text)


def bytes_or_none(text: str | None) -> bytes | None:
    """Return the bytes that travelled as a text, None for none."""
    return None if text is None else bytes_of(text)


def launch_as_message(launch: Launch) -> Message:
    """Return a launch as it travels."""
    return {**asdict(launch), "cpus": None if launch.cpus is None else sorted(launch.cpus)}


def launch_of(message: Message) -> Launch:
    """Return the launch that travelled."""
    cpus = message["cpus"]
    return Launch(
        words=tuple(message["words"]),
        program=message["program"],
        control=message["control"],
        files=tuple(message["files"]),
        pipes=tuple(message["pipes"]),
        cpus=None if cpus is None else frozenset(cpus),
        dies_with_us=message["dies_with_us"],
        environment=message["environment"],
    )


def usage_as_message(usage: Usage) -> Message:
    """Return what processes have used as it travels."""
    return {**asdict(usage), "threads": sorted(usage.threads)}


def usage_of(message: Message) -> Usage:
    """Return the usage that travelled."""
    return Usage(**{**message, "threads": frozenset(message["threads"])})


def usage_or_none(message: Message | None) -> Usage | None:
    """Return the usage that travelled, None for none."""
    return None if message is None else usage_of(message)


def error_as_message(error: Exception) -> Message:
    """Return an error as it travels: those that have a meaning here keep their kind."""
    match error:
        case CannotStart():
            return {"kind": "cannot_start", "words": [error.path, error.why]}
        case Unavailable():
            return {"kind": "unavailable", "words": [error.reason, error.remedy]}
        case AttemptFailed():
            return {"kind": "attempt_failed", "words": [error.reason, error.remedy]}
        case MeasurementStopped():
            return {"kind": "stopped", "words": [str(error)]}
        case OSError():
            words = [error.errno or 0, error.strerror or str(error), error.filename]
            return {"kind": "os", "words": words}
        case HostError():
            return {"kind": "host", "words": [str(error)]}
        case ValueError():
            return {"kind": "value", "words": [str(error)]}
        case _:
            return {"kind": "host", "words": [f"{type(error).__name__}: {error}"]}


def error_of(message: Message) -> Exception:
    """Return the error that travelled."""
    words = message["words"]
    match message["kind"]:
        case "cannot_start":
            return CannotStart(*words)
        case "unavailable":
            return Unavailable(*words)
        case "attempt_failed":
            return AttemptFailed(*words)
        case "stopped":
            return MeasurementStopped(*words)
        case "os":
            return OSError(*words)
        case "value":
            return ValueError(*words)
        case _:
            return HostError(*words)


class Part:
    """Serves the requests for which it has a method: that for ``start`` is ``_do_start``."""

    def server_of(self, op: str) -> Callable[[Message], Any] | None:
        """Return what serves a request; None if this part does not."""
        return getattr(self, f"_do_{op}", None)


class Line:
    """The way back: messages of both threads, each in one piece."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Send a message; that nobody is there any more is noticed where we read."""
        rest = memoryview(as_line(message))
        with self._lock, suppress(OSError):
            while rest:
                rest = rest[os.write(self._fd, rest) :]
