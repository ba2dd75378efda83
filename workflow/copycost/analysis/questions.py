"""The questions of the report: each turns the cells of a condition into findings.

The sixth, what was unexpected, is of all conditions together: `copycost.analysis.unexpected`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import find_crossovers, sign_of
from copycost.analysis.decomposition import Explained, explain_pair, explain_threads
from copycost.analysis.evidence import ONE, URING_ZERO, ZERO, weigh
from copycost.analysis.finding import Finding
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.ratio_facts import estimate_of, halves_of, judged_together
from copycost.config.capabilities import split_implementation
from copycost.perf.events import MISS_LEVELS
from copycost.stats.ratios import Ratio, simultaneous_ratio
from copycost.stats.trend_tests import paths, settled_signs

# What a generic "cache miss" means differs between processors, so it is no level of its own.
_LEVELS = MISS_LEVELS[:2]
_WITH_ALL = "Holm, over all misses and pairs of ways"

_Pair = tuple[str, str, str]
"""A column, an implementation, and what it is compared with."""
_Judged = Mapping[tuple[str, _Pair], Facts]
"""Ratios over the cells together, by condition and pair."""


def answer_questions(views: Sequence[View]) -> Iterator[Finding]:
    """Yield the findings of each question, condition by condition.

    Ratios over cells that a text picks from, misses per byte of each level and throughputs of what
    differs in one thing only, are judged together, whatever their condition.
    """
    tables = {
        (view.name, pair): view.cube.pair(*pair)
        for view in views
        for pair in (*_miss_pairs(view), *_like_pairs(view))
    }
    confidence = max((view.settings.confidence for view in views), default=0.0)
    judged = judged_together(tables, confidence)
    for view in views:
        yield from _zero_copy(view)
    for view in views:
        yield from _misses(view, judged)
    for view in views:
        yield from _threads(view)
    for view in views:
        yield from _crossovers(view, judged)


def _miss_pairs(view: View) -> list[_Pair]:
    names = [name for name in (ONE, ZERO) if view.has(name, BASELINE)]
    levels = [view.per_byte(level) for level in counted_levels(view)]
    return [(level, name, BASELINE) for level in levels for name in names]


def _like_pairs(view: View) -> list[_Pair]:
    """Return io_uring's zero-copy with MSG_ZEROCOPY, and many messages per call with one."""
    pairs = [(URING_ZERO, ZERO)]
    for name in view.implementations:
        strategy, batch = split_implementation(name)
        if batch > 1 and strategy != BASELINE:
            pairs.append((name, strategy))
    return [(THROUGHPUT, *pair) for pair in pairs if view.has(*pair)]


def counted_levels(view: View) -> list[str]:
    """Return the levels of caches whose misses were counted."""
    return [level for level in _LEVELS if view.counted(view.per_byte(level))]


def _zero_copy(view: View) -> Iterator[Finding]:
    """Yield in how many cells zero_copy beat every way that copies, and lost to one, and why.

    Its verdict is ``everywhere`` (ahead of all of them in every cell of the grid), ``somewhere``,
    ``nowhere`` (behind one of them in every cell), or ``not_shown``. What explains it is of the
    cells where it is shown to be behind the first of them, or where there is none, ahead of it:
    cells that were picked by their throughput, so that no interval would hold.
    """
    rivals = [name for name in (BASELINE, ONE) if view.has(name)] if view.has(ZERO) else []
    signs: dict[tuple[int, int], list[int]] = defaultdict(list)
    for rival in rivals:
        for row in view.verdicts(ZERO, rival):
            signs[row["msg_bytes"], row["n_threads"]].append(sign_of(row))
    worst = [min(found) for found in signs.values() if len(found) == len(rivals)]
    if not worst:
        return
    n_won, n_lost = sum(sign > 0 for sign in worst), sum(sign < 0 for sign in worst)
    n_cells = len(view.msg_bytes) * len(view.n_threads)
    if n_won:
        verdict = "everywhere" if n_won == n_cells else "somewhere"
    else:
        verdict = "nowhere" if n_lost == n_cells else "not_shown"
    about = Finding(question="zero_copy", condition=view.name, verdict=verdict, subject=ZERO,
                    reference=rivals[0])  # fmt: skip
    reasons = [replace(about, quantity="copied_share", **weigh(view, "all_copied"))]
    cells = _standing(view, rivals[0], -1) or _standing(view, rivals[0], 1)
    if cells and (explained := explain_pair(view, ZERO, rivals[0], cells)):
        reasons += [
            replace(about, quantity=quantity, verdict=explained.relation, n_cells=len(cells),
                    estimate=ratio.value, correction="cells picked by their throughput")
            for quantity, ratio in explained.ratios.items()
        ]  # fmt: skip
    yield replace(about, reference=" or ".join(rivals), n_cells=len(worst), n_better=n_won,
                  n_worse=n_lost, reasons=tuple(reasons))  # fmt: skip


