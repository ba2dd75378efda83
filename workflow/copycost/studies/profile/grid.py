"""The cells of the study `profile`: those of its grid, and those that explain other studies."""

import itertools
from collections.abc import Collection, Iterator

from copycost.config.config import Config
from copycost.config.cpu_budget import CpuBudget
from copycost.config.datagrams import Datagrams
from copycost.config.profile import Profile
from copycost.grid.capabilities import IPERF3, can_exist
from copycost.grid.cells import Cell
from copycost.grid.conditions import HOT, RECV

STUDY = "profile"

CellKey = tuple[str, str, str, int, int, str, str]
"""Condition, testbed, implementation, msg_bytes, n_threads, working set, receiver of a cell."""


def profile_cells(config: Config, explained: Collection[str] = ()) -> tuple[Cell, ...]:
    """Return all repetitions that are profiled, sorted by key.

    Whether the section is enabled decides only what a run without a target does.

    Parameters
    ----------
    config : Config
        The configuration.
    explained : collection of str
        Which of `cpu_budget` and `datagrams` are part of the run. What drives them is profiled as
        they drive it: with all their streams, and with the smallest and the largest datagram.
    """
    profile = config.profile
    places = set(_grid(profile))
    if "cpu_budget" in explained:
        places.update(_of_budgets(config.cpu_budget))
    if "datagrams" in explained:
        places.update(_of_datagrams(config.datagrams))
    return tuple(
        sorted(
            Cell(STUDY, *place, rep)
            for place in places
            for rep in range(1, profile.repetitions + 1)
        )
    )


def cell_keys(config: Config, explained: Collection[str] = ()) -> list[CellKey]:
    """Return the cells without their repetitions, as the tables name them."""
    return list(
        dict.fromkeys(
            (
                cell.condition,
                cell.testbed,
                cell.implementation,
                cell.msg_bytes,
                cell.n_threads,
                cell.working_set,
                cell.receiver,
            )
            for cell in profile_cells(config, explained)
        )
    )


# testbed, implementation, msg_bytes, n_threads, working set, receiver: a cell without repetition
_Place = tuple[str, str, int, int, str, str]


def _grid(profile: Profile) -> Iterator[_Place]:
    """Yield every combination of the section's lists that can exist."""
    for testbed, implementation, msg_bytes, n_threads, working_set, receiver in itertools.product(
        profile.testbeds,
        profile.implementations,
        profile.msg_bytes,
        profile.n_threads,
        profile.working_sets,
        profile.receivers,
    ):
        if implementation == IPERF3 and working_set != HOT:
            continue  # it sends one buffer again and again
        if can_exist(implementation, testbed, msg_bytes, receiver):
            yield testbed, implementation, msg_bytes, n_threads, working_set, receiver


def _of_budgets(budget: CpuBudget) -> Iterator[_Place]:
    for testbed, implementation, n_threads in itertools.product(
        budget.testbeds, budget.implementations, budget.n_threads
    ):
        yield testbed, implementation, budget.msg_bytes, n_threads, HOT, RECV


def _of_datagrams(datagrams: Datagrams) -> Iterator[_Place]:
    extremes = {min(datagrams.msg_bytes), max(datagrams.msg_bytes)}
    for testbed, implementation, size, n_threads in itertools.product(
        datagrams.testbeds, datagrams.implementations, extremes, datagrams.n_threads
    ):
        if can_exist(implementation, testbed, size, RECV):
            yield testbed, implementation, size, n_threads, HOT, RECV
