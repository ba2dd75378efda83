"""How far decisions bear: where the kernel did not copy, what holds on a real network card."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import crossover_of
from copycost.analysis.evidence import NOT_COPIED_SHARE, copied_share, really_not_copied
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.analysis.quality_table import disturbances, disturbed
from copycost.analysis.ratio_facts import ratio_facts
from copycost.config.capabilities import capability_of, split_implementation
from copycost.stats.crossover import CrossoverRatio, Outcome, crossover_ratio
from copycost.stats.ratios import Direction, simultaneous_ratio
from copycost.stats.settings import FloatArray


def copied_shares(view: View) -> dict[str, float | None]:
    """Return how much of what each was to send without a copy was copied; None if not told.

    Of the measured implementations that ask the kernel not to copy.
    """
    return {
        name: copied_share(view.of(name))
        for name in view.implementations
        if capability_of(split_implementation(name)[0]).zero_copy and view.has(name)
    }


_Case = tuple[str, View]
"""An implementation that asks for no copy, and where it was measured."""


def _real_and_copied(views: Mapping[str, View]) -> tuple[list[_Case], list[_Case]]:
    """Return where the kernel did not copy for it, and where it did, as far as it said."""
    real: list[_Case] = []
    copied: list[_Case] = []
    for view in views.values():
        for name, share in copied_shares(view).items():
            if share is not None:
                (real if share <= NOT_COPIED_SHARE else copied).append((name, view))
    return real, copied


def cold_beside_hot(view: View) -> Iterator[Facts]:
    """Yield, where zero-copy beats two_copy, how that size depends on where the bytes lie.

    Keys
    ----
    slug, hot, implementation, n_threads: What is compared: the condition, and the one that is hot.
    verdict: ``smaller``, ``larger``, ``no_difference`` (of the crossover under `slug` against the
        hot one; by their brackets, which overlap where no difference is told), ``same`` (neither
        has one inside the grid, for the same reason), ``untested``.
    ratio_low, ratio_high: What the first of the two sizes over the second lies between; None unless
        both are found.
    """
    if view.hot is None:
        return
    both = (view, view.hot)
    for name in copied_shares(view):
        if not all(really_not_copied(one.of(name)) for one in both):
            continue
        for n_threads in [n for n in view.n_threads if n in view.hot.n_threads]:
            here, hot = (crossover_of(one, name, BASELINE, n_threads) for one in both)
            found = crossover_ratio(here, hot)
            yield {
                "slug": view.name,
                "hot": view.hot.name,
                "implementation": name,
                "n_threads": n_threads,
                "verdict": _verdict(found, here.outcome, hot.outcome),
                "ratio_low": found.low if found else None,
                "ratio_high": found.high if found else None,
            }


def _verdict(found: CrossoverRatio | None, here: Outcome, hot: Outcome) -> str:
    """Return where the crossover is, against the hot one; one beyond the grid can be told, too.

    Better at every size means that a crossover, if any, is below the smallest; worse at every size
    that it is above the largest.
    """
    if found is not None:
        if here is not Outcome.FROM:
            return "untested"  # it gains with smaller messages, which no crossover is meant to
        told = {Direction.BELOW: "smaller", Direction.ABOVE: "larger"}
        return told.get(found.direction, "no_difference")
    order = [Outcome.ALWAYS, Outcome.FROM, Outcome.NEVER]
    if here not in order or hot not in order:
        return "untested"
    if here is hot:
        return "same"
    return "smaller" if order.index(here) < order.index(hot) else "larger"


def network_card_facts(views: Mapping[str, View], wire: Mapping[str, Any] | None = None) -> Facts:
    """Return what this run says of a real network card.

    On a card zero-copy is real and somebody receives. Within one machine either one or the other
    can be had, so that a card lies between the two, if anywhere. Guests do not count: what their
    kernels need not copy, the host does. Nor does a wire whose sender's device is virtual. A wire
    whose sender has a card says more than what runs within one machine, even where nobody receives
    or where the kernel copies.

    Views are by slug; `wire` is that of `wire_facts`.

    Keys
    ----
    measured: Slugs of the conditions where zero-copy is real and somebody receives.
    wires: Those of them that are over the network to another machine.
    copied: Where there is none, slugs over the network, from a card, where the kernel copies for
        it.
    virtual: Slugs over the network from a virtual device.
    sent: Where nothing is measured, the bound of a card whose sender alone was measured: over the
        network, where zero-copy is real and nobody receives. The keys of one of ``bounds``; or
        None.
    bounds: Where there is neither, the CPU time of zero-copy per byte as a ratio to the baseline's:
        where it is real and nobody receives (first, if there is any), and where the kernel copies
        for a receiver. Each is the least, or the most, of `n_cells`, which its interval allows for,
        and has slug, implementation, baseline, msg_bytes, n_threads, sender_only, and the keys of
        `ratio_facts`.
    """
    over = {one["slug"]: one for one in wire["conditions"]} if wire else {}
    virtual = [slug for slug, one in over.items() if one["virtual"]]
    apart = {
        slug: view
        for slug, view in views.items()
        if slug not in virtual and not view.studied.guests
    }
    real, kept = _real_and_copied(apart)
    measured = list(dict.fromkeys(view.name for _, view in real if not view.sender_only))
    found: Facts = {
        "measured": measured,
        "wires": [slug for slug in measured if slug in over],
        "copied": [],
        "virtual": virtual,
        "sent": None,
        "bounds": [],
    }
    if measured:
        return found
    found["copied"] = list(dict.fromkeys(view.name for _, view in kept if view.name in over))
    sent = (one for one in real if one[1].name in over)
    found["sent"] = next((bound for one in sent for bound in _bounds([one], [])), None)
    if found["sent"] is None:
        received = [(name, view) for name, view in kept if not view.sender_only]
        found["bounds"] = list(_bounds(real, received))
    return found


def _bounds(alone: list[_Case], copied: list[_Case]) -> Iterator[Facts]:
    """Yield both bounds of the first implementation that has both, the outermost of all its cells.

    Of each condition and number of threads it is the size nearest to the largest that all have.
    """
    names = [name for name, _ in alone if any(name == other for other, _ in copied)]
    name = next(iter(names or [name for name, _ in (*alone, *copied)]), "")
    groups = [[view for one, view in group if one == name] for group in (alone, copied)]
    largest = min((view.msg_bytes[-1] for group in groups for view in group), default=0)
    for views, outermost in zip(groups, (min, max), strict=True):
        cells = [cell for view in views for cell in _costs(name, view, largest)]
        if cells:
            facts, rounds, confidence = outermost(cells, key=lambda cell: cell[1].mean())
            picked = simultaneous_ratio(rounds, len(cells), confidence)
            yield facts | ratio_facts(picked) | {"n_cells": len(cells)}


def _costs(name: str, view: View, largest: int) -> Iterator[tuple[Facts, FloatArray, float]]:
    """Yield the log ratios of CPU time at the size nearest to `largest`, per thread count.

    With each, what it is of, and the confidence of its interval.
    """
    baseline = next((one for one in (BASELINE, *view.implementations) if view.has(one)), name)
    size = min(view.msg_bytes, key=lambda size: abs(math.log(size / largest)))
    logs = view.cube.pair(view.per_byte("cpu_ns"), name, baseline)
    for n_threads in view.n_threads if name != baseline else ():
        if (size, n_threads) in logs.index:
            rounds = logs.loc[[(size, n_threads)]].to_numpy(dtype=np.float64).ravel()
            facts = {
                "slug": view.name,
                "implementation": name,
                "baseline": baseline,
                "msg_bytes": size,
                "n_threads": n_threads,
                "sender_only": view.sender_only,
            }
            if (known := rounds[~np.isnan(rounds)]).size:
                yield facts, known, view.settings.confidence


def undisturbed_facts(tables: Iterable[pd.DataFrame], qualities: Iterable[Facts]) -> Facts:
    """Return how many repetitions the machine left undisturbed, and how many cells are clean.

    Of tables with a row per repetition, and of what `quality_facts` says of the conditions.

    Keys
    ----
    n_measured, n_disturbed, warnings: Repetitions, those that were disturbed, and the same per
        disturbance.
    n_cells, n_clean: Cells of streams, and those that passed every check of the quality table.
    """
    every = [table.loc[table["status"] == "measured", ["warnings"]] for table in tables]
    measured, found = pd.concat(every, ignore_index=True), [*qualities]
    return {
        "n_measured": len(measured),
        "n_disturbed": int(disturbed(measured).sum()),
        "warnings": disturbances(measured),
        "n_cells": sum(one["n_cells"] for one in found),
        "n_clean": sum(one["n_clean"] for one in found),
    }
