"""Everything that the chapter on function chains says, as plain values."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.stats.ratios import paired_ratio
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.config.studies import Profile
from copycost.hosts.side import is_inside, is_rest
from copycost.studies.profile.cell_facts import LEAST_NS_PER_KIB, cell_facts, chain_facts
from copycost.studies.profile.differences import difference_facts, rounds_of
from copycost.studies.profile.functions import Lists
from copycost.studies.profile.tables import Repetition, by_cell
from copycost.studies.shared_facts import losses_of, with_interval

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
    pairs = [
        (key, other)
        for before, after in profile.differences
        for key in cells
        if key.implementation == before and (other := key._replace(implementation=after)) in cells
    ]
    # What is told is picked from the changes of all pairs: it is corrected for their number, too.
    confidence = 1.0 - (1.0 - settings.confidence) / max(len(pairs), 1)
    changed = [
        difference_facts(pair, rounds, lists, confidence)
        for pair in pairs
        if (rounds := rounds_of(cells, pair))
    ]
    measured = [one for one in repetitions if one.runs]
    found = [cell_facts(key, cell, lists, settings) for key, cell in cells.items()]
    loads = _loads(found, changed)
    outcomes = pd.DataFrame(
        [one.record for one in repetitions], columns=["status", "reason", "remedy"]
    )
    # the largest share of what others that watch this host take
    tracing = _most(found, lambda side: _share(side, "tracing"))
    return {
        "schema_version": SCHEMA_VERSION,
        "confidence": settings.confidence,
        "least_copy_ns_per_kib": LEAST_NS_PER_KIB,
        "n_measured": len(measured),
        "losses": losses_of(outcomes, ()),
        "sampling": _sampling(measured),
        "overhead": _overhead(measured, settings.confidence),
        # the largest share of a repetition's side that no list of functions knows
        "uncategorised": _most(found, lambda side: side["uncategorised"]),
        # where others that watch this host take most, None if they take hardly anything
        "tracing": tracing if tracing and tracing["share"] >= _NOTABLE_TRACING else None,
        "cells": found,
        "loads": loads[:_MOST_SHOWN],
        "n_loads": len(loads),
        "published_source": lists.published.source,
        "chains": chain_facts(cells, lists, settings),
        "differences": changed,
        "verdicts": verdicts(changed),
    }


def _most(cells: Sequence[Facts], share_of: Callable[[Facts], float]) -> Facts | None:
    """Return where a share is largest, and what the text names that side by.

    Without what else is in a guest, which is the sampling itself.
    """
    shares = [
        {"share": share_of(side), "side": name, **{part: cell[part] for part in _NAMING}}
        for cell in cells
        for name, side in cell["sides"].items()
        if not is_rest(name)
    ]
    return max(shares, key=lambda one: float(one["share"]), default=None)


def _share(side: Facts, category: str) -> float:
    shares = {one["name"]: float(one["share"]["median"]) for one in side["categories"]}
    return shares.get(category, 0.0)


def _loads(cells: Sequence[Facts], differences: Sequence[Facts]) -> list[Facts]:
    """Return the loads that were profiled, each with its cells; first those that are compared."""
    compared = {slug for one in differences for slug in one["cells"]}
    loads: dict[tuple[Any, ...], Facts] = {}
    for cell in sorted(cells, key=lambda cell: cell["slug"] not in compared):
        load = {name: cell[name] for name in _LOAD}
        found = loads.setdefault(tuple(load.values()), {**load, "cells": []})
        found["cells"].append(cell["slug"])
    return list(loads.values())


def verdicts(differences: Sequence[Facts]) -> list[Facts]:
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
                **{group: _changed_most(accounts, group) for group in ("grew", "shrank")},
            }
        )
    return found


def _changed_most(accounts: Sequence[Facts], group: str) -> Facts | None:
    titles = [[one["title"] for one in its["parts"] if one["group"] == group] for its in accounts]
    # of equally many the first
    most = Counter(its[0] for its in titles if its).most_common(1)
    return {"title": most[0][0], "n": most[0][1]} if most else None


def _sampling(measured: Sequence[Repetition]) -> Facts | None:
    """Return how it was sampled, and how complete that is."""
    each = [one.record["observed"]["sampling"] for one in measured]
    if not each:
        return None
    sources = {one["source"] for one in each}
    return {
        "source": sources.pop() if len(sources) == 1 else "mixed",
        "frequency_hz": max(one["frequency_hz"] for one in each),
        "n_samples": sum(side["samples"] for one in each for side in one["sides"].values()),
        "n_lost": sum(one["lost"] for one in each),
        "n_truncated": sum(one["truncated"] for one in each),
        "timer_agreement": _timer_agreement(measured, inside=False),
        "guest_agreement": _timer_agreement(measured, inside=True),
    }


def _timer_agreement(measured: Sequence[Repetition], *, inside: bool) -> Facts | None:
    """Return the CPU time that the timer's samples add up to, over what was counted.

    Of what runs in guests (`inside`), whose timer may be late, or of all else, where both must
    agree. What a guest does besides its sides is counted too coarsely for that.
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
    rates = [[run.received_bytes / run.window_s for run in one.runs] for one in measured]
    logs = [math.log(sampled / plain) for sampled, plain in rates if sampled and plain]
    ratio = paired_ratio(np.array(logs), confidence)
    return with_interval(ratio.value, ratio.low, ratio.high) if ratio.n_pairs else None
