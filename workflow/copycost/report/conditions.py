"""What a template asks of a condition: `t is from_memory`."""

from collections.abc import Callable, Mapping
from typing import Any

from copycost.config.conditions import COLD


def place(condition: Mapping[str, Any]) -> str:
    """Return where something was measured, as captions and headings have it: ```vm_pair```.

    With ``(emulated)`` behind it where no processor ran the guests.
    """
    return f"`{condition['slug']}`{' (emulated)' if condition.get('emulated') else ''}"


def from_memory(condition: Mapping[str, Any]) -> bool:
    """Tell whether messages were read from memory: from a ring larger than the last-level cache."""
    multiple = condition["quantities"]["ring_per_llc"]
    return condition["working_set"] == COLD and multiple is not None and multiple >= 1.0


def losing(condition: Mapping[str, Any]) -> bool:
    """Tell whether some repetition gave no value."""
    return bool(condition["failed"] or condition["skipped"])


TESTS: dict[str, Callable[..., bool]] = {
    "from_memory": from_memory,
    "losing": losing,
}
