"""How many repetitions a configuration asks for, and how many are too many."""

from itertools import product
from math import prod

from copycost.config.config import Config, Streams
from copycost.errors import ConfigError
from copycost.grid.capabilities import can_exist
from copycost.grid.conditions import RECV

# Ten hours of measuring in windows of a second. Snakemake takes a minute to only look at so many.
MOST_REPETITIONS = 20_000


def require_measurable(config: Config) -> None:
    """Refuse a grid that no run would ever get through.

    Raises
    ------
    ConfigError
        Naming how many repetitions each study asks for.
    """
    counts = n_repetitions(config)
    total = sum(counts.values())
    if total > MOST_REPETITIONS:
        parts = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
        raise ConfigError(
            f"the configuration asks for {total} repetitions ({parts}), must ask for at most "
            f"{MOST_REPETITIONS}, so shorten the lists or measure in several runs"
        )


def n_repetitions(config: Config) -> dict[str, int]:
    """Return the repetitions that each study asks for, enabled or not, at most [count].

    Without those of passes, which add no more than leave `MOST_REPETITIONS`.
    """
    repetitions = config.measure.repetitions + config.measure.more_rounds
    trips, profile, budget, datagrams = (
        config.round_trips,
        config.profile,
        config.cpu_budget,
        config.datagrams,
    )
    return {
        "streams": _n_cells(config.streams) * (repetitions + config.streams.extra_repetitions),
        "udp": _n_cells(config.udp) * (repetitions + config.udp.extra_repetitions),
        "round_trips": repetitions
        * _size(trips.n_threads, trips.placements)
        * sum(
            can_exist(*cell, RECV)
            for cell in product(trips.implementations, trips.testbeds, trips.msg_bytes)
        ),
        "placement": config.placement.n_cells_at_most()
        * (repetitions + config.streams.extra_repetitions),
        "profile": profile.repetitions
        * _size(
            profile.implementations,
            profile.testbeds,
            profile.msg_bytes,
            profile.n_threads,
            profile.working_sets,
            profile.receivers,
            profile.placements,
        ),
        "cpu_budget": budget.repetitions
        * _size(
            budget.testbeds,
            budget.implementations,
            budget.limiters,
            budget.n_threads,
            budget.limit_percent,
        ),
        "datagrams": datagrams.repetitions
        * _size(
            datagrams.testbeds, datagrams.implementations, datagrams.msg_bytes, datagrams.n_threads
        ),
        "simulated": len(config.simulated.cells()),
    }


def _n_cells(grid: Streams) -> int:
    kinds = product(
        grid.implementations, grid.testbeds, grid.msg_bytes, grid.receivers, grid.placements
    )
    return _size(grid.n_threads, grid.working_sets) * sum(can_exist(*kind) for kind in kinds)


def _size(*lists: tuple[object, ...]) -> int:
    return prod(map(len, lists))
