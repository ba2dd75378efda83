"""The questions of the report: each turns the cells of a condition into an answer.

The sixth, what was unexpected, is of all conditions together: `copycost.analysis.unexpected`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import crossover_facts, sign_of
from copycost.analysis.decomposition import explain_pair, explain_threads
from copycost.analysis.evidence import ONE, URING_ZERO, ZERO, ring_bytes, weigh
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.quality import quality_facts
from copycost.analysis.ratio_facts import halves_of, ratio_facts, together
from copycost.config.capabilities import split_implementation
from copycost.perf.events import MISS_LEVELS
from copycost.stats.ratios import Ratio
from copycost.stats.trend_tests import paths, settled_signs

# What a generic "cache miss" means differs between processors, so it is no level of its own.
_LEVELS = MISS_LEVELS[:2]


def answer_questions(view: View) -> Facts:
    """Return crossovers, evidence and the answers of one condition.

    Keys
    ----
    crossovers: ``one_copy_vs_two_copy`` and ``zero_copy_vs_two_copy``, the answers to questions 4
        and 5, ``zero_copy_vs_one_copy``, and every other implementation's over two_copy.
    others: What there is to say of the other implementations.
    quantities: ring_bytes, and ring_per_llc, the same as a multiple of the last-level cache.
    evidence: What each predicate says.
    questions: ``q1`` (why zero-copy is not always fastest), ``q2`` (cache misses), ``q3`` (threads
        and contention). ``q6``, what was unexpected, is of all conditions together: see
        `copycost.analysis.unexpected`.
    quality: How clean the measurements were.
    """
    others = [name for name in view.implementations if name not in (BASELINE, ONE, ZERO)]
    pairs = [(name, BASELINE) for name in (ONE, ZERO, *others)] + [(ZERO, ONE)]
    ring, cache = ring_bytes(view), view.caches.get("llc_bytes")
    return {
        "crossovers": {f"{a}_vs_{b}": crossover_facts(view, a, b) for a, b in pairs},
        "quantities": {
            "ring_bytes": ring,
            "ring_per_llc": ring / cache if ring and cache else None,
        },
        "evidence": weigh(view),
        "questions": {
            "q1": fastest_facts(view),
            "q2": cache_miss_facts(view),
            "q3": contention_facts(view),
        },
        "others": other_implementations_facts(view, others),
        "quality": quality_facts(view),
    }


def _ratio(view: View, metric: str, name: str, baseline: str) -> Facts | None:
    """Return a ratio over the cells together; None where it was not measured."""
    if not view.has(name, baseline) or not view.counted(metric):
        return None
    return together(view, view.cube.pair(metric, name, baseline))


def fastest_facts(view: View) -> Facts:
    """Return in how many cells zero_copy beat, or lost to, the copying implementations.

    Keys
    ----
    verdict: ``everywhere`` (beat every rival in every cell of the grid), ``somewhere``, ``nowhere``
        (lost to a rival in every cell of the grid), ``not_shown`` (never seen ahead, but not beaten
        everywhere either), ``not_measured``.
    rivals: The copying implementations that were measured.
    n_compared, n_won, n_lost: Cells compared with every rival; those in which it beat all of them,
        and those in which it lost to at least one.
    slower, faster: The cells where less, and more, throughput than the first rival's stands (see
        `View.standing`): n_cells, and explained (what the difference consists of there, see
        `copycost.analysis.decomposition`); None where there is no such cell. Their intervals do not
        allow for the choice of the cells, so no text has them.
    """
    rivals = [name for name in (BASELINE, ONE) if view.has(name)] if view.has(ZERO) else []
    signs: dict[tuple[int, int], list[int]] = defaultdict(list)
    for rival in rivals:
        for row in view.verdicts(ZERO, rival):
            signs[row["msg_bytes"], row["n_threads"]].append(sign_of(row))
    worst = [min(found) for found in signs.values() if len(found) == len(rivals)]
    n_won, n_lost = sum(sign > 0 for sign in worst), sum(sign < 0 for sign in worst)
    n_cells = len(view.msg_bytes) * len(view.n_threads)
    if not worst:
        verdict = "not_measured"
    elif n_won:
        verdict = "everywhere" if n_won == n_cells else "somewhere"
    else:
        verdict = "nowhere" if n_lost == n_cells else "not_shown"
    return {
        "verdict": verdict,
        "rivals": rivals,
        "n_compared": len(worst),
        "n_won": n_won,
        "n_lost": n_lost,
        "slower": _why(view, rivals, -1),
        "faster": _why(view, rivals, 1),
    }


def _why(view: View, rivals: Sequence[str], sign: int) -> Facts | None:
    """Return what explains the cells in which zero_copy is above (1) or below its first rival."""
    cells = view.standing(ZERO, rivals[0], sign) if rivals else []
    if not cells:
        return None
    return {"n_cells": len(cells), "explained": explain_pair(view, ZERO, rivals[0], cells)}


def cache_miss_facts(view: View) -> Facts:
    """Return how the misses per byte of each level changed against two_copy.

    Keys
    ----
    verdict: ``fall`` (some level's misses fell), ``no_fall``, ``not_counted``, ``not_compared`` (no
        two implementations to compare), ``not_measured``.
    falls: Per level and implementation the ratio over all cells, and whether these contradict each
        other (see `copycost.analysis.ratio_facts`), deepest first.
    costs: The same of what a byte cost, per implementation.
    """
    levels = [level for level in _LEVELS if view.counted(view.per_byte(level))]
    names = [name for name in (ONE, ZERO) if view.has(name, BASELINE)]
    falls = [
        {"level": level, "implementation": name} | found
        for level in levels
        for name in names
        if (found := _ratio(view, view.per_byte(level), name, BASELINE))
    ]
    falls.sort(key=lambda fall: (not _is_fall(fall), fall["value"]))
    if not view.is_measured:
        verdict = "not_measured"
    elif not levels:
        verdict = "not_counted"
    elif not falls:
        verdict = "not_compared"
    else:
        verdict = "fall" if _is_fall(falls[0]) else "no_fall"
    costs = {name: _ratio(view, view.cost_column, name, BASELINE) for name in names}
    return {
        "verdict": verdict,
        "falls": falls,
        "costs": [{"implementation": name} | found for name, found in costs.items() if found],
    }


def _is_fall(found: Facts) -> bool:
    return bool(found["sign"] < 0 and not found["contradict"])


_FEW = 4
"""Up to so many implementations, each is explained in the text."""


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


def contention_facts(view: View) -> Facts:
    """Return how throughput changes with the number of threads.

    Keys
    ----
    verdict: The course that all implementations share, else ``differs``; ``one_thread_count`` or
        ``not_measured`` where there is nothing to compare. A course is ``rises``, ``falls``,
        ``turns``, ``unsettled`` (see `copycost.stats.trend_tests.Course`), or ``by_size``: shown to
        rise at some sizes and to fall at others, so that nothing is told of the sizes together.
    groups: The implementations with the same course: implementations, course, fewest, most.
    explained: Of all implementations, or of many the two in which throughput grew least and most:
        implementation and `ways`: what the change over the sizes together consists of
        (`explained`, see `copycost.analysis.decomposition`); none where these contradict each
        other.
    wholes: The change from the fewest to the most over the sizes together, of the implementations
        whose sizes do not contradict each other.
    """
    found = {name: _scaling(view, name) for name in view.implementations if view.has(name)}
    found = {name: one for name, one in found.items() if one.ratios}
    tested = paths({name: one.ratios for name, one in found.items()}, view.settings.confidence)
    parting = _parting(view, {name: one.whole for name, one in found.items()})
    courses = {
        name: "by_size" if name in parting else path.course.value for name, path in tested.items()
    }
    groups: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for name, one in found.items():
        groups[courses[name], one.fewest, one.most].append(name)
    first, last = view.n_threads[0], view.n_threads[-1]
    wholes = {
        name: ratio
        for name in found
        if (ratio := view.pooled(view.cube.threads(THROUGHPUT, name, last, first))).n_pairs
    }
    explained = list(found)
    if len(explained) > _FEW:
        ordered = sorted(wholes, key=lambda name: wholes[name].value)
        explained = list(dict.fromkeys((*ordered[:1], *ordered[-1:])))
    ways = {name: _explained(view, name, found[name]) for name in explained if name not in parting}
    return {
        "verdict": _threads_verdict(view, set(courses.values())),
        "groups": [
            {"course": course, "fewest": fewest, "most": most, "implementations": names}
            for (course, fewest, most), names in groups.items()
        ],
        "explained": [{"implementation": name, "ways": ways.get(name, [])} for name in explained],
        "wholes": [
            {"implementation": name} | ratio_facts(ratio)
            for name, ratio in wholes.items()
            if name not in parting
        ],
    }


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


def _explained(view: View, name: str, scaling: _Scaling) -> list[Facts]:
    sizes = [int(size) for size in scaling.whole.index]
    return [{"explained": explain_threads(view, name, scaling.most, scaling.fewest, sizes)}]


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


def _threads_verdict(view: View, courses: set[str]) -> str:
    if not view.is_measured:
        return "not_measured"
    if not courses:
        return "one_thread_count"
    return courses.pop() if len(courses) == 1 else "differs"


def other_implementations_facts(view: View, names: Sequence[str]) -> Facts:
    """Return what there is to say of the implementations other than those of the questions.

    Keys
    ----
    costs: By implementation that was measured: the ratio of its cost of a byte to that of two_copy
        over the cells together (see `copycost.analysis.ratio_facts`); None where not measured.
    pairs: Comparisons of one thing only, io_uring's zero-copy with MSG_ZEROCOPY and many messages
        per system call with one: implementation, baseline, and the ratio of the throughputs over
        the cells together.
    """
    found = [name for name in names if view.has(name)]
    pairs = [(URING_ZERO, ZERO)] if view.has(URING_ZERO, ZERO) else []
    for name in found:
        strategy, batch = split_implementation(name)
        if batch > 1 and view.has(strategy) and strategy != BASELINE:
            pairs.append((name, strategy))
    return {
        "costs": {name: _ratio(view, view.cost_column, name, BASELINE) for name in found},
        "pairs": [
            {"implementation": name, "baseline": baseline}
            | {"throughput": _ratio(view, THROUGHPUT, name, baseline)}
            for name, baseline in pairs
        ],
    }
