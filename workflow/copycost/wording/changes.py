"""What tells two sets of values apart, in words."""

from collections.abc import Mapping
from typing import Any

_MOST = 80


def changes_between(known: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what tells the facts of two hosts apart: ``kernel_release was 6.1, is 6.12``."""
    changes = []
    for name in sorted(known.keys() | now.keys()):
        before, after = known.get(name), now.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            changes += [f"{name}.{change}" for change in changes_between(before, after)]
        elif before != after:
            changes.append(f"{name} was {_short(before)}, is {_short(after)}")
    return changes


def _short(value: object) -> str:
    text = "unknown" if value is None else str(value)
    return text if len(text) <= _MOST else f"{text[: _MOST - 3]}..."
