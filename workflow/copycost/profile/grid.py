"""The cells of the study `profile`: those of the section's grid that can exist."""

import itertools
from collections.abc import Iterator
from typing import Any

from copycost.capabilities import SENDER_ONLY_TESTBED, can_exist, transport_of
from copycost.conditions import HOT, RECV
from copycost.entry import receiver_of, sender_of
from copycost.grid import Cell
from copycost.profile.section import IPERF3, Profile

STUDY = "profile"

CellKey = tuple[str, str, str, int, int, str, str]
"""Condition, testbed, implementation, msg_bytes, n_threads, working set, receiver of a cell."""


def profile_cells(profile: Profile) -> tuple[Cell, ...]:
    """Return all repetitions that the section asks for, sorted by key.

    Whether it is enabled decides only what a run without a target does.
    """
    return tuple(sorted(_cells(profile)))


def cell_keys(profile: Profile) -> list[CellKey]:
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
            for cell in profile_cells(profile)
        )
    )


def sender_of_profile(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that sends in a cell; iperf3 is one of the host's."""
    return [] if wildcards.implementation in IPERF3 else sender_of(wildcards)


def receiver_of_profile(wildcards: Any) -> str | list[str]:  # noqa: ANN401 - Snakemake's
    """Return the program that receives in a cell, none where iperf3 does, or nobody."""
    return [] if wildcards.implementation in IPERF3 else receiver_of(wildcards)


def _cells(profile: Profile) -> Iterator[Cell]:
    for implementation, testbed, msg_bytes, receiver, working_set in itertools.product(
        profile.implementations,
        profile.testbeds,
        profile.msg_bytes,
        profile.receivers,
        profile.working_sets,
    ):
        if implementation in IPERF3:
            # iperf3 sends one buffer again and again, and receives in its own way
            exists = (
                IPERF3[implementation] == transport_of(testbed)
                and testbed != SENDER_ONLY_TESTBED
                and (working_set, receiver) == (HOT, RECV)
            )
        else:
            exists = can_exist(implementation, testbed, msg_bytes, receiver)
        if not exists:
            continue
        for n_threads, rep in itertools.product(
            profile.n_threads, range(1, profile.repetitions + 1)
        ):
            yield Cell(
                STUDY, testbed, implementation, msg_bytes, n_threads, working_set, receiver, rep
            )
