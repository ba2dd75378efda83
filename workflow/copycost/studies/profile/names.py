"""Names of cells, pairs of cells and pictures. Imports nothing heavy: every start reads it."""

from collections.abc import Iterable, Sequence

from copycost.config.testbeds import away_on, guests_on
from copycost.hosts.parties import parties_of
from copycost.hosts.side import SIDES
from copycost.studies.profile.grid import CellKey

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
