"""What a keeper and its clients say to each other: JSON objects, each in one packet."""

from typing import Any

from copycost.errors import AttemptFailed, CopycostError, HostError, Unavailable

Words = dict[str, Any]

MOST_BYTES = 1 << 16
MOST_FDS = 8


def error_as_words(error: CopycostError | OSError) -> Words:
    """Return an error as an answer."""
    if isinstance(error, Unavailable):
        return {"unavailable": [error.reason, error.remedy]}
    if isinstance(error, AttemptFailed):
        return {"attempt_failed": [error.reason, error.remedy]}
    return {"failed": str(error)}


def raise_if_error(answer: Words) -> None:
    """Raise the error that an answer is, if it is one."""
    if "unavailable" in answer:
        raise Unavailable(*answer["unavailable"])
    if "attempt_failed" in answer:
        raise AttemptFailed(*answer["attempt_failed"])
    if "failed" in answer:
        raise HostError(answer["failed"])
