"""Facts on profiled cells: what each side spent its CPU time on, and where on a message's way.

Published call chains stand beside ours, matched by lists of names.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import copied_label
from copycost.analysis.stats.estimates import estimate
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.config.testbeds import transport_of
from copycost.hosts.side import SIDES, is_hypervisor
from copycost.studies.profile.functions import (
    ELSEWHERE,
    UNCATEGORISED,
    Box,
    Lists,
    PublishedChains,
    Stack,
    plain_name,
)
from copycost.studies.profile.grid import CellKey, flame_figure, parties_on, slug_of
from copycost.studies.profile.tables import Repetition, Samples, samples_of

LEAST_NS_PER_KIB = 5.0
"""Less than this cannot be a copy of every byte: no core copies 200 GB/s. Headers alone, or a stray
sample, take less."""

# the copy that a host makes of what a guest sends, zero-copy or not
_TAP_COPY = "tap_copy_in"
_ON_NO_PART = Box(ELSEWHERE, "on no part of the way", "link", copies=False)

# sums over categories, so that they are the same for every cell
_KINDS = ["copies", "exits", "events", "emulator", "rest"]
_KIND_OF = {
    **dict.fromkeys(("user_copy", "copy", "deferred_copy", "hypervisor_copy"), "copies"),
    "kvm": "exits",
    **dict.fromkeys(("events", "scheduling"), "events"),
    "emulator": "emulator",
}

_PROTOCOLS = {"tcp": "stream", "udp": "datagram"}

Cell = Sequence[Repetition]
"""The measured repetitions of a cell, at least one."""


def cell_facts(key: CellKey, cell: Cell, lists: Lists, settings: StatisticsSettings) -> Facts:
    """Return what is known of a cell."""
    way = _way(key.testbed, cell, lists, settings)
    return {
        "slug": slug_of(key),
        **key._asdict(),
        "n": len(cell),
        "copied_share": _copied_share(cell),
        "accelerator": cell[0].run.accelerator,
        "way": way,
        # the copy that the host makes of what is sent; None without one
        "tap_copy": next((one for one in way if one["name"] == _TAP_COPY and one["copied"]), None),
        "sides": {
            side: {**_side(present, side, lists, settings), "figure": flame_figure(key, side)}
            for side in parties_on(key.testbed)
            if (present := samples_of(cell, side))
        },
    }


def _copied_share(cell: Cell) -> dict[str, float] | None:
    """Return which share of the zero-copy sends the kernel copied after all, None without any."""
    copied = [one.run.copied_share for one in cell if one.run.copied_share is not None]
    return {"low": min(copied), "high": max(copied)} if copied else None


def label_of(cell: Cell) -> str | None:
    """Return what a way to send is called whose zero-copy sends were copied after all."""
    share = _copied_share(cell)
    return copied_label(share["low"], share["high"]) if share else None


def _way(testbed: str, cell: Cell, lists: Lists, settings: StatisticsSettings) -> list[Facts]:
    """Return the parts of the way that took CPU time, in its order."""
    counted, transport = [one for one in cell if one.run.received_bytes], transport_of(testbed)
    # own CPU time [ns per KiB], its part of the party's, and CPUs, by where it was spent
    own = pd.DataFrame(
        [
            (number, party, *place, share * its.ns_per_kib, its.ns_per_kib, share * its.cpus)
            for number, one in enumerate(counted)
            for party, its in one.samples.items()
            for place, share in its.own(partial(lists.data_path.of_stack, party)).items()
        ],
        columns=["repetition", "party", "box", "function", "cost", "of_party", "cpus"],
    )
    found = []
    for number, (box, parties) in enumerate(_places_on(testbed, lists)):
        here = own[(own["box"] == box.name) & own["party"].isin(parties)]
        costs = here.groupby("repetition")["cost"].sum().reindex(range(len(counted)), fill_value=0)
        if not costs.any():
            continue
        # of the parties that have it
        every = here.drop_duplicates(["repetition", "party"]).groupby("repetition")["of_party"]
        found.append(
            {
                "name": box.name,
                "title": box.title if isinstance(box.title, str) else box.title[transport],
                "place": number,
                # the hypervisor that does it; None for the sides and their kernels
                "party": parties[0] if is_hypervisor(parties[0]) else None,
                # whether every byte is copied there, in every repetition
                "copied": box.copies and bool(costs.min() >= LEAST_NS_PER_KIB),
                "function": here.groupby("function")["cpus"].sum().idxmax(),
                "ns_per_kib": estimate(costs, settings),
                "share": estimate((costs / every.sum()).fillna(0.0), settings, is_share=True),
            }
        )
    return found


def _places_on(testbed: str, lists: Lists) -> list[tuple[Box, Sequence[str]]]:
    """Return the parts of the way on a testbed, each with the parties that it is looked for in.

    In the order of the way; what is on none of its parts is the last. Where both sides run in one
    guest, no byte passes the host.
    """

    def on(*lanes: str) -> list[Box]:
        return [box for lane in lanes for box in lists.data_path.boxes if box.lane == lane]

    parties = parties_on(testbed)
    inside = [party for party in parties if not is_hypervisor(party)]
    way: list[tuple[list[Box], Sequence[str]]] = [
        (on("down", "link"), inside),
        # a hypervisor works next to its guest: before the host's kernel, or after
        (on("host", "host_down"), ["sender_qemu"]),
        (on("host_up", "host"), ["receiver_qemu"]),
        (on("up"), inside),
        ([box for box in on("host") if not box.copies], ["qemu"]),
        ([_ON_NO_PART], parties),
    ]
    return [(box, its) for boxes, its in way if its[0] in parties for box in boxes]


def _side(
    present: Sequence[Samples], side: str, lists: Lists, settings: StatisticsSettings
) -> Facts:
    """Return what one side spent its CPU time on; categories in the order of the lists."""
    names = lists.published.acknowledging.get(side, ())

    def acknowledges(stack: Stack) -> bool:
        return any(plain_name(frame) in names for frame in stack)

    shares = pd.DataFrame([one.own(lists.categories.of_stack) for one in present]).fillna(0.0)
    kinds = shares.T.groupby(lambda name: _KIND_OF.get(name, "rest")).sum().reindex(_KINDS)
    costs = kinds.fillna(0.0).mul([one.ns_per_kib for one in present])
    share = partial(estimate, settings=settings, is_share=True)
    return {
        "categories": [
            {"name": name, "title": title, "share": share(shares[name])}
            for name, title in lists.categories.titles.items()
            if name in shares
        ],
        # the share of the samples that go through work on acknowledgements
        "acknowledging": share([one.own(acknowledges)[True] for one in present]),
        "uncategorised": float(max(shares.get(UNCATEGORISED, [0.0]))),
        # by kind [ns per KiB received]; None where nothing was received
        "work": plain(costs.median(axis=1, skipna=False).to_dict()),
    }


def chain_facts(
    cells: Mapping[CellKey, Cell], lists: Lists, settings: StatisticsSettings
) -> list[Facts]:
    """Return one table for each published scenario that some of our cells can be compared with.

    A published scenario is compared with cells of the same path and protocol with as many streams;
    among datagrams, with those whose size is nearest.
    """
    published: dict[tuple[str, str, str, str], list[Mapping[str, str]]] = defaultdict(list)
    for row in lists.published.rows:
        load = row["scenario"], row["protocol"], row["parallel_streams"], row["datagram_bytes"]
        published[load].append(row)
    tables = []
    for (scenario, protocol, streams, datagram), rows in published.items():
        sizes = {int(size) for other, _, _, size in published if other == scenario and size}
        alike: dict[str, dict[CellKey, Cell]] = {}
        for key, cell in cells.items():
            nearest = min(sizes, key=lambda size: abs(size - key.msg_bytes), default=None)
            if (
                key.testbed in lists.published.scenarios.get(scenario, ())
                and transport_of(key.testbed) == _PROTOCOLS[protocol]
                and str(key.n_threads) == streams
                and datagram in ("", str(nearest))
            ):
                alike.setdefault(key.condition, {})[key] = cell
        for condition, ours in alike.items():
            tables.append(
                {
                    "scenario": scenario,
                    "protocol": protocol,
                    "n_threads": int(streams),
                    "msg_bytes": int(datagram) if datagram else None,
                    "condition": condition,
                    "accelerator": next(iter(ours.values()))[0].run.accelerator,
                    "cells": [
                        {**key._asdict(), "label": label_of(cell)} for key, cell in ours.items()
                    ],
                    "rows": [_chain(row, ours, lists.published, settings) for row in rows],
                }
            )
    return tables


def _chain(
    row: Mapping[str, str],
    ours: Mapping[CellKey, Cell],
    published: PublishedChains,
    settings: StatisticsSettings,
) -> Facts:
    """Return one chain: the published CPU use and ours, None where it was in no stack."""
    path, side = row["call_path"], published.parties.get(row["side"], row["side"])
    functions = path.split(";")

    def last_function(stack: Stack) -> frozenset[str]:
        return published.names[functions[-1]].intersection(map(plain_name, stack))

    found: list[Facts] = []
    for key, cell in ours.items():
        present = samples_of(cell, side)
        cpus = [one.own(partial(published.is_in, path))[True] * one.cpus for one in present]
        if not any(cpus):
            found.append({"cpus": None, "seen_as": None})
            continue
        # a side's process has one CPU at most for each of its threads
        most = key.n_threads if side in SIDES else math.inf
        # the name under which the last function of the chain was seen most
        names = pd.DataFrame([one.inclusive(last_function) for one in present]).sum().sort_index()
        found.append({"cpus": estimate(cpus, settings, most=most), "seen_as": names.idxmax()})
    return {
        "side": side,
        "call_path": functions,
        "published_cpus": float(row["cpu_percent"]) / 100.0,
        "ours": found,
    }
