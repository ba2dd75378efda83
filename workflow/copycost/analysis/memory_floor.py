"""The memory floor: what a plain memcpy costs, and how far above it a send lies."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.quantities import ring_bytes
from copycost.stats.estimates import median_intervals
from copycost.stats.settings import StatisticsSettings

_CACHES = (("l1", "l1d_bytes"), ("l2", "l2_bytes"), ("llc", "llc_bytes"))
_MEMORY = "dram"
# A working set of half a cache has room there next to everything else; one of twice the last-level
# cache has none.
_ROOM = 2


def memory_facts(
    record: Mapping[str, Any] | None,
    caches: Mapping[str, int | None],
    settings: StatisticsSettings,
) -> Facts | None:
    """Return what memcpy costs by working set; None where nobody asked for it.

    Keys
    ----
    status, reason, remedy
        As the record has them; without ``measured`` there are no points.
    points
        bytes (source and destination together), ns_per_byte (median, of the bytes copied), low,
        high, n (repetitions).
    levels
        For l1, l2, llc and dram the point that stands for that level (bytes, ns_per_byte); None
        where no point lies clearly inside it, or where the size of the cache is not known.
    caches
        The host's [bytes].
    """
    if record is None:
        return None
    floor = record["floor"] if record["status"] == "measured" else None
    points = [_point(point, settings) for point in floor["points"]] if floor else []
    return {
        "status": record["status"],
        "reason": record["reason"],
        "remedy": record["remedy"],
        "points": points,
        "levels": _levels(points, caches),
        "caches": {name: caches.get(name) for _, name in _CACHES},
    }


def _point(point: Mapping[str, Any], settings: StatisticsSettings) -> Facts:
    values = np.array([point["ns_per_byte"]], dtype=np.float64)
    found = median_intervals(values, settings)
    return {
        "bytes": point["bytes"],
        "ns_per_byte": float(found.median[0]),
        "low": float(found.low[0]),
        "high": float(found.high[0]),
        "n": values.size,
    }


def _levels(points: Sequence[Facts], caches: Mapping[str, int | None]) -> Facts:
    levels: Facts = {name: None for name in (*(name for name, _ in _CACHES), _MEMORY)}
    below = 0
    for name, cache in _CACHES:
        size = caches.get(cache)
        if not size:
            return levels  # what lies inside the next level is not known either
        inside = [point for point in points if below < point["bytes"] <= size / _ROOM]
        levels[name] = _pick(inside)
        below = size
    levels[_MEMORY] = _pick([point for point in points if point["bytes"] >= _ROOM * below])
    return levels


def _pick(points: Sequence[Facts]) -> Facts | None:
    if not points:
        return None
    return {"bytes": points[-1]["bytes"], "ns_per_byte": points[-1]["ns_per_byte"]}


def floor_of(memory: Facts | None, working_set_bytes: float) -> Facts | None:
    """Return the point of memcpy's cost for a working set: the next larger one, else the last."""
    if memory is None or not memory["points"]:
        return None
    points = memory["points"]
    point = next((one for one in points if one["bytes"] >= working_set_bytes), points[-1])
    return {
        "bytes": point["bytes"],
        "ns_per_byte": point["ns_per_byte"],
        "level": level_of(memory["caches"], working_set_bytes),
    }


def level_of(caches: Mapping[str, int | None], working_set_bytes: float) -> str | None:
    """Return the first cache that a working set fits into, or dram; None where sizes lack."""
    for name, cache in _CACHES:
        size = caches.get(cache)
        if not size:
            return None
        if working_set_bytes <= size:
            return name
    return _MEMORY


def working_set_of(view: View, msg_bytes: int) -> float:
    """Return what a copying send works on [bytes]: the ring, or one message and its copy."""
    return ring_bytes(view) or 2.0 * msg_bytes
