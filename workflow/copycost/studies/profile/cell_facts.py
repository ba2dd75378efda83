"""Facts on each profiled cell: throughput, CPU use, and what each side did with it."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from copycost.analysis.metrics import copied_label
from copycost.config.conditions import Condition
from copycost.config.testbeds import guests_on
from copycost.hosts.side import SIDES
from copycost.stats.estimates import estimate
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.functions import UNCATEGORISED, Stack, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.hypervisor_breakdown import work_facts
from copycost.studies.profile.names import flame_figure, parties_on, slug_of
from copycost.studies.profile.shares import Lists, Share
from copycost.studies.profile.tables import Repetition
from copycost.studies.profile.way import tap_copy, way_facts


def cell_facts(
    key: CellKey, cell: Sequence[Repetition], lists: Lists, settings: StatisticsSettings
) -> dict[str, Any]:
    """Return what is known of a cell from its measured repetitions (at least one)."""
    runs = [one.record["sampled"] for one in cell]
    rates = [run["received_bytes"] * 8 / run["window_s"] for run in runs if run]
    found = {
        side: {
            **_side(side, cell, lists, settings),
            "figure": flame_figure(slug_of(key), side),
        }
        for side in parties_on(key.testbed)
        if any(side in one.shares for one in cell)
    }
    in_guests = guests_on(key.testbed) > 0
    way = way_facts(cell, lists.data_path, settings)
    return {
        "slug": slug_of(key),
        **key._asdict(),
        "sender_only": Condition.from_slug(key.condition).sender_only,
        "n": len(cell),
        "throughput_bits_per_s": estimate(rates, settings),
        "copied_share": copied_share(cell),
        "accelerator": accelerator_of(cell),
        "way": way,
        "tap_copy": tap_copy(way),
        "work": work_facts(cell) if in_guests else None,
        "sides": found,
    }


def category_shares(side: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the share of each category of functions, by title, from one side of a cell's facts."""
    return {str(row["title"]): row["own"]["share"] for row in side["categories"]}


def copied_share(cell: Sequence[Repetition]) -> dict[str, float] | None:
    """Return which share of the zero-copy sends the kernel copied after all, None without any."""
    runs = [one.record["sampled"] for one in cell]
    copied = [run["copied_share"] for run in runs if run and run["copied_share"] is not None]
    return {"low": min(copied), "high": max(copied)} if copied else None


def accelerator_of(cell: Sequence[Repetition]) -> str | None:
    """Return what ran the guests of a cell (kvm, tcg), None where there were none."""
    runs = [one.record["sampled"] for one in cell]
    return next((run["accelerator"] for run in runs if run), None)


def labels_of(cells: Mapping[str, Sequence[Repetition]]) -> dict[str, str]:
    """Return what implementations are called whose zero-copy sends were copied after all."""
    found = {}
    for implementation, cell in cells.items():
        share = copied_share(cell)
        label = copied_label(share["low"], share["high"]) if share else None
        if label is not None:
            found[implementation] = label
    return found


def most_cpus(party: str, n_threads: int) -> float:
    """Return how many CPUs a party can have used: a side's process one for each of its threads."""
    return n_threads if party in SIDES else math.inf


def _side(
    side: str, cell: Sequence[Repetition], lists: Lists, settings: StatisticsSettings
) -> dict[str, Any]:
    """Return what one side used, and for what; categories in the order of the lists."""
    present = [one for one in cell if side in one.shares]
    tables = [one.shares[side].categories for one in present]
    cpus = [one.cpus(side) for one in present]
    most = most_cpus(side, cell[0].key[4])
    categories = []
    for category in lists.categories.all:
        shares = [table.get(category.name, Share()).own for table in tables]
        if any(shares):
            scaled = [a * b for a, b in zip(shares, cpus, strict=True)]
            own = {
                "share": estimate(shares, settings, is_share=True),
                "cpus": estimate(scaled, settings, most=most),
            }
            categories.append({"name": category.name, "title": category.title, "own": own})
    return {
        "n": len(present),
        "cpus": estimate(cpus, settings, most=most),
        "categories": categories,
        "acknowledging": estimate(
            [
                _share_through(one.stacks[side], lists.acknowledging.get(side, frozenset()))
                for one in present
            ],
            settings,
            is_share=True,
        ),
        "uncategorised": max(table.get(UNCATEGORISED, Share()).own for table in tables),
    }


def _share_through(stacks: Mapping[Stack, int], names: Collection[str]) -> float:
    """Return the share of the samples that go through any of some functions."""
    through = sum(
        weight
        for stack, weight in stacks.items()
        if any(plain_name(frame) in names for frame in stack)
    )
    return through / sum(stacks.values())
