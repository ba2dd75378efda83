"""The cells of the study `profile`: those of its grid, and those that explain other studies."""

import itertools
from collections.abc import Collection, Iterator
from typing import Any

from copycost.build.programs import receiver_of, sender_of
from copycost.config.config import Config
from copycost.config.cpu_budget import CpuBudget
from copycost.config.datagrams import Datagrams
from copycost.config.profile import IPERF3, Profile, over_udp
from copycost.grid.capabilities import (
    MAX_DATAGRAM_BYTES,
    SENDER_ONLY_TESTBED,
    can_exist,
    transport_of,
)
from copycost.grid.cells import Cell
from copycost.grid.conditions import HOT, RECV

STUDY = "profile"

CellKey = tuple[str, str, str, int, int, str, str]
"""Condition, testbed, implementation, msg_bytes, n_threads, working set, receiver of a cell."""

# iperf3 refuses larger writes (MAX_BLOCKSIZE in its iperf.h)
_MOST_WRITTEN_BYTES = 1 << 20


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


def sender_of_profile(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that sends in a cell; iperf3 is one of the host's."""
    return [] if wildcards.implementation in IPERF3 else sender_of(wildcards)


def receiver_of_profile(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that receives in a cell, none where iperf3 does, or nobody."""
    return [] if wildcards.implementation in IPERF3 else receiver_of(wildcards)


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
        if implementation in IPERF3:
            # it sends one buffer again and again, and receives in its own way
            exists = (working_set, receiver) == (HOT, RECV) and _iperf3_can(
                implementation, testbed, msg_bytes
            )
        else:
            exists = can_exist(implementation, testbed, msg_bytes, receiver)
        if exists:
            yield testbed, implementation, msg_bytes, n_threads, working_set, receiver


def _iperf3_can(implementation: str, testbed: str, msg_bytes: int) -> bool:
    transport = IPERF3[implementation]
    most_bytes = _MOST_WRITTEN_BYTES if transport == "stream" else MAX_DATAGRAM_BYTES
    return (
        transport == transport_of(testbed)
        and testbed != SENDER_ONLY_TESTBED
        and msg_bytes <= most_bytes
    )


def _of_budgets(budget: CpuBudget) -> Iterator[_Place]:
    for testbed, driver, n_streams in itertools.product(
        budget.testbeds, budget.drivers, budget.n_streams
    ):
        yield testbed, driver, budget.message_bytes, n_streams, HOT, RECV


def _of_datagrams(datagrams: Datagrams) -> Iterator[_Place]:
    extremes = {min(datagrams.datagram_bytes), max(datagrams.datagram_bytes)}
    for testbed, driver, size, n_streams in itertools.product(
        datagrams.testbeds, datagrams.drivers, extremes, datagrams.n_streams
    ):
        if transport_of(testbed) == "datagram":  # a profile over loopback is one of TCP
            yield testbed, over_udp(driver), size, n_streams, HOT, RECV
