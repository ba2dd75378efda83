"""Implementations by what a byte costs, which places are told apart, and what memcpy costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.evidence import ring_bytes
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.stats.estimates import estimate
from copycost.analysis.stats.ratios import holm, paired_ratio
from copycost.analysis.stats.settings import StatisticsSettings

_CACHES = {"l1": "l1d_bytes", "l2": "l2_bytes", "llc": "llc_bytes"}
# A working set of half a cache has room there next to everything else; one of twice the last-level
# cache has none.
_ROOM = 2


def memory_facts(
    record: Mapping[str, Any] | None,
    caches: Mapping[str, int | None],
    settings: StatisticsSettings,
) -> Facts | None:
    """Return what memcpy costs by working set, and by level; None where nobody asked for it."""
    if record is None:
        return None
    measured = record["floor"]["points"] if record["status"] == "measured" else []
    points = [_point(point, settings) for point in measured]
    return {
        **{name: record[name] for name in ("status", "reason", "remedy")},
        "points": points,
        "levels": _levels(points, caches),
    }


def _point(point: Mapping[str, Any], settings: StatisticsSettings) -> Facts:
    """Return the median of the bytes copied; `bytes` are source and destination together."""
    found = estimate(point["ns_per_byte"], settings)
    assert found is not None, "a measured point has repetitions"
    ends = {"low": found["low"], "high": found["high"], "n": found["n"]}
    return {"bytes": point["bytes"], "ns_per_byte": found["median"], **ends}


def _levels(points: Sequence[Facts], caches: Mapping[str, int | None]) -> Facts:
    """Return the point that stands for each level, None where no point lies clearly inside it."""
    found: Facts = dict.fromkeys((*_CACHES, "dram"))
    below = 0
    for name, cache in _CACHES.items():
        size = caches.get(cache)
        if not size:
            return found  # what lies inside the next level is not known either
        inside = [one for one in points if below < one["bytes"] <= size / _ROOM]
        found[name] = inside[-1] if inside else None
        below = size
    beyond = [one for one in points if one["bytes"] >= _ROOM * below]
    found["dram"] = beyond[-1] if beyond else None
    return found


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

    The places are those at the fewest threads, where a byte's cost is not one of taking turns. What
    is ranked is CPU time where it was recorded, so that it can stand next to the memory floor, else
    the cost of this run; throughput where no cost was measured.
    """
    side, column = "sender" if view.sender_only else "both", view.per_byte("cpu_ns")
    if view.counted(column):
        unit, label = "ns", "sender CPU time" if view.sender_only else "CPU time"
    elif view.counted(view.cost_column):
        unit, label, column = view.cost.unit, view.cost_label, view.cost_column
    else:
        unit, label, column = "bit/s", "throughput", THROUGHPUT
    medians = view.medians(column)
    if medians.empty:
        return None
    n_threads = int(medians["n_threads"].min())
    found = medians[medians["n_threads"] == n_threads]
    return {
        "unit": unit,
        "label": label,
        "side": None if column == THROUGHPUT else side,
        "n_threads": n_threads,
        "sizes": [
            _at_size(view, column, rows, memory if unit == "ns" else None)
            for _, rows in found.groupby("msg_bytes")
        ],
    }


def _at_size(view: View, column: str, table: pd.DataFrame, memory: Facts | None) -> Facts:
    sign = 1 if column == THROUGHPUT else -1
    rows = table.sort_values("median", ascending=sign < 0, kind="stable").to_dict("records")
    names = [row["implementation"] for row in rows]
    msg_bytes, n_threads = int(rows[0]["msg_bytes"]), int(rows[0]["n_threads"])
    better = _shown_better(view, column, names, (msg_bytes, n_threads), sign)
    # a copying send works on the ring, or on one message and its copy
    floor = floor_of(memory, ring_bytes(view) or 2.0 * msg_bytes)
    return {
        "msg_bytes": msg_bytes,
        "floor_ns_per_byte": floor,
        "rows": [
            {
                "implementation": row["implementation"],
                "rank": place + 1,  # by the median
                # that the comparisons leave open: one more than were shown to be better, and so on
                "place_low": 1 + int(better[:, place].sum()),
                "place_high": len(rows) - int(better[place].sum()),
                **{name: row[name] for name in ("median", "low", "high", "n")},
                "floor_ratio": row["median"] / floor if floor else None,
            }
            for place, row in enumerate(rows)
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
    logs = view.cube.side_by_side(column, names, [cell])[:, 0]
    found = [paired_ratio(logs[i] - logs[j], view.settings.confidence) for i, j in pairs]
    corrected = holm(np.array([one.p_value for one in found]))
    better = np.zeros((len(names), len(names)), dtype=bool)
    for (i, j), one, p_value in zip(pairs, found, corrected, strict=True):
        if p_value < 1.0 - view.settings.confidence:
            better[(i, j) if (one.value > 1.0) == (sign > 0) else (j, i)] = True
    return better
