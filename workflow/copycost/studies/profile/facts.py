"""Everything that the chapter on function chains says, as plain values."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.config.studies import Profile
from copycost.hosts.side import is_inside, is_rest
from copycost.stats.ratios import paired_ratio
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.cell_facts import LEAST_NS_PER_KIB, cell_facts
from copycost.studies.profile.chain_facts import chain_facts
from copycost.studies.profile.differences import difference_facts, rounds_of
from copycost.studies.profile.grid import pairs_of
from copycost.studies.profile.tables import Lists, Repetition, by_cell
from copycost.studies.shared_facts import losses_of

SCHEMA_VERSION = 1

_NOTABLE_TRACING = 0.01
# loads whose tables the report shows: more would bury the text, and CSV files have all
_MOST_SHOWN = 4

_LOAD = ("condition", "accelerator", "msg_bytes", "n_threads")
# what the text names a cell by
_NAMING = ("condition", "accelerator", "implementation", "msg_bytes", "n_threads")


def profile_facts(
    repetitions: Sequence[Repetition],
    profile: Profile,
    lists: Lists,
    settings: StatisticsSettings,
) -> Facts:
    """Return the facts of the study.

    `repetitions` are all, also those without a measurement.
    """
    cells = by_cell(repetitions)
    pairs = list(pairs_of(cells, profile.differences))
    # What is told is picked from the changes of all pairs: it is corrected for their number, too.
    confidence = 1.0 - (1.0 - settings.confidence) / max(len(pairs), 1)
    stricter = replace(settings, confidence=confidence)
    differences = (
        difference_facts(pair, rounds_of(cells, pair), lists, stricter) for pair in pairs
    )
    changed = [one for one in differences if one is not None]
    measured = [one for one in repetitions if one.sampled]
    found = [cell_facts(key, cell, lists, settings) for key, cell in cells.items()]
    loads = _loads(found, changed)
    outcomes = pd.DataFrame(
        [one.record for one in repetitions], columns=["status", "reason", "remedy"]
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "confidence": settings.confidence,
        "least_copy_ns_per_kib": LEAST_NS_PER_KIB,
        "n_measured": len(measured),
        "losses": losses_of(outcomes, ()),
        "sampling": _sampling(measured),
        "overhead": _overhead(measured, settings.confidence),
        # the largest share of a repetition's side that no list of functions knows
        "uncategorised": max(
            ({"share": side["uncategorised"], **naming} for side, naming in _parties(found)),
            key=lambda one: float(one["share"]),
            default=None,
        ),
        "tracing": _tracing(found),
        "cells": found,
        "loads": loads[:_MOST_SHOWN],
        "n_loads": len(loads),
        "published_source": lists.chain_names.source,
        "chains": chain_facts(cells, lists, settings),
        "differences": changed,
        "verdicts": verdicts(changed),
    }


def _parties(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Facts]]:
    """Yield what each party did, and what the text names it by.

    Without what else is in a guest, which is the sampling itself.
    """
    for cell in cells:
        for name, side in cell["sides"].items():
            if not is_rest(name):
                yield side, {"side": name, **{part: cell[part] for part in _NAMING}}


def _tracing(cells: Sequence[Mapping[str, Any]]) -> Facts | None:
    """Return where others that watch this host take most, None if they take hardly anything."""
    found = [
        {"share": entry["share"]["median"], **naming}
        for side, naming in _parties(cells)
        for entry in side["categories"]
        if entry["name"] == "tracing"
    ]
    most = max(found, key=lambda one: float(one["share"]), default=None)
    return most if most is not None and most["share"] >= _NOTABLE_TRACING else None


def _loads(
    cells: Sequence[Mapping[str, Any]], differences: Sequence[Mapping[str, Any]]
) -> list[Facts]:
    """Return the loads that were profiled, each with its cells; first those that are compared."""
    compared = {slug for one in differences for slug in one["cells"]}
    loads: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for cell in sorted(cells, key=lambda cell: cell["slug"] not in compared):
        loads.setdefault(tuple(cell[name] for name in _LOAD), []).append(cell)
    return [
        {**dict(zip(_LOAD, load, strict=True)), "cells": [cell["slug"] for cell in here]}
        for load, here in loads.items()
    ]


def verdicts(differences: Sequence[Mapping[str, Any]]) -> list[Facts]:
    """Return what all differences between the same two implementations have in common.

    In `n_more` and `n_less` of them the second takes more CPU time, and less, without sampling
    where that was measured; the rest is open. `grew` and `shrank` are the kind of work that grew
    (shrank) most in most of them, and in how many.
    """
    found: list[Facts] = []
    for before, after in dict.fromkeys((one["before"], one["after"]) for one in differences):
        these = [one for one in differences if (one["before"], one["after"]) == (before, after)]
        accounts = [one["account"] for one in these]
        directions = [(one["unsampled"] or one["change"])["direction"] for one in accounts]
        found.append(
            {
                "before": before,
                "after": after,
                "n": len(these),
                "n_more": directions.count("grew"),
                "n_less": directions.count("shrank"),
                "once": all(one["n_rounds"] == 1 for one in these),
                **{group: _most(these, group) for group in ("grew", "shrank")},
            }
        )
    return found


def _most(differences: Iterable[Mapping[str, Any]], group: str) -> Facts | None:
    largest = [
        next((part["title"] for part in one["account"]["parts"] if part["group"] == group), None)
        for one in differences
    ]
    # of equally many the first
    most = Counter(title for title in largest if title is not None).most_common(1)
    return {"title": most[0][0], "n": most[0][1]} if most else None


def _sampling(measured: Sequence[Repetition]) -> Facts | None:
    """Return how it was sampled, and how complete that is."""
    all_of_them = [one.record["observed"]["sampling"] for one in measured]
    if not all_of_them:
        return None
    sources = {one["source"] for one in all_of_them}
    return {
        "source": next(iter(sources)) if len(sources) == 1 else "mixed",
        "frequency_hz": max(one["frequency_hz"] for one in all_of_them),
        "n_samples": sum(side["samples"] for one in all_of_them for side in one["sides"].values()),
        "n_lost": sum(one["lost"] for one in all_of_them),
        "n_truncated": sum(one["truncated"] for one in all_of_them),
        "timer_agreement": _timer_agreement(measured, inside=False),
        "guest_agreement": _timer_agreement(measured, inside=True),
    }


def _timer_agreement(measured: Sequence[Repetition], *, inside: bool) -> dict[str, float] | None:
    """Return the CPU time that the timer's samples add up to, over what was counted.

    Samples of the timer stand for a known time each, so both must agree, but not in guests, whose
    timer may be late. What a guest does besides its sides is counted too coarsely for that.

    Of what runs in guests (`inside`), or of all else; None where there is none, or the cycle
    counter sampled.
    """
    ratios = [
        side["weight"] / cpu_ns
        for one in measured
        for sampling in [one.record["observed"]["sampling"]]
        if sampling["source"] == "timer"
        for name, side in sampling["sides"].items()
        if not is_rest(name) and is_inside(name, sampling["sides"]) == inside
        if (cpu_ns := one.run.cpu_ns[name]) > 0
    ]
    if not ratios:
        return None
    return {"median": float(np.median(ratios)), "least": min(ratios), "most": max(ratios)}


def _overhead(measured: Sequence[Repetition], confidence: float) -> Facts | None:
    """Return throughput while sampled over throughput right before or after without sampling."""
    logs = []
    for one in measured:
        runs = [run for run in (one.sampled, one.plain) if run and run.received_bytes]
        if len(runs) == 2:
            sampled, plain = (run.received_bytes / run.window_s for run in runs)
            logs.append(math.log(sampled / plain))
    ratio = paired_ratio(np.array(logs), confidence)
    if not ratio.n_pairs:
        return None
    return {
        "n_pairs": ratio.n_pairs,
        "value": ratio.value,
        "low": ratio.low if ratio.n_pairs > 1 else None,
        "high": ratio.high if ratio.n_pairs > 1 else None,
    }
