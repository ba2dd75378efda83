"""The section `placement` of the configuration: cells that are measured in several placements."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from copycost.config.cells import Cell
from copycost.config.conditions import HOT, RECV


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which cells of a grid are meant; without implementations none."""

    implementations: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """A few cells of two grids, and the placements in which each is measured."""

    placements: tuple[str, ...]
    testbeds: tuple[str, ...]
    streams: Chosen
    round_trips: Chosen

    def cells(self, grid: Iterable[Cell]) -> Iterator[Cell]:
        """Yield the cells of a grid that are meant, in each placement; some may be in the grid."""
        for cell in grid:
            usual = (cell.working_set, cell.receiver) == (HOT, RECV)
            if usual and cell.testbed in self.testbeds and self._is_chosen(cell):
                for placement in self.placements:
                    yield replace(cell, placement=placement)

    def _is_chosen(self, cell: Cell) -> bool:
        chosen = self.round_trips if cell.study == "round_trips" else self.streams
        return (
            cell.implementation in chosen.implementations
            and cell.msg_bytes in chosen.msg_bytes
            and cell.n_threads in chosen.n_threads
        )

    def n_cells_at_most(self) -> int:
        """Return how many cells these are where the grids have them all."""
        places = len(self.placements) * len(self.testbeds)
        return places * sum(
            len(one.implementations) * len(one.msg_bytes) * len(one.n_threads)
            for one in (self.streams, self.round_trips)
        )
