"""Walk through memory in copies of a saved guest, and see what is counted."""

from dataclasses import dataclass
from pathlib import Path

from copycost.analysis.json_values import Facts
from copycost.errors import HostError
from copycost.measure.simulated.cell import Caches, Level, SimulatedCell, simulate
from copycost.measure.simulated.snapshot import Snapshot
from copycost.studies.simulated.counts import LEVELS
from copycost.studies.simulated.guest import read_made
from copycost.studies.simulated.walks import (
    CACHES,
    LINE_BYTES,
    WALKS,
    Walk,
    no_walks,
    walk_facts,
)


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
        return no_walks(made["reason"] or made["status"])
    l1d, l2, llc = (Level(**CACHES[level]) for level in LEVELS)
    caches = Caches(l1d, l2, llc, LINE_BYTES)
    snapshot = Snapshot.in_folder(folder)
    try:
        return walk_facts(
            [
                (walk, simulate(_cell(walk, program), snapshot, plugin, caches).counted)
                for walk in WALKS
            ]
        )
    except HostError as failure:
        return no_walks(str(failure))


def _cell(walk: Walk, program: Path) -> WalkingCell:
    return WalkingCell("sink", program, None, walk.n_bytes, 1, 0, words=walk.words)
