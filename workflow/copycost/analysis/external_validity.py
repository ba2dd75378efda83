"""How far decisions bear: what holds on a real network card, how undisturbed the run was."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.analysis.ratio_facts import ratio_facts


def network_card_facts(
    views: Mapping[str, View], real: Mapping[str, Any], wire: Mapping[str, Any] | None = None
) -> Facts:
    """Return what this run says of a real network card.

    On a card zero-copy is real and somebody receives. Within one machine either one or the other
    can be had, so that a card lies between the two, if anywhere. Guests do not count: what their
    kernels need not copy, the host does. Nor does a wire whose sender's device is virtual. A wire
    whose sender has a card says more than what runs within one machine, even where nobody receives
    or where the kernel copies.

    Parameters
    ----------
    views
        The conditions by their slugs.
    real
        Where the kernel really did not copy: `copycost.analysis.real_zero_copy`.
    wire
        What was measured over the network to another machine: `copycost.analysis.wire`.

    Keys
    ----
    measured
        Slugs of the conditions where zero-copy is real and somebody receives.
    wires
        Those of them that are over the network to another machine.
    copied
        Where there is none, slugs over the network, from a card, where the kernel copies for it.
    virtual
        Slugs over the network from a virtual device.
    sent
        Where nothing is measured, the bound of a card whose sender alone was measured: over the
        network, where zero-copy is real and nobody receives. The keys of one of ``bounds``; or
        None.
    bounds
        Where there is neither, the CPU time of zero-copy per byte as a ratio to the baseline's:
        where it is real and nobody receives (first, if there is any), and where the kernel copies
        for a receiver.
        Each has slug, implementation, baseline, msg_bytes, n_threads, sender_only, and the keys of
        `ratio_facts`.
    """
    over = {one["slug"]: one for one in wire["conditions"]} if wire else {}
    pairs, kept = (
        [pair for pair in real[key] if not views[pair["slug"]].studied.guests]
        for key in ("pairs", "copied")
    )
    virtual = [slug for slug, one in over.items() if one["virtual"]]
    pairs, kept = (
        [pair for pair in found if pair["slug"] not in virtual] for found in (pairs, kept)
    )
    measured = list(dict.fromkeys(pair["slug"] for pair in pairs if not pair["sender_only"]))
    copied = list(dict.fromkeys(pair["slug"] for pair in kept if pair["slug"] in over))
    found: Facts = {
        "measured": measured,
        "wires": [slug for slug in measured if slug in over],
        "copied": [] if measured else copied,
        "virtual": virtual,
        "sent": None,
        "bounds": [],
    }
    if measured:
        return found
    alone = [_case(pair, views) for pair in pairs]
    sent = (one for one in alone if one[1].name in over)
    bound = next((bound for one in sent for bound in _bounds([one], [])), None)
    if bound is not None:
        return found | {"sent": bound}
    received = [_case(pair, views) for pair in kept if not views[pair["slug"]].sender_only]
    return found | {"bounds": list(_bounds(alone, received))}


_Case = tuple[str, View]
"""A way that asks for no copy, and where it was measured."""


def _case(pair: Mapping[str, Any], views: Mapping[str, View]) -> _Case:
    return str(pair["implementation"]), views[pair["slug"]]


def _bounds(alone: list[_Case], copied: list[_Case]) -> Iterator[Facts]:
    """Yield both bounds of the first way that has both, of the same working set if there is one."""
    both = [(one, other) for one in alone for other in copied if one[0] == other[0]]
    alike = [
        (one, other)
        for one, other in both
        if one[1].studied.condition.working_set == other[1].studied.condition.working_set
    ]
    pairs: Iterable[tuple[_Case, ...]] = alike or both or [(one,) for one in (*alone, *copied)]
    cases = next(iter(pairs), ())
    largest = min((view.msg_bytes[-1] for _, view in cases), default=0)
    for name, view in cases:
        yield from _bound(name, view, largest)


def _bound(name: str, view: View, largest: int) -> Iterator[Facts]:
    """Yield the ratio of a way's CPU time at the size nearest to `largest`, with fewest threads."""
    baseline = next((one for one in (BASELINE, *view.implementations) if view.has(one)), name)
    size = min(view.msg_bytes, key=lambda size: abs(math.log(size / largest)))
    cell = size, view.n_threads[0]
    logs = view.logs(view.per_byte("cpu_ns"), name, baseline)
    if name == baseline or cell not in logs.index:
        return
    found = view.pooled(logs.loc[[cell]])
    yield {
        "slug": view.name,
        "implementation": name,
        "baseline": baseline,
        "msg_bytes": size,
        "n_threads": view.n_threads[0],
        "sender_only": view.sender_only,
    } | ratio_facts(found)


def undisturbed_facts(
    conditions: Iterable[Mapping[str, Any]], round_trips: Mapping[str, Any] | None
) -> Facts:
    """Return how many repetitions the machine left undisturbed, and how many cells are clean.

    Parameters
    ----------
    conditions
        The facts of the conditions of streams; those that were measured count.
    round_trips
        The facts of the round trips; None where there are none.

    Keys
    ----
    n_measured, n_disturbed, warnings
        Repetitions, those that were disturbed, and the same per disturbance.
    n_cells, n_clean
        Cells of streams, and those that passed every check of the quality table.
    """
    qualities = [one["quality"] for one in conditions if one["n_measured"]]
    trips = round_trips["conditions"] if round_trips else []
    counted = [*qualities, *trips]
    warnings: dict[str, int] = {}
    for one in counted:
        for code, n in one["warnings"].items():
            warnings[code] = warnings.get(code, 0) + n
    return {
        "n_measured": sum(one["n_measured"] for one in counted),
        "n_disturbed": sum(one["n_warned"] for one in counted),
        "warnings": dict(sorted(warnings.items())),
        "n_cells": sum(one["n_cells"] for one in qualities),
        "n_clean": sum(one["n_clean"] for one in qualities),
    }
