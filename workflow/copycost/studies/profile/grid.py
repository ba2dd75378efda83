"""The cells of the study `profile`, with the names of cells and pictures.

Cells are those of its grid, and those that explain other studies. Every start imports this, so
nothing heavy is imported here.
"""

import itertools
from collections.abc import Collection, Iterable
from typing import NamedTuple, Self

from copycost.config.cells import Cell
from copycost.config.conditions import HOT, RECV
from copycost.config.config import Config
from copycost.config.strategy_capabilities import IPERF3, can_exist
from copycost.config.studies import CpuBudget, Datagrams
from copycost.config.testbeds import APART, away_on, guests_on
from copycost.hosts.side import SIDES, parties_of

STUDY = "profile"


class CellKey(NamedTuple):
    """What tells a cell from others, as the tables name it: the cell without its repetition."""

    condition: str
    testbed: str
    implementation: str
    msg_bytes: int
    n_threads: int
    working_set: str
    receiver: str
    placement: str

    @classmethod
    def of(cls, cell: Cell) -> Self:
        """Return that of a repetition."""
        return cls(*(getattr(cell, name) for name in cls._fields))


def profile_cells(config: Config, explained: Collection[str] = ()) -> tuple[Cell, ...]:
    """Return all repetitions that are profiled, sorted by key, enabled or not.

    What drives `cpu_budget` and `datagrams` is profiled as they drive it, where they are part of
    the run (`explained`) and the section says so: with all their streams, and with the smallest and
    the largest datagram.
    """
    profile, budget, flood = config.profile, config.cpu_budget, config.datagrams
    own = (profile.testbeds, profile.implementations, profile.msg_bytes, profile.n_threads)
    grids = [(*own, profile.working_sets, profile.receivers, profile.placements)]
    driven: dict[str, tuple[CpuBudget | Datagrams, tuple[int, ...]]] = {
        "cpu_budget": (budget, (budget.msg_bytes,)),
        "datagrams": (flood, (min(flood.msg_bytes), max(flood.msg_bytes))),
    }
    for study in set(explained).intersection(profile.explains):
        section, sizes = driven[study]
        its = (section.testbeds, section.implementations, sizes, section.n_threads)
        grids.append((*its, (HOT,), (RECV,), (APART,)))
    cells = {
        Cell(STUDY, *place)
        for grid in grids
        for place in itertools.product(*grid, range(1, profile.repetitions + 1))
    }
    # iperf3 sends one buffer again and again
    useless = {cell for cell in cells if cell.implementation == IPERF3 and cell.working_set != HOT}
    return tuple(sorted(cell for cell in cells - useless if can_exist(*cell.kind)))


def cell_keys(config: Config, explained: Collection[str] = ()) -> list[CellKey]:
    """Return the cells without their repetitions, as the tables name them."""
    return list(dict.fromkeys(map(CellKey.of, profile_cells(config, explained))))


def parties_on(testbed: str) -> tuple[str, ...]:
    """Return whose stacks are sampled on a testbed, sides first."""
    each = [(side,) for side in SIDES]
    in_one = tuple(side for side in SIDES if side in away_on(testbed))
    return parties_of({0: [], 1: [in_one]}.get(guests_on(testbed), each))


def slug_of(key: CellKey) -> str:
    """Return a name of a cell for files and ids: ``veth_two_copy_65536_1``."""
    return f"{key.condition}_{key.implementation}_{key.msg_bytes}_{key.n_threads}"


def flame_figure(key: CellKey, party: str) -> str:
    """Return the name of the flame graph of a party of a cell."""
    return f"flame_{slug_of(key)}_{party}"


def figure_names(keys: Iterable[CellKey]) -> list[str]:
    """Return the names of the flame graphs of a grid, whether or not its cells were measured."""
    return [flame_figure(key, party) for key in keys for party in parties_on(key.testbed)]
