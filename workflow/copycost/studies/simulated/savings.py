"""What a way to send saves in misses per line against `two_copy`: which level, where, why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.config.conditions import COLD
from copycost.config.variants import PLAIN
from copycost.figures.markers import in_order
from copycost.studies.simulated.counts import APPLICATION, BOTH, KERNEL_COPY, LEVELS, MODES

BASELINE = "two_copy"
LEAST_SHARE = 0.1
"""Of a difference: who carries less of it is not named."""
LEAST = 0.05
"""Fewer misses per line than this are no difference: the edges of a window, and what lies next to
messages in memory, come to as much."""

_TYPICAL_BYTES = 65536
# of one miss per line: from here on a source or target was not found in a level
_MISSED = 0.5
_COPIES = {"user": APPLICATION, "kernel": KERNEL_COPY}


class Place(NamedTuple):
    """What is the same in cells that are compared: where they run, and what is changed."""

    testbed: str
    working_set: str
    variant: str


Misses = Mapping[str, Mapping[str, float]]
"""By level and mode, and in `total`, misses per line of payload, of both sides."""


@dataclass(frozen=True, slots=True)
class Values:
    """The counted cells of one place."""

    place: Place
    implementations: tuple[str, ...]  # in the order of every legend
    sizes: tuple[int, ...]  # message sizes [bytes], ascending
    misses: Mapping[tuple[str, int], Misses]  # by implementation and size

    def common_sizes(self, *implementations: str) -> list[int]:
        """Return the sizes at which all of them were counted."""
        return [
            size
            for size in self.sizes
            if all((name, size) in self.misses for name in implementations)
        ]


def values_by_place(table: pd.DataFrame) -> dict[Place, Values]:
    """Return the counted cells of each place, in the order of the table."""
    counted = table[(table["status"] == "measured") & (table["side"] == BOTH)]
    found: dict[Place, dict[tuple[str, int], Misses]] = {}
    for row in counted.to_dict("records"):
        place = Place(str(row["testbed"]), str(row["working_set"]), str(row["variant"]))
        key = str(row["implementation"]), int(row["msg_bytes"])
        misses: dict[str, dict[str, float]] = {}
        for level in LEVELS:
            of = {
                mode: float(row[f"simulated_{level}_misses_{mode}_per_byte"])
                * float(row["simulated_line_bytes"])
                for mode in MODES
            }
            misses[level] = of | {"total": sum(of.values())}
        found.setdefault(place, {})[key] = misses
    return {
        place: Values(
            place,
            in_order(name for name, _ in cells),
            tuple(sorted({size for _, size in cells})),
            cells,
        )
        for place, cells in found.items()
    }


def instructions_facts(table: pd.DataFrame) -> list[Facts]:
    """Return the instructions per message, both sides' threads together, with nothing changed.

    Of a testbed's first working set, since they hardly depend on where bytes lie.
    """
    counted = table[
        (table["status"] == "measured") & (table["side"] == BOTH) & (table["variant"] == PLAIN)
    ]
    first = counted.groupby("testbed")["working_set"].transform("first")
    counted = counted[counted["working_set"] == first]
    cell = ("testbed", "implementation", "msg_bytes")
    return [
        {name: row[name] for name in cell}
        | {mode: float(row[f"simulated_instructions_{mode}_per_message"]) for mode in MODES}
        for row in counted.to_dict("records")
    ]


def saving_of(values: Values, implementation: str) -> Facts | None:
    """Return what one way to send saves against `two_copy`; None without a size of both."""
    sizes = values.common_sizes(BASELINE, implementation)
    if not sizes:
        return None
    points = {size: saved_at(values, implementation, size) for size in sizes}
    changes = {change_of(value) for saved in points.values() for value in saved.values()}
    verdict = "falls" if "fewer" in changes else "rises" if "more" in changes else "same"
    return {
        "implementation": implementation,
        # some level's misses fall at some size, or some rise and none falls, or all are the same
        "verdict": verdict,
        # the level whose misses fall most (or, where none fall, rise most) and the size where they
        # do, of equal ones the one next to 64 KiB; in misses per line `before` and `saved`. None
        # where nothing changes.
        "most": _most(values, points, verdict),
    }


def saved_at(values: Values, implementation: str, msg_bytes: int) -> dict[str, float]:
    """Return what is saved at a size, in misses per line, by level."""
    before, after = (values.misses[name, msg_bytes] for name in (BASELINE, implementation))
    return {level: before[level]["total"] - after[level]["total"] for level in LEVELS}


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
    most = {size: max(change.values()) for size, change in changing.items()}
    largest = [size for size, change in most.items() if change > max(most.values()) - LEAST]
    # next to 64 KiB a byte's cost is more than a share of the call's
    size = min(largest, key=lambda size: (abs(size - _TYPICAL_BYTES), size))
    level = level_of(changing[size])
    assert level is not None
    return {
        "level": level,
        "msg_bytes": size,
        "before": values.misses[BASELINE, size][level]["total"],
        "saved": points[size][level],
    }


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


def copy_of(
    source: float, target: float, msg_bytes: int, cache_bytes: int, *, from_memory: bool
) -> Facts:
    """Return what a level misses of a copy, and why it is not in the level.

    A copy loads its source and stores its target, so misses of loads are those of the one, and
    misses of stores those of the other. `source` and `target` are misses per line of either;
    `from_memory` says that the source is in no cache.
    """
    missed = [name for name, n in (("source", source), ("target", target)) if n >= _MISSED]
    cold = from_memory and "source" in missed
    reasons = ["from_memory"] if cold else []
    if "target" in missed or (missed and not cold):
        # source and target would fit into the level together, or do not
        reasons.append("displaced" if 2 * msg_bytes <= cache_bytes else "beyond")
    return {
        "source": source,
        "target": target,
        "misses": "both" if len(missed) > 1 else missed[0] if missed else "neither",
        "reasons": reasons,
        "size_bytes": cache_bytes,  # of the level
    }


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
