"""How many repetitions a configuration asks for, and how many are too many."""

from itertools import product
from math import prod
from typing import Any

from copycost.config.capabilities import can_exist
from copycost.config.cells import values_of
from copycost.config.conditions import RECV
from copycost.config.config import Config
from copycost.config.placements import APART
from copycost.errors import ConfigError

# Ten hours of measuring in windows of a second. Snakemake takes a minute to only look at so many.
MOST_REPETITIONS = 20_000


def require_measurable(config: Config) -> None:
    """Refuse a grid that no run would ever get through.

    Raises ConfigError naming how many repetitions each study asks for.
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
    return {
        "streams": _n_cells(config.streams) * repetitions,
        "udp": _n_cells(config.udp) * repetitions,
        "round_trips": _n_cells(config.round_trips) * repetitions,
        "placement": config.placement.n_cells_at_most() * repetitions,
        "profile": _n_cells(config.profile) * config.profile.repetitions,
        "cpu_budget": _n_cells(config.cpu_budget) * config.cpu_budget.repetitions,
        "datagrams": _n_cells(config.datagrams) * config.datagrams.repetitions,
        "simulated": len(config.simulated.cells()),
    }


def _n_cells(section: object) -> int:
    """Return how many cells a section asks for, without making them: there may be millions."""
    lists: dict[str, tuple[Any, ...]] = {
        "receiver": (RECV,),
        "placement": (APART,),
        **values_of(section),
    }
    kind = ("implementation", "testbed", "msg_bytes", "receiver", "placement")
    kinds = product(*[lists.pop(name) for name in kind])
    return prod(map(len, lists.values())) * sum(can_exist(*one) for one in kinds)
