"""How many repetitions a configuration asks for, and how many are too many."""

from itertools import product
from math import prod

from copycost.config.capabilities import can_exist
from copycost.config.conditions import RECV
from copycost.config.config import Config, Streams
from copycost.errors import ConfigError

# Ten hours of measuring in windows of a second. Snakemake takes a minute to only look at so many.
MOST_REPETITIONS = 20_000

_SENT = "implementations testbeds msg_bytes n_threads"


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
    repetitions = config.measure.repetitions
    trips, profile, budget, datagrams = (
        config.round_trips,
        config.profile,
        config.cpu_budget,
        config.datagrams,
    )
    trip_cells = product(trips.implementations, trips.testbeds, trips.msg_bytes)
    return {
        "streams": _n_cells(config.streams) * repetitions,
        "udp": _n_cells(config.udp) * repetitions,
        "round_trips": repetitions
        * _points(trips, "n_threads placements")
        * sum(can_exist(*cell, RECV) for cell in trip_cells),
        "placement": config.placement.n_cells_at_most() * repetitions,
        "profile": profile.repetitions
        * _points(profile, f"{_SENT} working_sets receivers placements"),
        "cpu_budget": budget.repetitions
        * _points(budget, "testbeds implementations limiters n_threads limit_percent"),
        "datagrams": datagrams.repetitions * _points(datagrams, _SENT),
        "simulated": len(config.simulated.cells()),
    }


def _n_cells(grid: Streams) -> int:
    kinds = product(
        grid.implementations, grid.testbeds, grid.msg_bytes, grid.receivers, grid.placements
    )
    return _points(grid, "n_threads working_sets") * sum(can_exist(*kind) for kind in kinds)


def _points(section: object, lists: str) -> int:
    """Return how many combinations lists of a section have [count]."""
    return prod(len(getattr(section, name)) for name in lists.split())
