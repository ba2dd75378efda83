"""Misses per line of payload, out of the tables, by cell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.config.variants import PLAIN
from copycost.figures.markers import in_order
from copycost.studies.simulated.counts import BOTH, LEVELS, MODES

BASELINE = "two_copy"
LEAST_SHARE = 0.1
"""Of a difference: who carries less of it is not named."""


class Place(NamedTuple):
    """What is the same in cells that are compared: where they run, and what is changed."""

    testbed: str
    working_set: str
    variant: str


Misses = Mapping[str, Mapping[str, float]]
"""By level and mode, misses per line of payload, of both sides."""


@dataclass(frozen=True, slots=True)
class Values:
    """The counted cells of one place."""

    place: Place
    implementations: tuple[str, ...]  # in the order of every legend
    sizes: tuple[int, ...]  # message sizes [bytes], ascending
    misses: Mapping[tuple[str, int], Misses]  # by implementation and size

    def of(self, implementation: str, msg_bytes: int) -> Misses | None:
        """Return the misses of a cell, None where it was not counted."""
        return self.misses.get((implementation, msg_bytes))

    def common_sizes(self, *implementations: str) -> list[int]:
        """Return the sizes at which all of them were counted."""
        return [
            size
            for size in self.sizes
            if all((name, size) in self.misses for name in implementations)
        ]


def total(misses: Misses, level: str) -> float:
    """Return a level's misses per line, in both modes."""
    return sum(misses[level].values())


def values_by_place(table: pd.DataFrame) -> dict[Place, Values]:
    """Return the counted cells of each place, in the order of the table."""
    counted = table[(table["status"] == "measured") & (table["side"] == BOTH)]
    found: dict[Place, dict[tuple[str, int], Misses]] = {}
    for row in counted.to_dict("records"):
        place = Place(str(row["testbed"]), str(row["working_set"]), str(row["variant"]))
        key = str(row["implementation"]), int(row["msg_bytes"])
        found.setdefault(place, {})[key] = {
            level: {
                mode: float(row[f"simulated_{level}_misses_{mode}_per_byte"])
                * float(row["simulated_line_bytes"])
                for mode in MODES
            }
            for level in LEVELS
        }
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
