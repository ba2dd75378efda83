"""What a way to send saves in misses against `two_copy`: at which level, where, at which sizes."""

from collections.abc import Mapping, Sequence

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.studies.simulated.copies import functions_at
from copycost.studies.simulated.counts import LEVELS
from copycost.studies.simulated.values import BASELINE, LEAST_SHARE, Place, Values, total

LEAST = 0.05
"""Fewer misses per line than this are no difference: the edges of a window, and what lies next to
messages in memory, come to as much."""

_TYPICAL_BYTES = 65536


def saving_of(values: Values, implementation: str) -> Facts | None:
    """Return what one way to send saves against `two_copy`; None without a size of both."""
    sizes = values.common_sizes(BASELINE, implementation)
    if not sizes:
        return None
    points = {size: saved_at(values, implementation, size) for size in sizes}
    changes = {change_of(value) for saved in points.values() for value in saved.values()}
    verdict = "falls" if "fewer" in changes else "rises" if "more" in changes else "same"
    return {
        # ``falls`` (some level's misses, at some size), ``rises`` (some are more, none fewer),
        # ``same``
        "implementation": implementation,
        "verdict": verdict,
        # the level whose misses fall most (or, where none fall, rise most) and the size where they
        # do, of equal ones the one next to 64 KiB; in misses per line `before` and `saved`. None
        # where nothing changes.
        "most": _most(values, points, verdict),
    }


def saved_at(values: Values, implementation: str, msg_bytes: int) -> dict[str, float]:
    """Return what is saved at a size, in misses per line, by level."""
    before, after = values.of(BASELINE, msg_bytes), values.of(implementation, msg_bytes)
    assert before is not None
    assert after is not None
    return {level: total(before, level) - total(after, level) for level in LEVELS}


def change_of(saved: float) -> str:
    """Return a saving as ``fewer``, ``more`` or ``same``."""
    return "fewer" if saved >= LEAST else "more" if saved <= -LEAST else "same"


def level_of(saved: Mapping[str, float]) -> str | None:
    """Return the level with the largest fall, None where none falls; of equal ones the first.

    What misses a level has missed those before it: how deep a fall goes is another question.
    """
    falls = [level for level in LEVELS if change_of(saved[level]) == "fewer"]
    if not falls:
        return None
    largest = max(saved[level] for level in falls)
    return next(level for level in falls if saved[level] > largest - LEAST)


def _most(values: Values, points: Mapping[int, Mapping[str, float]], verdict: str) -> Facts | None:
    if verdict == "same":
        return None
    sign = 1 if verdict == "falls" else -1
    changes = {
        size: {level: sign * value for level, value in saved.items()}
        for size, saved in points.items()
    }
    changing = {size: change for size, change in changes.items() if level_of(change) is not None}
    size = _largest_at({size: max(change.values()) for size, change in changing.items()})
    level = level_of(changing[size])
    assert level is not None
    return {
        "level": level,
        "msg_bytes": size,
        "before": total(values.misses[BASELINE, size], level),
        "saved": points[size][level],
    }


def _largest_at(changes: Mapping[int, float]) -> int:
    """Return the size of the largest change, of equal ones the one next to 64 KiB."""
    largest = max(changes.values())
    return nearest([size for size, change in changes.items() if change > largest - LEAST])


def nearest(sizes: Sequence[int]) -> int:
    """Return the size next to 64 KiB, where a byte's cost is more than a share of the call's."""
    return min(sizes, key=lambda size: (abs(size - _TYPICAL_BYTES), size))


def carriers(functions: pd.DataFrame, place: Place, saving: Facts, line_bytes: int) -> list[Facts]:
    """Return the functions that carry a tenth of what is saved or more, the largest part first.

    Both sides' threads, at the size and the level that change most; `saved` misses per line of
    payload, fewer than nothing where a function misses more.
    """
    most = saving["most"]
    here = functions_at(functions, place, most["msg_bytes"])
    key = ["mode", "function"]
    before, after = (
        here[here["implementation"] == name]
        .groupby(key)[f"simulated_{most['level']}_misses_per_byte"]
        .sum()
        for name in (BASELINE, saving["implementation"])
    )
    saved = before.sub(after, fill_value=0.0) * line_bytes
    carrying = saved[saved.abs() >= LEAST_SHARE * abs(most["saved"])]
    order = carrying.abs().sort_values(ascending=False, kind="stable").index
    return [dict(zip(key, at, strict=True)) | {"saved": carrying[at]} for at in order]
