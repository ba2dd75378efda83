"""Names of cells, pairs of cells and pictures. Imports nothing heavy: every start reads it."""

from collections.abc import Iterable, Sequence

from copycost.studies.profile.grid import CellKey

SIDES = ("sender", "receiver")

Pair = tuple[CellKey, CellKey]
"""Two cells that differ in nothing but the implementation."""


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


def path_figure(slug: str) -> str:
    """Return the name of the picture of a cell's way of a message."""
    return f"path_{slug}"


def flame_figure(slug: str, side: str) -> str:
    """Return the name of the flame graph of one side of a cell."""
    return f"flame_{slug}_{side}"


def difference_figure(slug: str, side: str) -> str:
    """Return the name of the differential flame graph of one side of a pair."""
    return f"difference_{slug}_{side}"


def figure_names(keys: Iterable[CellKey], differences: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names of all pictures of a grid, whether or not its cells could be measured."""
    cells = list(keys)
    names = [path_figure(slug_of(key)) for key in cells]
    names += [flame_figure(slug_of(key), side) for key in cells for side in SIDES]
    for pair in pairs_of(cells, differences):
        names += [difference_figure(pair_slug(pair), side) for side in SIDES]
    return names
