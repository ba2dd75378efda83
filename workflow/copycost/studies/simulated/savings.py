"""What a way to send saves in misses per line against `two_copy`: which level, where, why."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.config.conditions import COLD
from copycost.config.simulation_variants import PLAIN
from copycost.studies.simulated.counts import APPLICATION, BOTH, KERNEL_COPY, LEVELS, MODES

BASELINE = "two_copy"
LEAST = 0.05
"""Fewer misses per line than this are no difference: the edges of a window, and what lies next to
messages in memory, come to as much."""

CELL = ("testbed", "working_set", "implementation", "msg_bytes")
"""What tells the cells with nothing changed from one another."""

_TYPICAL_BYTES = 65536
# of what is saved at a level: whose copies carry less of it is not told
_LEAST_SHARE = 0.1
# of one miss per line: from here on a source or target was not found in a level
_MISSED = 0.5
_COPIES = {"user": APPLICATION, "kernel": KERNEL_COPY}


class Place(NamedTuple):
    """Where cells that are compared run, with nothing changed."""

    testbed: str
    working_set: str


def both_sides(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of counted cells that are of both sides' threads together."""
    return table[(table["status"] == "measured") & (table["side"] == BOTH)]


def misses_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return misses per line of payload, of both sides, by variant and `CELL`.

    Columns are pairs of a level and of ``user``, ``kernel`` or ``total``.
    """
    counted = both_sides(table).set_index(["variant", *CELL])
    found = {}
    for level in LEVELS:
        for mode in MODES:
            per_byte = counted[f"simulated_{level}_misses_{mode}_per_byte"]
            found[level, mode] = per_byte * counted["simulated_line_bytes"]
        found[level, "total"] = found[level, MODES[0]] + found[level, MODES[1]]
    return pd.DataFrame(found, index=counted.index)


def saved_of(misses: pd.DataFrame) -> pd.DataFrame:
    """Return the misses per line that each way to send saves at each level.

    Columns are ``variant``, those of `CELL`, the levels, and ``LEVEL_before``, what `two_copy`
    misses there.
    """
    total = misses.xs("total", axis=1, level=1).reset_index()
    is_baseline = total["implementation"] == BASELINE
    at = ["variant", "testbed", "working_set", "msg_bytes"]
    found = total[~is_baseline].merge(total[is_baseline], on=at, suffixes=("", "_before"))
    return found.assign(**{level: found[f"{level}_before"] - found[level] for level in LEVELS})


def saving_of(saved: pd.DataFrame, implementation: str) -> Facts:
    """Return what one way to send saves in a place, by its rows of `saved_of`."""
    plain = saved[saved["variant"] == PLAIN].set_index("msg_bytes")
    changes = {change_of(value) for value in plain[list(LEVELS)].to_numpy().flat}
    verdict = "falls" if "fewer" in changes else "rises" if "more" in changes else "same"
    most = None if verdict == "same" else _most(plain, 1 if verdict == "falls" else -1)
    return {
        "implementation": implementation,
        # some level's misses fall at some size, or some rise and none falls, or all are the same
        "verdict": verdict,
        # the level whose misses fall most (or, where none fall, rise most) and the size where they
        # do, of equal ones the one next to 64 KiB; in misses per line `before` and `saved`. None
        # where nothing changes.
        "most": most,
        "tried": most and _tried_again(saved[saved["msg_bytes"] == most["msg_bytes"]], verdict),
    }


def _tried_again(saved: pd.DataFrame, verdict: str) -> Facts:
    """Return how many changes a conclusion was tried with, in its very cell, and what held.

    `n_holding` are the changes under which the same level still falls most, or where none falls,
    still the same levels rise; `n` is 0 where the cell was not counted again.
    """
    cases: dict[Any, dict[Any, float]] = saved.set_index("variant")[list(LEVELS)].to_dict("index")
    told = {
        variant: (level_of(case), verdict == "falls" or [*map(change_of, case.values())])
        for variant, case in cases.items()
    }
    plain = told.pop(PLAIN)
    return {"n": len(told), "n_holding": [*told.values()].count(plain)}


def change_of(saved: float) -> str:
    """Return a saving as ``fewer``, ``more`` or ``same``."""
    return "fewer" if saved >= LEAST else "more" if saved <= -LEAST else "same"


def level_of(saved: Mapping[str, float]) -> str | None:
    """Return the level with the largest fall, None where none falls; of equal ones the first.

    What misses a level has missed those before it: how deep a fall goes is another question.
    """
    falls = [level for level in LEVELS if change_of(saved[level]) == "fewer"]
    largest = max((saved[level] for level in falls), default=0.0)
    return next((level for level in falls if saved[level] > largest - LEAST), None)


def _most(saved: pd.DataFrame, sign: int) -> Facts:
    changes = sign * saved[list(LEVELS)]
    most = changes.max(axis=1)
    largest = most[most > most.max() - LEAST].index
    # next to 64 KiB a byte's cost is more than a share of the call's
    size = min(largest, key=lambda size: (abs(size - _TYPICAL_BYTES), size))
    level = level_of(changes.loc[size].to_dict())
    return {
        "level": level,
        "msg_bytes": size,
        "before": saved.loc[size, f"{level}_before"],
        "saved": saved.loc[size, level],
    }


def saved_copies(
    functions: pd.DataFrame, place: Place, saving: Facts, caches: Mapping[str, Any]
) -> dict[str, Facts | None]:
    """Return what the level that changes most misses of the copies that are saved in a place.

    By whose copies they are, ``user`` or ``kernel``: whether source, target or both are not in the
    level, and why; None where their misses are not a tenth of what is saved. A copy loads its
    source and stores its target, so misses of loads are those of the one, and misses of stores
    those of the other, per line of either. The kernel's source is what the application has just
    written, in no case a cold message.
    """
    most = saving["most"]
    here = functions[
        (functions[["testbed", "working_set"]] == list(place)).all(axis=1)
        & (functions["variant"] == PLAIN)
        & (functions["msg_bytes"] == most["msg_bytes"])
        & (functions["side"] != "other")
    ]
    level, line_bytes = most["level"], caches["line_bytes"]
    cache_bytes = caches[level]["size_bytes"]
    columns = [f"simulated_{level}_{kind}_per_byte" for kind in ("misses", "load_misses")]
    found: dict[str, Facts | None] = {}
    for mode, category in _COPIES.items():
        rows = here[(here["mode"] == mode) & (here["category"] == category)]
        before, after = (
            rows[rows["implementation"] == name][columns].sum() * line_bytes
            for name in (BASELINE, saving["implementation"])
        )
        saved, source = (float(before[name] - after[name]) for name in columns)
        target = saved - source
        found[mode] = None
        if saved < _LEAST_SHARE * abs(most["saved"]):
            continue
        missed = [name for name, n in (("source", source), ("target", target)) if n >= _MISSED]
        cold = mode == "user" and place.working_set == COLD and "source" in missed
        reasons = ["from_memory"] if cold else []
        if "target" in missed or (missed and not cold):
            # source and target would fit into the level together, or do not
            reasons.append("displaced" if 2 * most["msg_bytes"] <= cache_bytes else "beyond")
        found[mode] = {
            "misses": "both" if len(missed) > 1 else missed[0] if missed else "neither",
            "reasons": reasons,
            "size_bytes": cache_bytes,  # of the level
        }
    return found
