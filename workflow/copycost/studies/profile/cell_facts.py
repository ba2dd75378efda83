"""Facts on each profiled cell: throughput, CPU use, and what each side did with it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from copycost.analysis.json_values import plain
from copycost.analysis.metrics import copied_label
from copycost.config.conditions import Condition
from copycost.config.testbeds import guests_on
from copycost.hosts.side import SIDES
from copycost.stats.estimates import estimate
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.profile.functions import UNCATEGORISED, plain_name
from copycost.studies.profile.grid import CellKey, flame_figure, parties_on, slug_of
from copycost.studies.profile.tables import Lists, Repetition, Share
from copycost.studies.profile.way import TAP_COPY, way_facts

REST = "rest"
KINDS = ("copies", "exits", "events", "emulator", REST)
"""Sums over categories, so that they are the same for every cell."""

_KIND_OF = {
    "user_copy": "copies",
    "copy": "copies",
    "deferred_copy": "copies",
    "hypervisor_copy": "copies",
    "kvm": "exits",
    "events": "events",
    "scheduling": "events",
    "emulator": "emulator",
}


def cell_facts(
    key: CellKey, cell: Sequence[Repetition], lists: Lists, settings: StatisticsSettings
) -> dict[str, Any]:
    """Return what is known of a cell from its measured repetitions (at least one)."""
    way = way_facts(cell, lists.data_path, settings)
    return {
        "slug": slug_of(key),
        **key._asdict(),
        "sender_only": Condition.from_slug(key.condition).sender_only,
        "n": len(cell),
        "copied_share": copied_share(cell),
        "accelerator": accelerator_of(cell),
        "way": way,
        # the copy that the host makes of what is sent; None without one
        "tap_copy": next((one for one in way if one["name"] == TAP_COPY and one["copied"]), None),
        "work": work_facts(cell) if guests_on(key.testbed) else None,
        "sides": {
            side: {**_side(side, cell, lists, settings), "figure": flame_figure(slug_of(key), side)}
            for side in parties_on(key.testbed)
            if any(side in one.shares for one in cell)
        },
    }


def category_shares(side: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the share of each category of functions, by title, from one side of a cell's facts."""
    return {str(row["title"]): row["share"] for row in side["categories"]}


def copied_share(cell: Sequence[Repetition]) -> dict[str, float] | None:
    """Return which share of the zero-copy sends the kernel copied after all, None without any."""
    copied = [one.run.copied_share for one in cell if one.run.copied_share is not None]
    return {"low": min(copied), "high": max(copied)} if copied else None


def accelerator_of(cell: Sequence[Repetition]) -> str | None:
    """Return what ran the guests of a cell (kvm, tcg), None where there were none."""
    return next((one.run.accelerator for one in cell), None)


def label_of(cell: Sequence[Repetition]) -> str | None:
    """Return what a way to send is called whose zero-copy sends were copied after all."""
    share = copied_share(cell)
    return copied_label(share["low"], share["high"]) if share else None


def most_cpus(party: str, n_threads: int) -> float:
    """Return how many CPUs a party can have used: a side's process one for each of its threads."""
    return n_threads if party in SIDES else math.inf


def _side(
    side: str, cell: Sequence[Repetition], lists: Lists, settings: StatisticsSettings
) -> dict[str, Any]:
    """Return what one side spent its CPU time on; categories in the order of the lists."""
    present = [one for one in cell if side in one.shares]
    tables = [one.shares[side].categories for one in present]
    categories = []
    for category in lists.categories.all:
        shares = [table.get(category.name, Share()).own for table in tables]
        if any(shares):
            share = estimate(shares, settings, is_share=True)
            categories.append({"name": category.name, "title": category.title, "share": share})
    # the share of the samples that go through any of these functions
    names = lists.chain_names.acknowledging.get(side, frozenset())
    through = [
        sum(
            weight
            for stack, weight in one.stacks[side].items()
            if any(plain_name(frame) in names for frame in stack)
        )
        / sum(one.stacks[side].values())
        for one in present
    ]
    return {
        "categories": categories,
        "acknowledging": estimate(through, settings, is_share=True),
        "uncategorised": max(table.get(UNCATEGORISED, Share()).own for table in tables),
    }


def work_facts(cell: Sequence[Repetition]) -> dict[str, Any]:
    """Return what each party of a cell in guests spent on each of `KINDS` [ns per KiB received].

    Medians of the repetitions; None where nothing was received.
    """

    def costs(one: Repetition, party: str) -> FloatArray:
        sums = dict.fromkeys(KINDS, 0.0)
        for name, share in one.shares[party].categories.items():
            sums[_KIND_OF.get(name, REST)] += share.own
        return np.array([*sums.values()]) * one.ns_per_kib(party)

    by_party = {
        party: [costs(one, party) for one in cell if party in one.shares]
        for party in parties_on(cell[0].key.testbed)
    }
    found = {
        party: dict(zip(KINDS, np.median(rows, axis=0), strict=True))
        for party, rows in by_party.items()
        if rows
    }
    return dict(plain(found))
