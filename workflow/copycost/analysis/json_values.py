"""Values as JSON holds them: no NaN, no numpy types, keys in a fixed order."""

import math
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from typing import Any, TypeAlias

import numpy as np

Facts: TypeAlias = dict[str, Any]
"""A part of `facts.json`."""


def plain(value: object) -> Any:  # noqa: ANN401 - JSON is any of its types
    """Return a value as plain JSON: None for what is not a finite number."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray):
        items: Iterable[object] = sorted(value) if isinstance(value, set) else value
        return [plain(item) for item in items]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    raise TypeError(f"facts: {value!r} ({type(value).__name__}) is no JSON value")
