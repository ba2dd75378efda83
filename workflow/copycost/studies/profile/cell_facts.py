"""Facts on each profiled cell: throughput, CPU use, and what each side did with it."""

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from copycost.analysis.json_values import plain
from copycost.analysis.metrics import copied_label
from copycost.config.conditions import Condition
from copycost.config.testbeds import guests_on, transport_of
from copycost.hosts.side import SIDES, SideName, hypervisor_of, is_hypervisor
from copycost.stats.estimates import estimate
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.profile.functions import ELSEWHERE, UNCATEGORISED, Box, DataPath, plain_name
from copycost.studies.profile.grid import CellKey, flame_figure, parties_on, slug_of
from copycost.studies.profile.tables import Lists, Repetition, Samples, samples_of

LEAST_NS_PER_KIB = 5.0
"""Less than this cannot be a copy of every byte: no core copies 200 GB/s. Headers alone, or a stray
sample, take less."""

TAP_COPY = "tap_copy_in"
"""The copy that a host makes of what a guest sends, zero-copy or not."""

# in the order of the way; on the host as between guests
_LANES = ("down", "link", "host_down", "host_up", "up")
_REST = Box(
    ELSEWHERE, dict.fromkeys(("stream", "datagram"), "on no part of the way"), "link", copies=False
)

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


def places_on(testbed: str, data_path: DataPath) -> list[tuple[Box, tuple[str, ...]]]:
    """Return the parts of the way on a testbed, each with the parties that it is looked for in.

    In the order of the way; what is on none of its parts is the last. Where both sides run in one
    guest, no byte passes the host.
    """
    parties = parties_on(testbed)
    inside = tuple(party for party in parties if not is_hypervisor(party))
    around = [box for box in data_path.boxes if box.lane == "host"]
    found: list[tuple[Box, tuple[str, ...]]] = []
    for lane in _LANES:
        side: SideName = "sender" if "down" in lane else "receiver"
        own = hypervisor_of([side])
        taken = [box for box in data_path.boxes if box.lane == lane]
        if not lane.startswith("host"):
            found += [(box, inside) for box in taken]
        elif own in parties:
            # a hypervisor works next to its guest: before the host's kernel, or after
            way = [*around, *taken] if side == "sender" else [*taken, *around]
            found += [(box, (own,)) for box in way]
    placed = {party for _, having in found for party in having}
    shared = tuple(party for party in parties if party not in placed)
    if shared:
        found += [(box, shared) for box in around if not box.copies]
    return [*found, (_REST, parties)]


def way_facts(
    cell: Sequence[Repetition], data_path: DataPath, settings: StatisticsSettings
) -> list[dict[str, Any]]:
    """Return the parts of the way that took CPU time, in its order."""
    counted = [one for one in cell if one.run.received_bytes]
    testbed = cell[0].key.testbed
    found = []
    for number, (box, parties) in enumerate(places_on(testbed, data_path)):
        samples = [
            [its for party in parties for its in samples_of([one], party)] for one in counted
        ]
        costs = [sum(its.boxes[box.name].own * its.ns_per_kib for its in here) for here in samples]
        if not any(costs):
            continue
        # of the parties that have it
        totals = [sum(its.ns_per_kib for its in here if box.name in its.boxes) for here in samples]
        shares = [cost / total if total else 0.0 for cost, total in zip(costs, totals, strict=True)]
        seen: dict[str, float] = defaultdict(float)  # CPUs, by the function that led there
        for its in itertools.chain(*samples):
            for (name, function), share in its.box_functions.items():
                if name == box.name:
                    seen[function] += share.own * its.cpus
        found.append(
            {
                # of the box, and its number on the way
                "name": box.name,
                "title": box.titles[transport_of(testbed)],
                "place": number,
                # the hypervisor that does it; None for the sides and their kernels
                "party": parties[0] if is_hypervisor(parties[0]) else None,
                # whether every byte is copied there, in every repetition
                "copied": box.copies and min(costs) >= LEAST_NS_PER_KIB,
                "function": max(sorted(seen), key=seen.__getitem__, default=""),
                # its own CPU time, all parties together, with its interval
                "ns_per_kib": estimate(costs, settings),
                "share": estimate(shares, settings, is_share=True),
            }
        )
    return found


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
            if samples_of(cell, side)
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
    present = samples_of(cell, side)
    tables = [one.categories for one in present]
    categories = []
    for name, title in lists.categories.titles.items():
        shares = [table[name].own for table in tables]
        if any(shares):
            share = estimate(shares, settings, is_share=True)
            categories.append({"name": name, "title": title, "share": share})
    # the share of the samples that go through any of these functions
    names = lists.chain_names.acknowledging.get(side, frozenset())
    through = [
        sum(
            weight
            for stack, weight in one.stacks.items()
            if any(plain_name(frame) in names for frame in stack)
        )
        / sum(one.stacks.values())
        for one in present
    ]
    return {
        "categories": categories,
        "acknowledging": estimate(through, settings, is_share=True),
        "uncategorised": max(table[UNCATEGORISED].own for table in tables),
    }


def work_facts(cell: Sequence[Repetition]) -> dict[str, Any]:
    """Return what each party of a cell in guests spent on each of `KINDS` [ns per KiB received].

    Medians of the repetitions; None where nothing was received.
    """

    def costs(samples: Samples) -> FloatArray:
        sums = dict.fromkeys(KINDS, 0.0)
        for name, share in samples.categories.items():
            sums[_KIND_OF.get(name, REST)] += share.own
        return np.array([*sums.values()]) * samples.ns_per_kib

    found = {
        party: dict(zip(KINDS, np.median([costs(one) for one in present], axis=0), strict=True))
        for party in parties_on(cell[0].key.testbed)
        if (present := samples_of(cell, party))
    }
    return dict(plain(found))
