"""What a template asks of a condition: `t is from_memory`."""

from collections.abc import Callable, Mapping
from typing import Any

from copycost.grid.conditions import COLD


def place(condition: Mapping[str, Any]) -> str:
    """Return where something was measured, as captions and headings have it: ```vm_pair```.

    With ``(emulated)`` behind it where no processor ran the guests.
    """
    return f"`{condition['slug']}`{' (emulated)' if condition.get('emulated') else ''}"


def from_memory(condition: Mapping[str, Any]) -> bool:
    """Tell whether messages were read from memory: from a ring larger than the last-level cache."""
    multiple = condition["quantities"]["ring_per_llc"]
    return condition["working_set"] == COLD and multiple is not None and multiple >= 1.0


def comparing(condition: Mapping[str, Any], *implementations: str) -> bool:
    """Tell whether all of these implementations were asked for."""
    return set(implementations) <= set(condition["grid"]["implementations"])


TESTS: dict[str, Callable[..., bool]] = {
    "comparing": comparing,
    "from_memory": from_memory,
}
