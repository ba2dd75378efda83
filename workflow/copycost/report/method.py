"""Values in the chapter on the method that are lists of their own kind."""

from collections.abc import Iterable, Mapping

from copycost.wording.filters import join_and, size, sizes
from copycost.wording.words import agree


def wake_up_marks(marks: Iterable[Mapping[str, int]]) -> str:
    """Return at which fill a receiver wakes: ``64 KiB (messages of 4 KiB) or 1 MiB (...)``."""
    by_mark: dict[int, list[int]] = {}
    for mark in marks:
        by_mark.setdefault(mark["bytes"], []).append(mark["msg_bytes"])
    return join_and(
        (f"{size(mark)} (messages of {sizes(messages)})" for mark, messages in by_mark.items()),
        "or",
    )


def cpu_lists(lists: Iterable[str]) -> str:
    """Return the CPUs that threads were pinned to, as the cells have them, in words."""
    return join_and(map(cpu_list, lists), "or") or "no CPU in particular"


def cpu_list(text: str) -> str:
    """Return CPUs as the table has them in words: ``CPU 0``, ``CPUs 0, 2``, ``any CPU``."""
    if text == "any":
        return "any CPU"
    numbers = [part for part in text.replace(";", ",").split(",") if part.strip()]
    return f"{agree(len(numbers), 'CPU')} {', '.join(numbers)}"
