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

_N_FUNCTIONS = 8
# what two digits show of a function's misses per line
_SHOWN = 0.005
_TYPICAL_BYTES = 65536


def saving_of(values: Values, implementation: str) -> Facts | None:
    """Return what one way to send saves against `two_copy`; None where both were counted nowhere.

    Keys
    ----
    implementation, verdict
        ``falls`` (some level's misses, at some size), ``rises`` (some are more, none fewer),
        ``same``.
    most
        The level whose misses fall most (or, where none fall, rise most) and the size where they
        do, of equal ones the one next to 64 KiB; in misses per line `before`, `after` and `saved`,
        what of that is the `kernel`'s, by loads and stores, and what which level behind it, or
        memory, had to serve (`served`); the sizes at which its misses are fewer (`fewer_at`) and
        more (`more_at`). None where nothing changes.
    deepest
        Of the levels whose misses fall, the last, where it is behind that one: `level`, and where
        it falls most `msg_bytes`, `before` and `saved`. Else None.
    points
        Per size and level, what is saved.

    Parameters
    ----------
    values
        The cells of one place.
    implementation
        Which one.
    """
    sizes = values.common_sizes(BASELINE, implementation)
    if not sizes:
        return None
    points = {size: saved_at(values, implementation, size) for size in sizes}
    changes = {change_of(value) for saved in points.values() for value in saved.values()}
    verdict = "falls" if "fewer" in changes else "rises" if "more" in changes else "same"
    most = _most(values, implementation, points, verdict)
    return {
        "implementation": implementation,
        "sizes": sizes,
        "verdict": verdict,
        "most": most,
        "deepest": _deepest(values, points, most["level"]) if most and verdict == "falls" else None,
        "points": [{"msg_bytes": size} | saved for size, saved in points.items()],
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


def _most(
    values: Values,
    implementation: str,
    points: Mapping[int, Mapping[str, float]],
    verdict: str,
) -> Facts | None:
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
    before, after = (values.misses[name, size] for name in (BASELINE, implementation))
    kernel = before[level]["kernel"] - after[level]["kernel"]
    first, last = (values.loads[name, size] for name in (BASELINE, implementation))
    loads = first[level]["kernel"] - last[level]["kernel"]
    return {
        "level": level,
        "msg_bytes": size,
        "before": total(before, level),
        "after": total(after, level),
        "saved": points[size][level],
        "kernel": {"saved": kernel, "loads": loads, "stores": kernel - loads},
        **{
            f"{change}_at": [size for size in points if change_of(points[size][level]) == change]
            for change in ("fewer", "more")
        },
        "served": _served(points[size]) if sign > 0 and level == LEVELS[0] else [],
    }


def _largest_at(changes: Mapping[int, float]) -> int:
    """Return the size of the largest change, of equal ones the one next to 64 KiB."""
    largest = max(changes.values())
    return nearest([size for size, change in changes.items() if change > largest - LEAST])


def _deepest(values: Values, points: Mapping[int, Mapping[str, float]], level: str) -> Facts | None:
    falls = {
        name: {size: saved[name] for size, saved in points.items() if saved[name] >= LEAST}
        for name in LEVELS
    }
    deepest = [name for name in LEVELS if falls[name]][-1]
    if deepest == level:
        return None
    size = _largest_at(falls[deepest])
    return {
        "level": deepest,
        "msg_bytes": size,
        "before": total(values.misses[BASELINE, size], deepest),
        "saved": falls[deepest][size],
    }


def _served(saved: Mapping[str, float]) -> list[Facts]:
    """Return which levels behind the first, or memory, had to serve what is saved, per line.

    Nothing where one of them misses more: then what is saved is not what they served.
    """
    if min(saved.values()) <= -LEAST:
        return []
    served = {
        "l2": saved["l1d"] - saved["l2"],
        "llc": saved["l2"] - saved["llc"],
        "memory": saved["llc"],
    }
    return [{"by": name, "lines": value} for name, value in served.items() if value >= LEAST]


def nearest(sizes: Sequence[int]) -> int:
    """Return the size next to 64 KiB, where a byte's cost is more than a share of the call's."""
    return min(sizes, key=lambda size: (abs(size - _TYPICAL_BYTES), size))


def function_changes(
    functions: pd.DataFrame, place: Place, saving: Facts, line_bytes: int
) -> list[Facts]:
    """Return the functions that carry the difference, at the size where it is largest.

    Both sides' threads; misses per line of payload with `two_copy` (`before`) and with the other
    (`after`), by level; those with the largest change at the level that changes most come first,
    and what is left, or does not change, is one row. `carries` tells those to be named, with a
    tenth of the whole change at least: whether the function's misses are ``fewer`` or ``more``.
    """
    most = saving["most"]
    size, level, whole = most["msg_bytes"], most["level"], most["saved"]
    here = functions_at(functions, place, size)
    columns = [f"simulated_{one}_misses_per_byte" for one in LEVELS]
    key = ["mode", "function", "category"]
    both = [
        here[here["implementation"] == name].groupby(key)[columns].sum() * line_bytes
        for name in (BASELINE, saving["implementation"])
    ]
    before, after = (one.set_axis(list(LEVELS), axis=1) for one in both)
    before, after = before.align(after, fill_value=0.0)
    saved = (before - after)[level]
    order = saved.abs().sort_values(ascending=False, kind="stable").index
    changed = (before - after).abs().max(axis=1) >= _SHOWN
    named = order[changed[order]][:_N_FUNCTIONS]
    rows = [
        dict(zip(key, at, strict=True))
        | {
            "before": before.loc[at].to_dict(),
            "after": after.loc[at].to_dict(),
            "saved": saved[at],
            "carries": _carries(saved[at], abs(whole)),
        }
        for at in named
    ]
    rest = order.difference(named, sort=False)
    return [
        *rows,
        {
            "mode": None,
            "function": None,
            "category": None,
            "n": len(rest),
            "saved": saved[rest].sum(),
            "carries": None,
            "before": before.loc[rest].sum().to_dict(),
            "after": after.loc[rest].sum().to_dict(),
        },
    ]


def _carries(saved: float, whole: float) -> str | None:
    if abs(saved) < LEAST_SHARE * whole:
        return None
    return "fewer" if saved > 0 else "more"
