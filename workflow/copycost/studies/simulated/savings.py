"""What a way to send saves in misses against `two_copy`: at which level, where, at which sizes."""

from collections.abc import Mapping, Sequence

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.grid.conditions import COLD
from copycost.studies.simulated.counts import LEVELS, MODES
from copycost.studies.simulated.values import BASELINE, Place, Values, total

LEAST = 0.05
"""Fewer misses per line than this are no difference: the edges of a window, and what lies next to
messages in memory, come to as much."""

# of the misses per line of a copy: from here on neither source nor target was found, and below
# neither was missed
_NEITHER, _ONE = 1.5, 0.5
_N_FUNCTIONS = 8
_TYPICAL_BYTES = 65536


def saving_of(values: Values, implementation: str) -> Facts | None:
    """Return what one way to send saves against `two_copy`; None where both were counted nowhere.

    Keys
    ----
    implementation, verdict
        ``falls`` (some level's misses, at some size), ``rises`` (some are more, none fewer),
        ``same``.
    most
        The level with the largest fall and the size where that is, of equal ones the one next to
        64 KiB; in misses per line `before`, `after`, `saved`, `saved_user`, `saved_kernel`, and
        `served`: what of it which level behind it, or memory, had to serve. None where nothing
        falls.
    levels
        Per level the sizes at which its misses are fewer, and more.
    points
        Per size and level, what is saved.
    """
    sizes = values.common_sizes(BASELINE, implementation)
    if not sizes:
        return None
    points = {size: saved_at(values, implementation, size) for size in sizes}
    levels = [_level(level, points) for level in LEVELS]
    falls = any(one["fewer"] for one in levels)
    rises = any(one["more"] for one in levels)
    return {
        "implementation": implementation,
        "sizes": sizes,
        "verdict": "falls" if falls else "rises" if rises else "same",
        "most": _most(values, implementation, points) if falls else None,
        "levels": levels,
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


def _level(level: str, points: Mapping[int, Mapping[str, float]]) -> Facts:
    changes = {size: change_of(saved[level]) for size, saved in points.items()}
    return {
        "level": level,
        "fewer": [size for size, change in changes.items() if change == "fewer"],
        "more": [size for size, change in changes.items() if change == "more"],
        "most_fewer": max(saved[level] for saved in points.values()),
        "most_more": max(-saved[level] for saved in points.values()),
    }


def _most(values: Values, implementation: str, points: Mapping[int, Mapping[str, float]]) -> Facts:
    falling = {size: saved for size, saved in points.items() if level_of(saved) is not None}
    largest = max(max(saved.values()) for saved in falling.values())
    size = nearest(
        [size for size, saved in falling.items() if max(saved.values()) > largest - LEAST]
    )
    saved = falling[size]
    level = level_of(saved)
    assert level is not None
    before, after = values.of(BASELINE, size), values.of(implementation, size)
    assert before is not None
    assert after is not None
    return {
        "level": level,
        "msg_bytes": size,
        "before": total(before, level),
        "after": total(after, level),
        "saved": saved[level],
        **{f"saved_{mode}": before[level][mode] - after[level][mode] for mode in MODES},
        "served": _served(saved) if level == LEVELS[0] else [],
    }


def _served(saved: Mapping[str, float]) -> list[Facts]:
    """Return which levels behind the first, or memory, had to serve what is saved, per line."""
    served = {
        "l2": saved["l1d"] - saved["l2"],
        "llc": saved["l2"] - saved["llc"],
        "memory": saved["llc"],
    }
    return [{"by": name, "lines": value} for name, value in served.items() if value >= LEAST]


def nearest(sizes: Sequence[int]) -> int:
    """Return the size next to 64 KiB, where a byte's cost is more than a share of the call's."""
    return min(sizes, key=lambda size: (abs(size - _TYPICAL_BYTES), size))


def copy_facts(values: Values, caches: Mapping[str, int]) -> Facts | None:
    """Return where source and target of the application's copy were found, by size.

    The copy is what the application misses more with `two_copy` than with `one_copy`.

    Keys
    ----
    levels
        Per level its size [bytes], the sizes at which `neither`, `one` or `both` of source and
        target were found in it; of those at which not both were, those at which they do not fit
        (`beyond`), the message has to come from memory (`from_memory`), or they are displaced
        although they fit (`displaced`); those at which both were found although they do not fit
        (`found_beyond`); and `missed`, misses per line by size.

    Returns
    -------
    None where the two were counted nowhere together.
    """
    sizes = values.common_sizes(BASELINE, "one_copy")
    if not sizes:
        return None
    levels = []
    for level in LEVELS:
        missed = {
            size: values.misses[BASELINE, size][level]["user"]
            - values.misses["one_copy", size][level]["user"]
            for size in sizes
        }
        found = {size: _found(value) for size, value in missed.items()}
        levels.append(
            {
                "level": level,
                "size_bytes": caches[level],
                **{
                    kind: [size for size in sizes if found[size] == kind]
                    for kind in ("neither", "one", "both")
                },
                **_causes(found, caches[level], values.place.working_set),
                "missed": [{"msg_bytes": size, "misses": value} for size, value in missed.items()],
            }
        )
    return {"sizes": sizes, "levels": levels}


def _causes(found: Mapping[int, str], cache_bytes: int, working_set: str) -> dict[str, list[int]]:
    """Return the sizes at which source and target were missed, by the reason."""
    causes: dict[str, list[int]] = {
        name: [] for name in ("beyond", "from_memory", "displaced", "found_beyond")
    }
    for size, kind in found.items():
        fits = 2 * size <= cache_bytes
        if kind == "both":
            if not fits:
                causes["found_beyond"].append(size)
        elif not fits:
            causes["beyond"].append(size)
        elif kind == "one" and working_set == COLD:
            causes["from_memory"].append(size)
        else:
            causes["displaced"].append(size)
    return causes


def _found(misses: float) -> str:
    return "neither" if misses >= _NEITHER else "one" if misses >= _ONE else "both"


def compared_bytes(saving: Facts) -> int:
    """Return the size at which functions are compared: where most is saved, else the largest."""
    return int(saving["most"]["msg_bytes"] if saving["most"] else saving["sizes"][-1])


def function_changes(
    functions: pd.DataFrame, place: Place, saving: Facts, line_bytes: int
) -> list[Facts]:
    """Return the functions that carry the difference, at the size where most is saved.

    Both sides' threads; misses per line of payload with `two_copy` (`before`) and with the other
    (`after`), by level; those with the largest change at the level that falls most come first, and
    what is left is one row.
    """
    size = compared_bytes(saving)
    level = saving["most"]["level"] if saving["most"] else LEVELS[0]
    here = functions[
        (functions[["testbed", "working_set", "variant"]] == list(place)).all(axis=1)
        & (functions["msg_bytes"] == size)
        & (functions["side"] != "other")
    ]
    columns = [f"simulated_{one}_misses_per_byte" for one in LEVELS]
    key = ["mode", "function", "category"]
    both = [
        here[here["implementation"] == name].groupby(key)[columns].sum() * line_bytes
        for name in (BASELINE, saving["implementation"])
    ]
    before, after = (one.set_axis(list(LEVELS), axis=1) for one in both)
    before, after = before.align(after, fill_value=0.0)
    order = (after - before)[level].abs().sort_values(ascending=False, kind="stable").index
    rows = [
        dict(zip(key, at, strict=True))
        | {
            "before": before.loc[at].to_dict(),
            "after": after.loc[at].to_dict(),
        }
        for at in order[:_N_FUNCTIONS]
    ]
    rest = order[_N_FUNCTIONS:]
    return [
        *rows,
        {
            "mode": None,
            "function": None,
            "category": None,
            "n": len(rest),
            "before": before.loc[rest].sum().to_dict(),
            "after": after.loc[rest].sum().to_dict(),
        },
    ]
