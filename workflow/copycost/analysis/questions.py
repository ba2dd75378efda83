"""The questions of the report: each turns the cells of a condition into findings.

The sixth, what was unexpected, is of all conditions together: `copycost.analysis.unexpected`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import find_crossovers
from copycost.analysis.evidence import (
    COPIED_SHARE,
    FALLEN,
    MISSES_GROWN,
    ONE,
    SWITCHES_GROWN,
    ZERO,
    copied_share,
    fall_beyond_cache,
    growth_over_threads,
    weigh,
)
from copycost.analysis.finding import Finding
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.ratio_facts import (
    estimate_of,
    extremes,
    halves_of,
    judged_together,
    over_cells,
    pooled_rounds,
)
from copycost.analysis.stats.settings import FloatArray
from copycost.analysis.stats.trend_tests import paths, settled_signs
from copycost.analysis.tables import compared_pairs
from copycost.analysis.throughput_factors import explain_pair, explain_threads
from copycost.observers.perf.events import MISS_LEVELS

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
        yield from find_crossovers(view)
        yield from _likes(view, judged)


def counted_levels(view: View) -> list[str]:
    """Return the levels of caches whose misses were counted."""
    return [level for level in _LEVELS if view.counted(view.per_byte(level))]


def _miss_pairs(view: View) -> list[_Pair]:
    levels = [view.per_byte(level) for level in counted_levels(view)]
    ways = [name for name in (ONE, ZERO) if view.has(name, BASELINE)]
    return [(level, name, BASELINE) for level, name in product(levels, ways)]


def _like_pairs(view: View) -> list[_Pair]:
    """Return the measured pairs that differ in one thing only, see `compared_pairs`."""
    pairs = compared_pairs(name for name in view.implementations if view.has(name))
    others = [pair for pair in pairs if pair[1] != BASELINE and pair != (ZERO, ONE)]
    return [(THROUGHPUT, *pair) for pair in others]


def _zero_copy(view: View) -> Iterator[Finding]:
    """Yield in how many cells zero_copy beat every way that copies, and lost to one, and why.

    Its verdict is ``everywhere`` (ahead of all of them in every cell of the grid), ``somewhere``,
    ``nowhere`` (behind one of them in every cell), or ``not_shown``. What explains it is of the
    cells where it is shown to be behind the first of them, or where there is none, ahead of it:
    cells that were picked by their throughput, so that no interval would hold.
    """
    rivals = [name for name in (BASELINE, ONE) if view.has(name)] if view.has(ZERO) else []
    ratios = [view.cell_ratios(ZERO, rival) for rival in rivals]
    cells = set.intersection(*map(set, ratios)) if ratios else set()
    worst = [min(one[cell].sign for one in ratios) for cell in cells]
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
    copied = weigh(copied_share(view.of(ZERO)), at_least=COPIED_SHARE)
    reasons = [replace(about, quantity="copied_share", **copied)]
    slower, faster = (
        [cell for cell, one in ratios[0].items() if one.sign == sign and one.n_pairs > 1]
        for sign in (-1, 1)
    )
    differing = slower or faster
    if differing and (explained := explain_pair(view, ZERO, rivals[0], differing)):
        reasons += [
            replace(about, quantity=quantity, verdict=explained.relation, n_cells=len(differing),
                    estimate=ratio.value, correction="cells picked by their throughput")
            for quantity, ratio in explained.ratios.items()
        ]  # fmt: skip
    yield replace(about, reference=" or ".join(rivals), n_cells=len(worst), n_better=n_won,
                  n_worse=n_lost, reasons=tuple(reasons))  # fmt: skip


def _misses(view: View, judged: _Judged) -> Iterator[Finding]:
    """Yield how the misses of each level that was counted differ from those of two copies.

    The deepest fall comes first.
    """
    beyond = weigh(fall_beyond_cache(view), at_most=FALLEN)
    found = []
    for level, name in product(counted_levels(view), (ONE, ZERO)):
        ratio = judged.get((view.name, (view.per_byte(level), name, BASELINE)))
        if ratio is None:
            continue
        about = Finding(
            question="misses",
            condition=view.name,
            subject=name,
            reference=BASELINE,
            quantity=f"{level}_per_byte",
            correction=_WITH_ALL,
            **over_cells(ratio, "more", "fewer"),
        )
        if (level, name) == (_LEVELS[0], ONE) and beyond["estimate"] is not None:
            case = replace(about, quantity="beyond_l1d", correction="none", **beyond)
            about = replace(about, reasons=(case,))
        found.append((about.verdict != "fewer", ratio["value"], about))
    found.sort(key=lambda one: one[:2])
    yield from (about for *_, about in found)


def _threads(view: View) -> Iterator[Finding]:
    """Yield what became of each way's throughput with more threads, and what grew with them.

    Its verdict rests on the change that it tells, from the fewest to the most where that stands. It
    is ``rises``, ``falls``, ``turns``, ``unsettled`` (see
    `copycost.analysis.stats.trend_tests.Course`), or ``by_size``: shown to rise at some sizes and
    to fall at others, so that nothing is told of the sizes together.
    """
    steps: dict[str, dict[tuple[int, int], FloatArray]] = {}  # between all thread counts
    wholes: dict[str, tuple[tuple[int, int], pd.DataFrame]] = {}  # from the fewest to the most
    for name in view.implementations:
        counts = sorted({int(value) for value in view.of(name)["n_threads"]})
        found = {
            (fewer, more): pooled_rounds(view.cube.threads(THROUGHPUT, name, more, fewer))
            for fewer, more in combinations(counts, 2)
        }
        if known := {ends: rounds for ends, rounds in found.items() if rounds.size}:
            ends = counts[0], counts[-1]
            steps[name] = known
            wholes[name] = ends, view.cube.threads(THROUGHPUT, name, *ends[::-1])
    tested = paths(steps, view.settings.confidence)
    parting = _parting(view, {name: logs for name, (_, logs) in wholes.items()})
    switches = "context_switches_per_message"
    grown = {switches: weigh(growth_over_threads(view, switches), at_least=SWITCHES_GROWN)}
    for level in _LEVELS:
        growth = growth_over_threads(view, view.per_byte(level))
        grown[f"{level}_per_byte"] = weigh(growth, at_least=MISSES_GROWN)
    for name, (ends, logs) in wholes.items():
        path = tested[name]
        if name not in parting and len(path.told) == 1:
            ends = path.told[0].start, path.told[0].end
        about = Finding(
            question="threads",
            condition=view.name,
            subject=name,
            reference=f"{ends[0]} threads",
            n_threads=ends,
            verdict="by_size" if name in parting else path.course.value,
            correction="Holm, over the condition",
        )
        reasons = [
            replace(about, quantity=quantity, subject="all ways", correction="none", **weighed)
            for quantity, weighed in grown.items()
            if weighed["verdict"] != "not_measured"
        ]
        sizes = [int(size) for size in logs.index]
        explained = explain_threads(view, name, ends[1], ends[0], sizes)
        if explained and name not in parting:
            reasons += [
                replace(about, quantity=quantity, verdict=explained.relation, correction="none",
                        **estimate_of(ratio))
                for quantity, ratio in explained.ratios.items()
            ]  # fmt: skip
        by_size = view.cube.threads(THROUGHPUT, name, *ends[::-1])
        if len(by_size) > 1:
            reasons += extremes(about, by_size, "sizes", view.settings.confidence)
        told = {(change.start, change.end): change.ratio for change in path.changes}
        whole = estimate_of(None if name in parting else told.get(ends))
        yield replace(about, reasons=tuple(reasons), **whole)


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
        rows = [pooled_rounds(part) for _, part in parts]
        signs = settled_signs(rows, view.settings.confidence)
        seen = {(name, sign) for (name, _), sign in zip(parts, signs, strict=True)}
        found.update(name for name in wholes if {(name, 1), (name, -1)} <= seen)
    return found


def _likes(view: View, judged: _Judged) -> Iterator[Finding]:
    """Yield comparisons of one thing only, see `_like_pairs`."""
    for pair in _like_pairs(view):
        if ratio := judged.get((view.name, pair)):
            _, name, baseline = pair
            yield Finding(
                question="crossover",
                condition=view.name,
                subject=name,
                reference=baseline,
                correction=_WITH_ALL,
                **over_cells(ratio, "faster", "slower", more_is_better=True),
            )
