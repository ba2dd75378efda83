"""Published call chains and ours, matched by lists of names."""

import csv
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.config.testbeds import transport_of
from copycost.stats.estimates import estimate
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.cell_facts import accelerator_of, label_of, most_cpus
from copycost.studies.profile.functions import plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.paths import Chain, ChainNames
from copycost.studies.profile.tables import Repetition, Share

_PROTOCOLS = {"tcp": "stream", "udp": "datagram"}


def read_published(path: Path) -> list[dict[str, str]]:
    """Return the rows of data/published/function-shares.csv."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published_chains(rows: Sequence[Mapping[str, str]], names: ChainNames) -> tuple[Chain, ...]:
    """Return every call chain that is published, once."""
    paths = dict.fromkeys(row["call_path"] for row in rows)
    return tuple(names.chain(path) for path in paths)


def chain_facts(
    cells: Mapping[CellKey, Sequence[Repetition]],
    published: Sequence[Mapping[str, str]],
    names: ChainNames,
    settings: StatisticsSettings,
) -> list[dict[str, Any]]:
    """Return one table for each published scenario that some of our cells can be compared with.

    A published scenario is compared with cells of the same protocol with as many streams, of the
    same path where there are such; among datagrams, with those whose size is nearest.
    """

    def nearest(sizes: Collection[int], wanted: int) -> int:
        return min(sizes, key=lambda size: abs(size - wanted))

    tables: list[dict[str, Any]] = []
    for scenario, protocol, streams, datagram in dict.fromkeys(map(_scenario, published)):
        comparable = names.scenarios.get(scenario)
        if comparable is None:
            continue
        rows = [
            row for row in published if _scenario(row) == (scenario, protocol, streams, datagram)
        ]
        sizes = {
            int(row["datagram_bytes"])
            for row in published
            if row["scenario"] == scenario and row["datagram_bytes"]
        }
        same_path = any(key.testbed in comparable["same_path"] for key in cells)
        places = comparable["same_path" if same_path else "testbeds"]
        for condition in dict.fromkeys(key.condition for key in cells):
            ours = {
                key: cell
                for key, cell in cells.items()
                if key.condition == condition
                and key.testbed in places
                and transport_of(key.testbed) == _PROTOCOLS[protocol]
                and str(key.n_threads) == streams
                and (not datagram or nearest(sizes, key.msg_bytes) == int(datagram))
            }
            if ours:
                tables.append(
                    {
                        "scenario": scenario,
                        "protocol": protocol,
                        "n_threads": int(streams),
                        "msg_bytes": int(datagram) if datagram else None,
                        "condition": condition,
                        "accelerator": accelerator_of(next(iter(ours.values()))),
                        "same_path": same_path,
                        "cells": [
                            {"implementation": key.implementation, "msg_bytes": key.msg_bytes}
                            for key in ours
                        ],
                        "labels": {
                            key.implementation: label
                            for key, cell in ours.items()
                            if (label := label_of(cell)) is not None
                        },
                        "rows": [_row(row, ours, names, settings) for row in rows],
                    }
                )
    return tables


def _scenario(row: Mapping[str, str]) -> tuple[str, str, str, str]:
    return row["scenario"], row["protocol"], row["parallel_streams"], row["datagram_bytes"]


def _row(
    row: Mapping[str, str],
    ours: Mapping[CellKey, Sequence[Repetition]],
    names: ChainNames,
    settings: StatisticsSettings,
) -> dict[str, Any]:
    """Return one chain: the published CPU use and ours, None where it was in no stack."""
    path, side = row["call_path"], names.parties.get(row["side"], row["side"])
    found = []
    wanted = names.names[path.split(";")[-1]]
    for key, cell in ours.items():
        present = [one for one in cell if side in one.shares]
        shares = [one.shares[side].chains.get(path, Share()).inclusive for one in present]
        cpus = seen_as = None
        if any(share > 0 for share in shares):
            values = [s * one.cpus(side) for s, one in zip(shares, present, strict=True)]
            cpus = estimate(values, settings, most=most_cpus(side, key.n_threads))
            sums: dict[str, float] = {}
            for one in present:
                for frame, share in one.shares[side].functions.items():
                    if (name := plain_name(frame)) in wanted:
                        sums[name] = sums.get(name, 0.0) + share.inclusive
            seen_as = min(sums, key=lambda name: (-sums[name], name))
        # `seen_as`: the name under which the last function of the chain was seen most
        found.append({"cpus": cpus, "seen_as": seen_as})
    return {
        "side": side,
        "call_path": path.split(";"),
        "published_cpus": float(row["cpu_percent"]) / 100.0,
        "ours": found,
    }
