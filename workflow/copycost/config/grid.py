"""The grid: the cells that a configuration asks for in `streams`, `udp` and `round_trips`."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from copycost.config.config import Config, Measure, RoundTrips, Streams
from copycost.config.looks import FEWEST_ROUNDS
from copycost.grid.capabilities import BASELINE, can_exist
from copycost.grid.cells import Cell
from copycost.grid.conditions import RECV, Condition
from copycost.grid.testbeds import away_on, transport_of

# What a repetition takes beside what both ways in turns send [s], about.
_BESIDES_S = 0.1


@dataclass(frozen=True, slots=True)
class Grid:
    """All repetitions that a configuration asks for, sorted by key.

    Attributes
    ----------
    cells
        The repetitions of all studies.
    conditions
        Those of the grids of the study `streams`, in the order of the configuration.
    """

    cells: tuple[Cell, ...]
    conditions: tuple[Condition, ...]

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the grid of the studies `streams` (over TCP and UDP) and `round_trips`.

        A cell that cannot exist, such as segments over TCP, is left out. Where the time is stated,
        every cell has as many repetitions as fit, up to what a verdict needs: the rest of the time
        is for the passes behind the grid.
        """
        if config.measure.minutes is not None:
            n_cells = len(_cells(config.with_repetitions(1)))
            config = config.with_repetitions(rounds_within(config.measure, n_cells))
        cells = _cells(config)
        return cls(tuple(sorted(cells)), _conditions(cells, config.streams, config.udp))

    def paths(self, study: str | None = None) -> list[str]:
        """Return the paths of all records, or of those of one study, in the order of `cells`."""
        return [cell.path for cell in self.cells if study in (None, cell.study)]


def reference_of(config: Config, cell: Cell) -> str | None:
    """Return what a cell is measured in turns with: two_copy, or the first way that is listed.

    None where it is measured alone: where a side is on another machine or in a guest, with which
    turns would take longer than slices, and where requests come by the clock, which does not stop.
    """
    asks = cell.study == "round_trips"
    if not (asks or cell.study == "streams") or away_on(cell.testbed):
        return None
    if asks and config.measure.interval_us:
        return None
    is_stream = transport_of(cell.testbed) == "stream"
    sent = config.streams if is_stream else config.udp
    listed = config.round_trips if asks else sent
    name = BASELINE if BASELINE in listed.implementations else listed.implementations[0]
    there = can_exist(name, cell.testbed, cell.msg_bytes, cell.receiver, cell.placement)
    return name if there else None


def rounds_within(measure: Measure, n_cells: int) -> int:
    """Return how many rounds of the grid the stated time is likely to hold, one at least."""
    most = max(measure.repetitions, FEWEST_ROUNDS)
    if measure.minutes is None or not n_cells:
        return most
    round_s = n_cells * (2 * (measure.warmup_s + measure.duration_s) + _BESIDES_S)
    return min(max(int(60.0 * measure.minutes / round_s), 1), most)


def _cells(config: Config) -> set[Cell]:
    repetitions = config.measure.repetitions
    cells = {
        *_stream_cells(config.streams, repetitions),
        *_stream_cells(config.udp, repetitions),
        *_round_trip_cells(config.round_trips, repetitions),
    }
    cells.update(tuple(config.placement.cells(cells)))
    return cells


def _stream_cells(grid: Streams, repetitions: int) -> Iterator[Cell]:
    """Yield the cells of a grid that can exist."""
    reps = range(1, repetitions + grid.extra_repetitions + 1)
    kinds = itertools.product(
        grid.implementations, grid.testbeds, grid.msg_bytes, grid.receivers, grid.placements
    )
    for implementation, testbed, msg_bytes, receiver, placement in kinds:
        if not can_exist(implementation, testbed, msg_bytes, receiver, placement):
            continue
        for n_threads, working_set, rep in itertools.product(
            grid.n_threads, grid.working_sets, reps
        ):
            yield Cell(
                "streams",
                testbed,
                implementation,
                msg_bytes,
                n_threads,
                working_set,
                receiver,
                placement,
                rep,
            )


def _round_trip_cells(grid: RoundTrips, repetitions: int) -> Iterator[Cell]:
    """Yield the cells of a grid that can exist; a client waits, so there is nothing to batch."""
    reps = range(1, repetitions + 1)
    for implementation, testbed, msg_bytes, n_threads, placement, rep in itertools.product(
        grid.implementations, grid.testbeds, grid.msg_bytes, grid.n_threads, grid.placements, reps
    ):
        if can_exist(implementation, testbed, msg_bytes, RECV):
            yield Cell(
                "round_trips",
                testbed,
                implementation,
                msg_bytes,
                n_threads,
                placement=placement,
                rep=rep,
            )


def _conditions(cells: set[Cell], *grids: Streams) -> tuple[Condition, ...]:
    """Return the conditions under which there are cells, in the order of the configuration."""
    filled = {
        Condition(cell.testbed, cell.working_set, cell.receiver, cell.placement)
        for cell in cells
        if cell.study == "streams"
    }
    stated = (
        Condition(*words)
        for grid in grids
        for words in itertools.product(
            grid.testbeds, grid.working_sets, grid.receivers, grid.placements
        )
    )
    return tuple(condition for condition in dict.fromkeys(stated) if condition in filled)
