"""The grid: the cells that a configuration asks for in `streams`, `udp` and `round_trips`."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Self

from copycost.config.cells import Cell, cells_of, n_cells
from copycost.config.conditions import Condition
from copycost.config.config import Config
from copycost.config.strategy_capabilities import BASELINE, IPERF3, can_exist
from copycost.config.studies import RoundTrips
from copycost.config.testbeds import away_on, transport_of
from copycost.errors import ConfigError

# What a repetition takes beside what both ways in turns send [s], about.
_BESIDES_S = 0.1

# Ten hours of measuring in windows of a second. Snakemake takes a minute to only look at so many.
MOST_REPETITIONS = 20_000


@dataclass(frozen=True, slots=True)
class Grid:
    """What a configuration has measured whatever comes of it: the first pass.

    One job measures all repetitions of a cell where each has the reference with it. A cell that is
    alone is compared with others of about the same time, so there a job measures one of them, and
    each round all cells.
    """

    cells: tuple[Cell, ...]  # the first repetition of each job, sorted by key
    conditions: tuple[Condition, ...]  # of the study `streams`, in the configuration's order
    rounds: int  # repetitions of every cell; of a control fewer, see `repetitions_in`

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the grid of the studies `streams` (over TCP and UDP) and `round_trips`.

        A cell that cannot exist, such as segments over TCP, is left out. Where the time is too
        short for as many repetitions as stated, there are as many as fit, one at least; the rest of
        the time is for the passes behind the grid.
        """
        streams = [*cells_of("streams", config.streams), *cells_of("streams", config.udp)]
        firsts = {*streams, *cells_of("round_trips", config.round_trips)}
        firsts.update(tuple(config.placement.cells(firsts)))
        rounds = _rounds_within(config, firsts)
        cells = {
            replace(cell, rep=rep)
            for cell in firsts
            for rep in range(1, 2 if reference_of(config, cell) else rounds + 1)
        }
        return cls(tuple(sorted(cells)), conditions_of(streams), rounds)

    def n_repetitions(self, config: Config, study: str | None = None) -> int:
        """Return how many repetitions all jobs measure, or those of one study [count]."""
        cells = (cell for cell in self.cells if study in (None, cell.study))
        return sum(repetitions_in(config, cell, self.rounds) for cell in cells)

    def paths(self, study: str | None = None) -> list[str]:
        """Return the paths of all records, or of those of one study, in the order of `cells`."""
        return [cell.path for cell in self.cells if study in (None, cell.study)]


def reference_of(config: Config, cell: Cell) -> str | None:
    """Return what a cell is measured in turns with: two_copy, or the first way that is listed.

    None where it is measured alone: where a side is on another machine or in a guest, with which
    turns would take longer than slices, where requests come by the clock, which does not stop, and
    where iperf3 sends.
    """
    is_stream = transport_of(cell.testbed) == "stream"
    sections: dict[str, RoundTrips] = {
        "streams": config.streams if is_stream else config.udp,
        "round_trips": config.round_trips,
        "profile": config.profile,
    }
    section = sections.get(cell.study)
    if section is None or away_on(cell.testbed) or cell.implementation == IPERF3:
        return None
    if cell.study == "round_trips" and config.measure.interval_us:
        return None
    listed = [one for one in section.implementations if one != IPERF3]
    name = BASELINE if BASELINE in listed else next(iter(listed), "")
    there = name and can_exist(name, cell.testbed, cell.msg_bytes, cell.receiver, cell.placement)
    return name if there else None


def repetitions_in(config: Config, cell: Cell, rounds: int) -> int:
    """Return how many repetitions of a cell a job measures, see `Grid.rounds` [count].

    The reference against itself is the control: it enters no comparison, and how fast the reference
    is follows from all repetitions that have it, so half as many are enough, but two for a spread.
    """
    reference = reference_of(config, cell)
    if reference is None:
        return 1
    return rounds if cell.implementation != reference else _of_control(rounds)


def _of_control(rounds: int) -> int:
    return min(rounds, max(2, rounds // 2))


def _rounds_within(config: Config, firsts: Collection[Cell]) -> int:
    """Return how many rounds of the grid the time is likely to hold, up to what is stated."""
    measure = config.measure
    if measure.minutes is None:
        return measure.repetitions
    n_control = sum(cell.implementation == reference_of(config, cell) for cell in firsts)
    n_others = len(firsts) - n_control
    each_s = 2 * (measure.warmup_s + measure.duration_s) + _BESIDES_S
    n_fit = 60.0 * measure.minutes / each_s
    rounds = range(measure.repetitions, 1, -1)
    return next((n for n in rounds if n_others * n + n_control * _of_control(n) <= n_fit), 1)


def conditions_of(cells: Iterable[Cell]) -> tuple[Condition, ...]:
    """Return the conditions under which there are cells of the study `streams`, in their order."""
    stated = (
        Condition(cell.testbed, cell.working_set, cell.receiver, cell.placement)
        for cell in cells
        if cell.study == "streams"
    )
    return tuple(dict.fromkeys(stated))


def require_measurable(config: Config) -> None:
    """Refuse a grid that no run would ever get through.

    Raises ConfigError naming how many repetitions each study asks for.
    """
    repetitions = config.measure.repetitions
    # of studies that are not enabled, too; without passes, which add no more than this leaves
    counts = {
        "streams": n_cells(config.streams) * repetitions,
        "udp": n_cells(config.udp) * repetitions,
        "round_trips": n_cells(config.round_trips) * repetitions,
        "placement": config.placement.n_cells_at_most() * repetitions,
        "profile": n_cells(config.profile) * config.profile.repetitions,
        "cpu_budget": n_cells(config.cpu_budget) * config.cpu_budget.repetitions,
        "datagrams": n_cells(config.datagrams) * config.datagrams.repetitions,
        "simulated": len(config.simulated.cells()),
    }
    total = sum(counts.values())
    if total > MOST_REPETITIONS:
        parts = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
        raise ConfigError(
            f"the configuration asks for {total} repetitions ({parts}), must ask for at most "
            f"{MOST_REPETITIONS}, so shorten the lists or measure in several runs"
        )