def _standing(view: View, rival: str, sign: int) -> list[tuple[int, int]]:
    """Return the cells in which zero-copy is shown to be faster (1), or slower (-1)."""
    return [
        (row["msg_bytes"], row["n_threads"])
        for row in view.verdicts(ZERO, rival)
        if row["verdict"] == {1: "faster", -1: "slower"}[sign]
    ]


def _together(view: View, metric: str, name: str, baseline: str) -> Facts | None:
    """Return a ratio over the cells together; None where it was not measured."""
    if not view.has(name, baseline) or not view.counted(metric):
        return None
    return view.together(metric, name, baseline)


def _over_cells(found: Facts, more: str, less: str, *, more_is_better: bool = False) -> Facts:
    """Return the verdict of a ratio over cells, which has no estimate where these disagree."""
    told = {1: more, -1: less}.get(found["sign"], "no difference seen")
    better, worse = ("n_above", "n_below") if more_is_better else ("n_below", "n_above")
    disagree = found["contradict"]
    return {
        "verdict": "cells disagree" if disagree else told,
        "n_cells": found["n_cells"],
        "n_better": found[better],
        "n_worse": found[worse],
        "estimate": None if disagree else found["value"],
        **{name: None if disagree else found[name] for name in ("low", "high", "n")},
    }


def _misses(view: View, judged: _Judged) -> Iterator[Finding]:
    """Yield how the misses of each level that was counted differ from those of two copies.

    The deepest fall comes first.
    """
    known = [
        (level, name, ratio)
        for level, name in product(counted_levels(view), (ONE, ZERO))
        if (ratio := judged.get((view.name, (view.per_byte(level), name, BASELINE))))
    ]
    told = {(level, name): _over_cells(ratio, "more", "fewer") for level, name, ratio in known}
    known.sort(key=lambda one: (told[one[:2]]["verdict"] != "fewer", one[2]["value"]))
    for level, name, _ in known:
        about = Finding(
            question="misses",
            condition=view.name,
            subject=name,
            reference=BASELINE,
            quantity=f"{level}_per_byte",
            correction=_WITH_ALL,
            **told[level, name],
        )
        beyond = weigh(view, "l1d_fall_follows_cache_size")
        if (level, name) == (_LEVELS[0], ONE) and beyond["estimate"] is not None:
            case = replace(about, quantity="beyond_l1d", correction="none", **beyond)
            about = replace(about, reasons=(case,))
        yield about


@dataclass(frozen=True, slots=True)
class _Scaling:
    """What the throughput of an implementation does with the threads, not yet tested."""

    fewest: int
    most: int
    """Thread counts, of which `whole` compares the last with the first."""
    ratios: dict[tuple[int, int], Ratio]
    """The changes between all its thread counts."""
    whole: pd.DataFrame
    """From the fewest to the most: log ratios by size and round."""


def _threads(view: View) -> Iterator[Finding]:
    """Yield what became of each way's throughput with more threads, and what grew with them.

    Its verdict rests on the change that it tells, from the fewest to the most where that stands. It
    is ``rises``, ``falls``, ``turns``, ``unsettled`` (see `copycost.stats.trend_tests.Course`), or
    ``by_size``: shown to rise at some sizes and to fall at others, so that nothing is told of the
    sizes together.
    """
    every = {name: _scaling(view, name) for name in view.implementations if view.has(name)}
    found = {name: one for name, one in every.items() if one.ratios}
    if not found:
        return
    tested = paths({name: one.ratios for name, one in found.items()}, view.settings.confidence)
    parting = _parting(view, {name: one.whole for name, one in found.items()})
    grown = {quantity: weigh(view, predicate) for quantity, predicate in _GROWING.items()}
    for name, one in found.items():
        path = tested[name]
        shown = path.told
        ends = (one.fewest, one.most)
        if name not in parting and len(shown) == 1:
            ends = (shown[0].start, shown[0].end)
        about = Finding(
            question="threads",
            condition=view.name,
            subject=name,
            reference=f"{ends[0]} threads",
            n_threads=ends,
            verdict="by_size" if name in parting else path.course.value,
            correction="Holm, over the condition",
        )
        growth = (
            replace(about, quantity=quantity, subject="all ways", correction="none", **weighed)
            for quantity, weighed in grown.items()
            if weighed["verdict"] != "not_measured"
        )
        extremes = _extremes(
            about, view.cube.threads(THROUGHPUT, name, *ends[::-1]), view.settings.confidence
        )
        if name in parting:
            yield replace(about, reasons=(*growth, *extremes))
            continue
        sizes = [int(size) for size in one.whole.index]
        factors = _factors(about, explain_threads(view, name, ends[1], ends[0], sizes))
        told = {(change.start, change.end): change.ratio for change in path.changes}
        yield replace(about, reasons=(*growth, *factors, *extremes), **estimate_of(told.get(ends)))


