"""Implementations by what a byte costs, which places are told apart, and what memcpy costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from copycost.analysis.condition_view import View, records
from copycost.analysis.evidence import ring_bytes
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.stats.estimates import median_intervals
from copycost.stats.ratios import holm, paired_ratio
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
    status, reason, remedy: As the record has them; without ``measured`` there are no points.
    points: bytes (source and destination together), ns_per_byte (median, of the bytes copied), low,
        high, n (repetitions).
    levels: For l1, l2, llc and dram the point that stands for that level (bytes, ns_per_byte); None
        where no point lies clearly inside it, or where the size of the cache is not known.
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
    levels: Facts = dict.fromkeys((*(name for name, _ in _CACHES), _MEMORY))
    below = 0
    for name, cache in _CACHES:
        size = caches.get(cache)
        if not size:
            return levels  # what lies inside the next level is not known either
        levels[name] = _pick([one for one in points if below < one["bytes"] <= size / _ROOM])
        below = size
    levels[_MEMORY] = _pick([point for point in points if point["bytes"] >= _ROOM * below])
    return levels


def _pick(points: Sequence[Facts]) -> Facts | None:
    return {name: points[-1][name] for name in ("bytes", "ns_per_byte")} if points else None


def floor_of(memory: Facts | None, working_set_bytes: float) -> float | None:
    """Return memcpy's cost for a working set [ns per byte]: the next larger one's, else the last's.

    None where it was not measured.
    """
    if memory is None or not memory["points"]:
        return None
    points = memory["points"]
    point = next((one for one in points if one["bytes"] >= working_set_bytes), points[-1])
    return float(point["ns_per_byte"])


def ranking_facts(view: View, memory: Facts | None) -> Facts | None:
    """Return the places of all implementations at each size, None where there is nothing to rank.

    The places are those at the fewest threads, where a byte's cost is not one of taking turns.

    Keys
    ----
    unit, label, side: What is ranked: CPU time where it was recorded, so that it can stand
        next to the memory floor, else the cost of this run; throughput where no cost was measured
        (side None).
    n_threads: The thread count of all that follows.
    sizes: Per size: msg_bytes; floor_ns_per_byte (None without a floor); rows.
    rows: Best first: implementation, rank (by the median), place_low and place_high (the places
        that the comparisons leave open, with Holm's correction for the number of their pairs: one
        more than were shown to be better, and so on), median, low, high, n, floor_ratio (times
        memcpy's cost).
    """
    unit, label, column = _what(view)
    medians = view.medians(column)
    if medians.empty:
        return None
    n_threads = int(medians["n_threads"].min())
    found = medians[medians["n_threads"] == n_threads]
    if unit != "ns":
        memory = None  # which is
    sizes = [
        _at_size(view, column, records(found[found["msg_bytes"] == size]), memory)
        for size in sorted({int(size) for size in found["msg_bytes"]})
    ]
    side = "sender" if view.sender_only else "both"
    return {
        "unit": unit,
        "label": label,
        "side": None if column == THROUGHPUT else side,
        "n_threads": n_threads,
        "sizes": sizes,
    }


def _what(view: View) -> tuple[str, str, str]:
    """Return the unit, the label and the column of what is ranked."""
    time = view.per_byte("cpu_ns")
    if view.counted(time):
        return "ns", "sender CPU time" if view.sender_only else "CPU time", time
    if view.counted(view.cost_column):
        return view.cost.unit, view.cost_label, view.cost_column
    return "bit/s", "throughput", THROUGHPUT


def _at_size(view: View, column: str, rows: list[Facts], memory: Facts | None) -> Facts:
    sign = 1 if column == THROUGHPUT else -1
    rows.sort(key=lambda row: -sign * row["median"])
    names = [row["implementation"] for row in rows]
    msg_bytes, n_threads = int(rows[0]["msg_bytes"]), int(rows[0]["n_threads"])
    better = _shown_better(view, column, names, (msg_bytes, n_threads), sign)
    # a copying send works on the ring, or on one message and its copy
    floor = floor_of(memory, ring_bytes(view) or 2.0 * msg_bytes)
    lost_to, won_over = better.sum(axis=0), better.sum(axis=1)
    return {
        "msg_bytes": msg_bytes,
        "floor_ns_per_byte": floor,
        "rows": [
            {
                "implementation": row["implementation"],
                "rank": place,
                "place_low": 1 + int(lost),
                "place_high": len(rows) - int(won),
                **{name: row[name] for name in ("median", "low", "high", "n")},
                "floor_ratio": row["median"] / floor if floor else None,
            }
            for place, (row, lost, won) in enumerate(
                zip(rows, lost_to, won_over, strict=True), start=1
            )
        ],
    }


def _shown_better(
    view: View, column: str, names: Sequence[str], cell: tuple[int, int], sign: int
) -> npt.NDArray[np.bool_]:
    """Return which implementation (row) was shown to be better than which (column).

    Every pair is compared round by round; a difference counts if it stands after Holm's correction
    for the number of pairs. `sign` is 1 where more is better, -1 where less is.
    """
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    tables = [view.cube.relative(column, name).reindex([cell]) for name in names]
    logs = [table.to_numpy(np.float64)[0] for table in tables]
    found = [paired_ratio(logs[i] - logs[j], view.settings.confidence) for i, j in pairs]
    corrected = holm(np.array([one.p_value for one in found]))
    better = np.zeros((len(names), len(names)), dtype=bool)
    for (i, j), one, p_value in zip(pairs, found, corrected, strict=True):
        if p_value < 1.0 - view.settings.confidence:
            better[(i, j) if (one.value > 1.0) == (sign > 0) else (j, i)] = True
    return better
