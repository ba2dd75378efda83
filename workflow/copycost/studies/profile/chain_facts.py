"""Published call chains and ours, matched by lists of names."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from copycost.config.testbeds import transport_of
from copycost.stats.estimates import estimate
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.cell_facts import accelerator_of, label_of, most_cpus
from copycost.studies.profile.functions import ChainNames, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.tables import Lists, Repetition, samples_of

_PROTOCOLS = {"tcp": "stream", "udp": "datagram"}


def chain_facts(
    cells: Mapping[CellKey, Sequence[Repetition]], lists: Lists, settings: StatisticsSettings
) -> list[dict[str, Any]]:
    """Return one table for each published scenario that some of our cells can be compared with.

    A published scenario is compared with cells of the same protocol with as many streams, of the
    same path where there are such; among datagrams, with those whose size is nearest.
    """
    names = lists.chain_names
    published: dict[tuple[str, str, str, str], list[Mapping[str, str]]] = {}
    for row in lists.published:
        load = row["scenario"], row["protocol"], row["parallel_streams"], row["datagram_bytes"]
        published.setdefault(load, []).append(row)
    tables: list[dict[str, Any]] = []
    for (scenario, protocol, streams, datagram), rows in published.items():
        comparable = names.scenarios.get(scenario)
        if comparable is None:
            continue
        sizes = {int(size) for other, _, _, size in published if other == scenario and size}
        same_path = any(key.testbed in comparable["same_path"] for key in cells)
        places = comparable["same_path" if same_path else "testbeds"]
        by_condition: dict[str, dict[CellKey, Sequence[Repetition]]] = {}
        for key, cell in cells.items():
            if (
                key.testbed in places
                and transport_of(key.testbed) == _PROTOCOLS[protocol]
                and str(key.n_threads) == streams
                and (
                    not datagram
                    or min(sizes, key=lambda one: abs(one - key.msg_bytes)) == int(datagram)
                )
            ):
                by_condition.setdefault(key.condition, {})[key] = cell
        for condition, ours in by_condition.items():
            labels = {key.implementation: label_of(cell) for key, cell in ours.items()}
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
                    "labels": {name: label for name, label in labels.items() if label is not None},
                    "rows": [_row(row, ours, names, settings) for row in rows],
                }
            )
    return tables


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
        present = samples_of(cell, side)
        cpus = seen_as = None
        if any(path in one.chains for one in present):
            values = [one.chains[path].inclusive * one.cpus for one in present]
            cpus = estimate(values, settings, most=most_cpus(side, key.n_threads))
            sums: dict[str, float] = defaultdict(float)
            for one in present:
                for frame, share in one.functions.items():
                    if (name := plain_name(frame)) in wanted:
                        sums[name] += share.inclusive
            seen_as = max(sorted(sums), key=sums.__getitem__)
        # `seen_as`: the name under which the last function of the chain was seen most
        found.append({"cpus": cpus, "seen_as": seen_as})
    return {
        "side": side,
        "call_path": path.split(";"),
        "published_cpus": float(row["cpu_percent"]) / 100.0,
        "ours": found,
    }
