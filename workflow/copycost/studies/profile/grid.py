"""The cells of the study `profile`, with the names of cells, pairs of them, and pictures.

Cells are those of its grid, and those that explain other studies. Every start imports this, so
nothing heavy is imported here.
"""

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Self

from copycost.config.cells import Cell
from copycost.config.conditions import HOT, RECV
from copycost.config.config import Config
from copycost.config.placements import APART
from copycost.config.strategy_capabilities import IPERF3, can_exist
from copycost.config.studies import CpuBudget, Datagrams
from copycost.config.testbeds import away_on, guests_on
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
    """Return all repetitions that are profiled, sorted by key.

    Whether the section is enabled decides only what a run without a target does.

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
        Cell(STUDY, *place, rep)
        for grid in grids
        for place in itertools.product(*grid)
        for rep in range(1, profile.repetitions + 1)
    }
    return tuple(
        sorted(
            cell
            for cell in cells
            # iperf3 sends one buffer again and again
            if (cell.implementation != IPERF3 or cell.working_set == HOT) and can_exist(*cell.kind)
        )
    )


def cell_keys(config: Config, explained: Collection[str] = ()) -> list[CellKey]:
    """Return the cells without their repetitions, as the tables name them."""
    return list(dict.fromkeys(map(CellKey.of, profile_cells(config, explained))))


Pair = tuple[CellKey, CellKey]
"""Two cells that differ in nothing but the implementation."""


def parties_on(testbed: str) -> tuple[str, ...]:
    """Return whose stacks are sampled on a testbed, sides first."""
    match guests_on(testbed):
        case 0:
            return SIDES
        case 1:
            away = away_on(testbed)
            return parties_of([tuple(side for side in SIDES if side in away)])
        case _:
            return parties_of([(side,) for side in SIDES])


def slug_of(key: CellKey) -> str:
    """Return a name of a cell for files and ids: ``veth_two_copy_65536_1``."""
    return f"{key.condition}_{key.implementation}_{key.msg_bytes}_{key.n_threads}"


def pair_slug(pair: Pair) -> str:
    """Return a name of a pair: ``veth_two_copy_65536_1_to_zero_copy``."""
    return f"{slug_of(pair[0])}_to_{pair[1].implementation}"


def pairs_of(keys: Iterable[CellKey], wished: Sequence[tuple[str, str]]) -> list[Pair]:
    """Return the pairs among cells that differ in nothing but the implementations wished."""
    cells = list(keys)
    found = []
    for before, after in wished:
        for key in cells:
            other = key._replace(implementation=after)
            if key.implementation == before and other in cells:
                found.append((key, other))
    return found


def flame_figure(slug: str, side: str) -> str:
    """Return the name of the flame graph of a party of a cell."""
    return f"flame_{slug}_{side}"


def figure_names(keys: Iterable[CellKey]) -> list[str]:
    """Return the names of the flame graphs of a grid, whether or not its cells were measured."""
    return [flame_figure(slug_of(key), party) for key in keys for party in parties_on(key.testbed)]
