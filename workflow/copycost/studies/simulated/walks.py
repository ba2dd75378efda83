"""Walks through memory whose misses are known: a check of all between a load and its count.

They run in the guest as cells do (src/simulated_walk.c), through caches of their own, small ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycost.analysis.json_values import Facts
from copycost.errors import HostError
from copycost.measure.simulated.cell import Caches, Level, SimulatedCell, simulate
from copycost.measure.simulated.snapshot import Snapshot
from copycost.studies.simulated.cell import read_made
from copycost.studies.simulated.counts import LEVELS, functions_of, totals_of

CACHES = {"l1d": Level(32 << 10, 8), "l2": Level(256 << 10, 8), "llc": Level(2 << 20, 16)}
LINE_BYTES = 64
ROUNDS = 4

# lines that the program itself touches on its stack, in all rounds together, at most
_OWN_LINES = 32


@dataclass(frozen=True, slots=True)
class Walk:
    """One walk: every round touches each line of a buffer once, always in the same order."""

    pattern: str  # ``strided``, ``random``, or ``copy``: half of the buffer to the other half
    n_bytes: int  # the buffer [bytes]

    @property
    def words(self) -> tuple[str, ...]:
        """What the program is told."""
        return ("--pattern", self.pattern, "--bytes", str(self.n_bytes), "--rounds", str(ROUNDS))

    @property
    def n_lines(self) -> int:
        """How many lines are touched in the window [count]."""
        return self.n_bytes // LINE_BYTES * ROUNDS

    def known(self, level: str) -> dict[str, int]:
        """Return what a level counts: all lines miss where the buffer is twice its size, else none.

        Each level then holds all lines from round to round, or none until its turn comes again. A
        copy writes half of them.
        """
        size = CACHES[level].size_bytes
        assert self.n_bytes <= size or self.n_bytes >= 2 * size
        misses = self.n_lines if self.n_bytes > size else 0
        stores = misses // 2 if self.pattern == "copy" else 0
        return {"misses": misses, "store_misses": stores}


WALKS = tuple(
    Walk(pattern, n_bytes)
    for pattern, sizes in (
        ("strided", (16 << 10, 128 << 10, 1 << 20, 8 << 20)),
        ("random", (8 << 20,)),
        ("copy", (16 << 10, 1 << 20, 8 << 20)),
    )
    for n_bytes in sizes
)
"""Buffers that fit into the first level, the second, the last, and none."""


@dataclass(frozen=True, slots=True)
class WalkingCell(SimulatedCell):
    """A cell whose sender is the program that walks; nobody receives."""

    words: tuple[str, ...] = ()

    def text(self) -> str:
        """Return what simulated_cell reads."""
        return f"lead_ns 0\nwindow_ns 1\nsender {' '.join(self.words)}\n"


def walk_all(program: Path, plugin: Path, folder: Path) -> Facts:
    """Return the facts about all walks, or why there are none: there is no guest, or one fails."""
    made = read_made(folder)
    if made["status"] != "measured":
        return walk_facts([], made["reason"] or made["status"])
    caches = Caches(CACHES["l1d"], CACHES["l2"], CACHES["llc"], LINE_BYTES)
    snapshot = Snapshot.in_folder(folder)
    found = []
    try:
        for walk in WALKS:
            cell = WalkingCell("sink", program, None, walk.n_bytes, 1, 0, words=walk.words)
            found.append((walk, simulate(cell, snapshot, plugin, caches).counted))
    except HostError as failure:
        return walk_facts([], str(failure))
    return walk_facts(found)


def walk_facts(found: Sequence[tuple[Walk, Mapping[str, Any]]], reason: str | None = None) -> Facts:
    """Return how the counts of walks compare with what is known; `reason`: why there are none."""
    off = []  # by how many lines the counts of the application are, in the worst level
    for walk, counted in found:
        user = totals_of(functions_of(counted))["sender", "user"]
        lines = []
        for level in LEVELS:
            misses, known = user[f"{level}_misses"], walk.known(level)
            stores = misses - user[f"{level}_load_misses"]
            lines += [abs(misses - known["misses"]), abs(stores - known["store_misses"])]
        off.append(max(lines))
    return {
        # walks, and those whose counts are off by no more lines than the program has itself [count]
        "n": len(off),
        "n_right": sum(lines <= _OWN_LINES for lines in off),
        "worst_lines": max(off, default=0),  # the largest difference [count]
        "reason": reason,
    }
