"""What guests and their hypervisors spend CPU time on: copies, exits, wake-ups, emulation, rest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from copycost.analysis.json_values import plain
from copycost.hosts.parties import is_hypervisor
from copycost.studies.profile.names import parties_on
from copycost.studies.profile.tables import Repetition

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


def work_facts(cell: Sequence[Repetition]) -> dict[str, Any]:
    """Return what the CPU time of a cell in guests went to, medians of its repetitions."""
    seen = [party for party in parties_on(cell[0].key.testbed) if _has(cell, party)]
    costs = {party: [_costs(one, party) for one in cell if party in one.shares] for party in seen}
    outside = [
        sum(_costs(one, party) for party in seen if is_hypervisor(party) and party in one.shares)
        for one in cell
    ]
    shares = [costs_of / np.sum(costs_of) for costs_of in outside if np.sum(costs_of) > 0.0]
    found = {
        # by party, in the order of `parties_on`: CPU time [ns per KiB received] by `KINDS`; None
        # where nothing was received
        "parties": {party: _by_kind(np.median(rows, axis=0)) for party, rows in costs.items()},
        # shares of the CPU time of all hypervisors together (0 to 1) by `KINDS`; None likewise
        "outside": _by_kind(np.median(shares, axis=0)) if shares else None,
    }
    return dict(plain(found))


def _has(cell: Sequence[Repetition], party: str) -> bool:
    return any(party in one.shares for one in cell)


def _costs(one: Repetition, party: str) -> Any:  # noqa: ANN401 - an array of shape (n_kinds,)
    """Return what a party spent on each of `KINDS` [ns per KiB]."""
    sums = dict.fromkeys(KINDS, 0.0)
    for name, share in one.shares[party].categories.items():
        sums[_KIND_OF.get(name, REST)] += share.own
    return np.array([*sums.values()]) * one.ns_per_kib(party)


def _by_kind(values: Iterable[float]) -> dict[str, float]:
    return dict(zip(KINDS, values, strict=True))


def work_outside(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return from where to where the shares of hypervisors' work go, by condition."""
    known = [cell for cell in cells if cell["work"] and cell["work"]["outside"]]
    found = []
    for condition in dict.fromkeys(cell["condition"] for cell in known):
        here = [cell for cell in known if cell["condition"] == condition]
        shares = {kind: [cell["work"]["outside"][kind] for cell in here] for kind in KINDS}
        found.append(
            {
                # where, and what ran the guests
                "condition": condition,
                "accelerator": here[0]["accelerator"],
                "n": len(here),  # cells that are known
                # by `KINDS`: low and high, over the cells
                "shares": {kind: {"low": min(of), "high": max(of)} for kind, of in shares.items()},
            }
        )
    return found
