"""The table of what one plain copy of a byte costs, by the cache that it takes place in."""

from collections.abc import Mapping
from typing import Any

from copycost.wording.filters import significant, size

_LEVELS = {"l1": "L1d", "l2": "L2", "llc": "last level", "dram": "memory"}


def memory_rows(memory: Mapping[str, Any]) -> list[list[str]]:
    """Return level, working set and cost, without the levels that the host does not tell."""
    found = {name: memory["levels"][level] for level, name in _LEVELS.items()}
    return [
        [name, size(level["bytes"]), significant(level["ns_per_byte"])]
        for name, level in found.items()
        if level
    ]