_GROWING = {
    "context_switches_per_message": "switches_grow_with_threads",
    "l1d_load_misses_per_byte": "l1d_misses_grow_with_threads",
    "llc_load_misses_per_byte": "llc_misses_grow_with_threads",
}
"""What may grow with the threads, and the predicate that says whether it did."""


def _extremes(about: Finding, logs: pd.DataFrame, confidence: float) -> Iterator[Finding]:
    """Yield at which sizes the throughput of an implementation grew least and most with threads."""
    ratios = {
        int(size): simultaneous_ratio(rounds, len(logs), confidence)
        for size, rounds in zip(logs.index, logs.to_numpy(np.float64), strict=True)
    }
    known = [size for size, ratio in ratios.items() if ratio.n_pairs]
    for which, pick in (("worst", min), ("best", max)):
        if len(known) > 1:
            size = pick(known, key=lambda size: ratios[size].value)
            yield replace(
                about,
                quantity=f"{THROUGHPUT} ({which})",
                msg_bytes=(size,),
                correction=f"picked from {len(ratios)} sizes",
                **estimate_of(ratios[size]),
            )


def _factors(about: Finding, explained: Explained | None) -> Iterator[Finding]:
    """Yield the throughput that is explained, and the factors that make it."""
    if explained is None:
        return
    for quantity, ratio in explained.ratios.items():
        yield replace(about, quantity=quantity, verdict=explained.relation, correction="none",
                      **estimate_of(ratio))  # fmt: skip


def _scaling(view: View, name: str) -> _Scaling:
    counts = sorted({int(value) for value in view.of(name)["n_threads"]})
    ratios = {
        (fewer, more): view.pooled(view.cube.threads(THROUGHPUT, name, more, fewer))
        for fewer, more in combinations(counts, 2)
    }
    return _Scaling(
        counts[0],
        counts[-1],
        {ends: ratio for ends, ratio in ratios.items() if ratio.n_pairs},
        view.cube.threads(THROUGHPUT, name, counts[-1], counts[0]),
    )


def _parting(view: View, wholes: Mapping[str, pd.DataFrame]) -> set[str]:
    """Return the implementations of which some sizes are shown to rise, and others to fall.

    Single sizes, or the smaller ones together and the larger ones; either are tested together for
    all implementations.
    """
    halves = [
        (name, half)
        for name, logs in wholes.items()
        for _, low, high in halves_of(logs)
        for half in (low, high)
    ]
    single = [(name, logs.iloc[[row]]) for name, logs in wholes.items() for row in range(len(logs))]
    found: set[str] = set()
    for parts in (halves, single):
        ratios = [view.pooled(part) for _, part in parts]
        signs = settled_signs(ratios, view.settings.confidence)
        seen = {(name, sign) for (name, _), sign in zip(parts, signs, strict=True)}
        found.update(name for name in wholes if {(name, 1), (name, -1)} <= seen)
    return found


def _crossovers(view: View, judged: _Judged) -> Iterator[Finding]:
    """Yield from which size on each way is faster than two copies, and what that costs.

    Then comparisons of one thing only: io_uring's zero-copy with MSG_ZEROCOPY, and many messages
    per system call with one.
    """
    for about in find_crossovers(view):
        reasons = [*about.reasons]
        bare = replace(about, reasons=(), below_bytes=None, above_bytes=None, open_bytes=())
        if cost := _together(view, view.cost_column, about.subject, BASELINE):
            told = _over_cells(cost, "more", "less") | {"n_cells": about.n_cells}
            reasons.append(replace(bare, quantity=view.cost_column, correction="none", **told))
        small = weigh(view, "message_cost_dominates")
        if about.subject == ONE and small["estimate"] is not None:
            reasons.append(
                Finding(
                    question=about.question,
                    condition=about.condition,
                    subject="a byte of the smallest messages",
                    reference="one of the largest",
                    quantity="small_message_cost",
                    **small,
                )
            )
        yield replace(about, reasons=tuple(reasons))
    for pair in _like_pairs(view):
        if ratio := judged.get((view.name, pair)):
            _, name, baseline = pair
            yield Finding(
                question="crossover",
                condition=view.name,
                subject=name,
                reference=baseline,
                correction=_WITH_ALL,
                **_over_cells(ratio, "faster", "slower", more_is_better=True),
            )
