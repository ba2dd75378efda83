"""Walks through memory whose misses are known: a check of all between a load and its count.

They run in the guest as cells do (src/simulated_walk.c), through caches of their own, small ones.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from copycost.analysis.json_values import Facts
from copycost.config.simulated import Geometry
from copycost.errors import HostError
from copycost.measure.simulated.cell import Caches, simulate
from copycost.studies.simulated.cell import read_made
from copycost.studies.simulated.reading import LEVELS
from copycost.studies.simulated.table import functions_of, totals_of

CACHES = {
    "l1d": Geometry(32 << 10, 8), "l2": Geometry(256 << 10, 8), "llc": Geometry(2 << 20, 16),
}  # fmt: skip
LINE_BYTES = 64
ROUNDS = 4

# lines that the program itself touches on its stack, in all rounds together, at most
_OWN_LINES = 32


class Walk(NamedTuple):
    """One walk: every round touches each line of a buffer once, always in the same order."""

    pattern: str  # ``strided``, ``random``, or ``copy``: half of the buffer to the other half
    n_bytes: int  # the buffer [bytes]

    def known(self, level: str) -> dict[str, int]:
        """Return what a level counts: all lines miss where the buffer is twice its size, else none.

        Each level then holds all lines from round to round, or none until its turn comes again. A
        copy writes half of them.
        """
        size = CACHES[level].size_bytes
        assert self.n_bytes <= size or self.n_bytes >= 2 * size
        misses = self.n_bytes // LINE_BYTES * ROUNDS if self.n_bytes > size else 0
        return {"misses": misses, "store_misses": misses // 2 if self.pattern == "copy" else 0}


WALKS = (
    *(Walk("strided", size) for size in (16 << 10, 128 << 10, 1 << 20, 8 << 20)),
    Walk("random", 8 << 20),
    *(Walk("copy", size) for size in (16 << 10, 1 << 20, 8 << 20)),
)
"""Buffers that fit into the first level, the second, the last, and none."""


def walk_all(program: Path, plugin: Path, folder: Path) -> Facts:
    """Return the facts about all walks, or why there are none: there is no guest, or one fails."""
    made = read_made(folder)
    if made["status"] != "measured":
        return walk_facts([], made["reason"] or made["status"])
    caches, found = Caches(CACHES, LINE_BYTES), []
    try:
        for walk in WALKS:
            words = f"--pattern {walk.pattern} --bytes {walk.n_bytes} --rounds {ROUNDS}"
            text = f"lead_ns 0\nwindow_ns 1\nsender {words}\n"
            counted = simulate(text, {"sender": program}, folder, plugin, caches).counted
            found.append((walk, counted))
    except HostError as failure:
        return walk_facts([], str(failure))
    return walk_facts(found)


def walk_facts(found: Sequence[tuple[Walk, Mapping[str, Any]]], reason: str | None = None) -> Facts:
    """Return how the counts of walks compare with what is known; `reason`: why there are none.

    Of `n` walks, the counts of `n_right` are off by no more lines than the program has itself;
    `worst_lines` is the largest difference [count].
    """
    off = []  # by how many lines the counts of the application are, in the worst level
    for walk, counted in found:
        user = totals_of(functions_of(counted)).loc["sender"].xs("user", level="mode")
        lines = []
        for level in LEVELS:
            misses, known = user[f"{level}_misses"], walk.known(level)
            stores = misses - user[f"{level}_load_misses"]
            lines += [abs(misses - known["misses"]), abs(stores - known["store_misses"])]
        off.append(int(max(lines)))
    n_right = sum(lines <= _OWN_LINES for lines in off)
    worst = max(off, default=0)
    return {"n": len(off), "n_right": n_right, "worst_lines": worst, "reason": reason}
