"""How far decisions bear: where the kernel did not copy, what holds on a real network card."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.evidence import NOT_COPIED_SHARE, copied_share
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.analysis.quality_table import disturbances, disturbed
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.stats.ratios import simultaneous_ratio
from copycost.analysis.stats.settings import FloatArray
from copycost.config.strategy_capabilities import capability_of, split_implementation


def copied_facts(view: View) -> list[Facts]:
    """Return how much of what each was to send without a copy was copied; None if not told.

    Of the measured implementations that ask the kernel not to copy.
    """
    return [
        {"implementation": name, "copied_share": copied_share(view.of(name))}
        for name in view.implementations
        if capability_of(split_implementation(name)[0]).zero_copy and view.has(name)
    ]


_Case = tuple[str, View]
"""An implementation that asks for no copy, and where it was measured."""


def network_card_facts(views: Mapping[str, View], wire: Mapping[str, Any] | None = None) -> Facts:
    """Return what this run says of a real network card.

    On a card zero-copy is real and somebody receives. Within one machine either one or the other
    can be had, so that a card lies between the two, if anywhere. Guests do not count: what their
    kernels need not copy, the host does. Nor does a wire whose sender's device is virtual. A wire
    whose sender has a card says more than what runs within one machine, even where nobody receives
    or where the kernel copies.

    Views are by slug; `wire` is that of `wire_facts`.
    """
    over = {one["slug"]: one for one in wire["conditions"]} if wire else {}
    virtual = [slug for slug, one in over.items() if one["virtual"]]
    cases = [
        (one["implementation"], view, one["copied_share"] <= NOT_COPIED_SHARE)
        for slug, view in views.items()
        if slug not in virtual and not view.guests
        for one in copied_facts(view)
        if one["copied_share"] is not None
    ]
    real = [(name, view) for name, view, is_real in cases if is_real]
    kept = [(name, view) for name, view, is_real in cases if not is_real]
    measured = list(dict.fromkeys(view.name for _, view in real if not view.sender_only))
    found: Facts = {
        # where zero-copy is real and somebody receives, and which of these are over the network
        "measured": measured,
        "wires": [slug for slug in measured if slug in over],
        # else: from a card, where the kernel copies, or where the sender alone was measured
        "copied": [],
        "sent": None,
        # else: from both sides, the least and the most that zero-copy takes of CPU time
        "bounds": [],
        # over the network from a virtual device
        "virtual": virtual,
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


def _bounds(alone: Sequence[_Case], copied: Sequence[_Case]) -> Iterator[Facts]:
    """Yield both bounds of the first implementation that has both, the outermost of all its cells.

    Of each condition and number of threads it is the size nearest to the largest that all have. The
    interval allows for the number of cells.
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
            yield facts, rounds[~np.isnan(rounds)], view.settings.confidence


def undisturbed_facts(tables: Iterable[pd.DataFrame], qualities: Iterable[Facts]) -> Facts:
    """Return how many repetitions the machine left undisturbed, and how many cells are clean.

    Of tables with a row per repetition, and of what `quality_facts` says of the conditions.
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
