"""Where a copy finds its source and its target, and why not in a level.

A copy loads its source and stores its target, so misses of loads are those of the one, and misses
of stores those of the other.
"""

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.config.conditions import COLD
from copycost.studies.simulated.counts import APPLICATION, KERNEL_COPY
from copycost.studies.simulated.values import BASELINE, LEAST_SHARE, Place

# of one miss per line: from here on a source or target was not found in a level
_MISSED = 0.5
_COPIES = {"user": APPLICATION, "kernel": KERNEL_COPY}


def copy_of(
    source: float, target: float, msg_bytes: int, cache_bytes: int, *, from_memory: bool
) -> Facts:
    """Return what a level misses of a copy.

    `source` and `target` are misses per line of either; `from_memory` says that the source is in no
    cache.
    """
    missed = {"source": source >= _MISSED, "target": target >= _MISSED}
    names = [name for name, is_missed in missed.items() if is_missed]
    fits = 2 * msg_bytes <= cache_bytes
    return {
        # misses per line of either
        "source": source,
        "target": target,
        # which of them is missed: ``both``, ``source``, ``target``, ``neither``
        "misses": "both" if len(names) > 1 else names[0] if names else "neither",
        # why: ``from_memory`` (a cold source comes from there), ``beyond`` (source and target
        # together exceed the level), ``displaced`` (they would fit)
        "reasons": _reasons(missed["source"], missed["target"], fits, from_memory),
        "size_bytes": cache_bytes,  # the level's size [bytes]
    }


def _reasons(source: bool, target: bool, fits: bool, cold: bool) -> list[str]:
    reasons = ["from_memory"] if source and cold else []
    if target or (source and not cold):
        reasons.append("displaced" if fits else "beyond")
    return reasons


def saved_copies(
    functions: pd.DataFrame, place: Place, saving: Facts, line_bytes: int, cache_bytes: int
) -> dict[str, Facts | None]:
    """Return what the level that changes most misses of the copies that are saved there.

    By whose copies they are, ``user`` or ``kernel``, as `copy_of` has them: what they miss more
    with `two_copy`, both sides' threads together; None where that is not a tenth of what is saved.
    The kernel's source is what the application has just written, in no case a cold message.
    """
    most = saving["most"]
    level, size = most["level"], most["msg_bytes"]
    here = functions_at(functions, place, size)
    columns = [f"simulated_{level}_{kind}_per_byte" for kind in ("misses", "load_misses")]
    found: dict[str, Facts | None] = {}
    for mode, category in _COPIES.items():
        rows = here[(here["mode"] == mode) & (here["category"] == category)]
        before, after = (
            rows[rows["implementation"] == name][columns].sum() * line_bytes
            for name in (BASELINE, saving["implementation"])
        )
        saved, loads = (float(before[name] - after[name]) for name in columns)
        found[mode] = None
        if saved >= LEAST_SHARE * abs(most["saved"]):
            cold = mode == "user" and place.working_set == COLD
            found[mode] = copy_of(loads, saved - loads, size, cache_bytes, from_memory=cold)
    return found


def functions_at(functions: pd.DataFrame, place: Place, msg_bytes: int) -> pd.DataFrame:
    """Return the rows of both sides' functions in one place at one size."""
    return functions[
        (functions[["testbed", "working_set", "variant"]] == list(place)).all(axis=1)
        & (functions["msg_bytes"] == msg_bytes)
        & (functions["side"] != "other")
    ]
