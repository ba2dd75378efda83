"""The questions of the report: each turns the cells of a condition into an answer.

The sixth, what was unexpected, is of all conditions together: `copycost.analysis.unexpected`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import crossover_facts, records, sign_of
from copycost.analysis.decomposition import explain_pair, explain_threads
from copycost.analysis.evidence import (
    ONE,
    URING_ZERO,
    ZERO,
    Disagreement,
    Quantity,
    quantities,
    weigh,
)
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT, counted_share
from copycost.analysis.quality import quality_facts
from copycost.analysis.ratio_facts import halves_of, ratio_facts, together
from copycost.config.capabilities import split_implementation
from copycost.perf.events import MISS_LEVELS
from copycost.stats.ratios import Ratio
from copycost.stats.trend_tests import Path, paths, settled_signs

# What a generic "cache miss" means differs between processors, so it is no level of its own.
_LEVELS = MISS_LEVELS[:2]


def cache_miss_facts(view: View) -> Facts:
    """Return how the misses per byte of each level changed against two_copy.

    Keys
    ----
    verdict: ``fall`` (some level's misses fell), ``no_fall``, ``not_counted``, ``not_compared`` (no
        two implementations to compare), ``not_measured``.
    levels: Per level: status ``counted``, ``zero`` (reads 0 in every repetition: not a measurement)
        or ``not_counted``; and its falls.
    falls: Per level and implementation the ratio over all cells, and whether these contradict each
        other (see `copycost.analysis.ratio_facts`), deepest first; with the cell with the lowest.
    deepest: The first of them, if it is a fall that no cells contradict.
    only_level: True where a single level was counted, so that "most" means little.
    caches: Sizes of the host's caches [bytes].
    costs: The same of what a byte cost, per implementation: what is left to tell where misses were
        not counted.
    """
    levels = {level: _status(view, level) for level in _LEVELS}
    counted = [level for level, status in levels.items() if status == "counted"]
    names = [name for name in (ONE, ZERO) if view.has(name, BASELINE)]
    falls = [fact for level in counted for name in names if (fact := _fall(view, level, name))]
    falls.sort(key=lambda fact: (not _falls(fact), fact["value"]))
    deepest = falls[0] if falls and _falls(falls[0]) else None
    return {
        "verdict": _misses_verdict(view, counted, falls),
        "levels": levels,
        "counted": counted,
        "only_level": len(counted) == 1,
        "falls": falls,
        "deepest": deepest,
        "caches": {name: view.caches.get(f"{name}_bytes") for name in ("l1d", "l2", "llc")},
        "compared": names,
        "costs": [fact for name in names if (fact := _cost(view, name))],
    }


def _cost(view: View, implementation: str) -> Facts | None:
    if not view.counted(view.cost_column):
        return None
    found = together(view, view.cube.pair(view.cost_column, implementation, BASELINE))
    return {"implementation": implementation} | found if found else None


def _status(view: View, level: str) -> str:
    column = view.per_byte(level)
    if counted_share(view.measured, column) > 0.0:
        return "counted"
    return "zero" if view.measured[column].notna().any() else "not_counted"


def _fall(view: View, level: str, implementation: str) -> Facts | None:
    column = view.per_byte(level)
    found = together(view, view.cube.pair(column, implementation, BASELINE))
    if found is None:
        return None
    verdicts = view.verdicts(column, implementation, BASELINE)
    cells = [row for row in records(verdicts) if row["n_pairs"]]
    lowest = min(cells, key=lambda row: row["ratio"])
    return (
        {"level": level, "implementation": implementation}
        | found
        | {"lowest": {name: lowest[name] for name in ("msg_bytes", "n_threads", "ratio")}}
    )


def _falls(fact: Facts) -> bool:
    return bool(fact["sign"] < 0 and not fact["contradict"])


def _misses_verdict(view: View, counted: list[str], falls: list[Facts]) -> str:
    if not view.is_measured:
        return "not_measured"
    if not counted:
        return "not_counted"
    if not falls:
        return "not_compared"
    return "fall" if _falls(falls[0]) else "no_fall"


# Up to so many implementations, each is explained in the text.
_FEW = 4


def contention_facts(view: View) -> Facts:
    """Return how throughput changes with the number of threads.

    Keys
    ----
    verdict: The course that all implementations share, else ``differs``; ``one_thread_count`` or
        ``not_measured`` where there is nothing to compare. A course is ``rises``, ``falls``,
        ``turns``, ``unsettled`` (see `copycost.stats.trend_tests.Course`), or ``by_size``: shown to
        rise at some sizes and to fall at others, so that nothing is told of the sizes together.
    groups: The implementations of which the same is told: implementations, course, told (changes
        that stand: fewer, more, sign), open_from (from this thread count on, none does; None where
        the last part is settled), fewest, most.
    explained: Of all implementations, or of many the two in which throughput grew least and most:
        the same, with the whole way from the fewest threads to the most; sizes shown to rise (`up`)
        and to fall (`down`); and `ways`: over which sizes (all, or those that rise, and those that
        fall) what the change consists of (`explained`, see `copycost.analysis.decomposition`).
    wholes: The whole ways over the sizes together, of the implementations whose sizes do not
        contradict each other.
    """
    rows = _rows(view)
    wholes = [
        {"implementation": row["implementation"]} | row["whole"]
        for row in rows
        if row["whole"]["n"] and row["course"] != "by_size"
    ]
    return {
        "verdict": _threads_verdict(view, rows),
        "groups": _groups(rows),
        "explained": _explained(rows),
        "observed_once": any(row["once"] for row in rows),
        "fewest": view.n_threads[0],
        "most": view.n_threads[-1],
        "wholes": wholes,
    }


def _explained(rows: Sequence[Facts]) -> list[Facts]:
    if len(rows) <= _FEW:
        return list(rows)
    known = [row for row in rows if row["whole"]["n"]]
    ordered = sorted(known, key=lambda row: float(row["whole"]["value"]))
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The changes of one implementation between all its thread counts, not yet tested."""

    counts: list[int]
    ratios: dict[tuple[int, int], Ratio]
    whole: pd.DataFrame
    """The whole way: log ratios by size and round."""


def _rows(view: View) -> list[Facts]:
    pairs = {name: _pairs(view, name) for name in view.implementations if view.has(name)}
    pairs = {name: found for name, found in pairs.items() if found.ratios}
    confidence = view.settings.confidence
    found_paths = paths({name: found.ratios for name, found in pairs.items()}, confidence)
    parted = _parted(view, {name: found.whole for name, found in pairs.items()})
    return [
        _row(view, name, found, found_paths[name], *parted[name]) for name, found in pairs.items()
    ]


def _parted(
    view: View, wholes: Mapping[str, pd.DataFrame]
) -> dict[str, tuple[list[int], list[int]]]:
    """Return, per implementation, sizes that are shown to rise, and to fall; none unless both are.

    Single sizes, or else the smaller ones together and the larger ones; either are tested together
    for all implementations.
    """
    found: dict[str, tuple[list[int], list[int]]] = {name: ([], []) for name in wholes}
    halves = [
        (name, half)
        for name, logs in wholes.items()
        for _, low, high in halves_of(logs)
        for half in (low, high)
    ]
    single = [(name, logs.iloc[[row]]) for name, logs in wholes.items() for row in range(len(logs))]
    for parts in (halves, single):
        ratios = [view.pooled(part) for _, part in parts]
        signs = settled_signs(ratios, view.settings.confidence)
        for name in wholes:
            ways: dict[int, list[int]] = {1: [], -1: [], 0: []}
            for (whose, part), sign in zip(parts, signs, strict=True):
                if whose == name:
                    ways[sign].extend(int(size) for size in part.index)
            if ways[1] and ways[-1]:
                found[name] = ways[1], ways[-1]
    return found


def _pairs(view: View, name: str) -> _Pairs:
    counts = sorted({int(value) for value in view.of(name)["n_threads"]})
    ratios = {
        (fewer, more): view.pooled(view.cube.threads(THROUGHPUT, name, more, fewer))
        for fewer, more in combinations(counts, 2)
    }
    return _Pairs(
        counts,
        {ends: ratio for ends, ratio in ratios.items() if ratio.n_pairs},
        view.cube.threads(THROUGHPUT, name, counts[-1], counts[0]),
    )


def _row(view: View, name: str, pairs: _Pairs, path: Path, up: list[int], down: list[int]) -> Facts:
    contradict = bool(up and down)
    fewest, most = pairs.counts[0], pairs.counts[-1]
    whole = view.pooled(view.cube.threads(THROUGHPUT, name, view.n_threads[-1], view.n_threads[0]))
    rounds = [ratio.n_pairs for ratio in pairs.ratios.values()]
    ways = [up, down] if contradict else [[int(size) for size in pairs.whole.index]]
    return {
        "implementation": name,
        "course": "by_size" if contradict else path.course.value,
        "told": [
            {"fewer": change.start, "more": change.end, "sign": change.sign}
            for change in path.told
            if not contradict
        ],
        "open_from": None if contradict else path.open_from,
        "fewest": fewest,
        "most": most,
        "whole": ratio_facts(whole),
        "up": up,
        "down": down,
        "once": 1 in rounds,
        "ways": [
            {"sizes": sizes, "explained": explain_threads(view, name, most, fewest, sizes)}
            for sizes in ways
        ],
    }


def _groups(rows: Sequence[Facts]) -> list[Facts]:
    groups: dict[str, Facts] = {}
    for row in rows:
        said = {
            key: row[key]
            for key in ("course", "told", "open_from", "fewest", "most", "up", "down")
            if row["course"] == "by_size" or key not in ("up", "down")
        }
        group = groups.setdefault(repr(said), said | {"implementations": []})
        group["implementations"].append(row["implementation"])
    return list(groups.values())


def _threads_verdict(view: View, rows: Sequence[Facts]) -> str:
    if not view.is_measured:
        return "not_measured"
    courses = {str(row["course"]) for row in rows}
    if not courses:
        return "one_thread_count"
    return courses.pop() if len(courses) == 1 else "differs"


def fastest_facts(view: View) -> Facts:
    """Return in how many cells zero_copy beat, or lost to, the copying implementations.

    Keys
    ----
    verdict: ``everywhere`` (beat every rival in every cell of the grid), ``somewhere``, ``nowhere``
        (lost to a rival in every cell of the grid), ``not_shown`` (never seen ahead, but not beaten
        everywhere either), ``not_measured``.
    rivals: The copying implementations that were measured.
    n_won, n_lost, n_open: Cells in which it beat all rivals, lost to at least one, or neither can
        be said.
    n_compared, n_cells: Cells compared with every rival, of those in the grid.
    slower, faster: The cells where less, and more, throughput than the first rival's stands (see
        `View.standing`): n_cells, and explained (what the difference consists of there, see
        `copycost.analysis.decomposition`); None where there is no such cell. Their intervals do not
        allow for the choice of the cells, so no text has them.
    """
    rivals = [name for name in (BASELINE, ONE) if view.has(name)] if view.has(ZERO) else []
    signs: dict[tuple[int, int], list[int]] = {}
    once = False
    for rival in rivals:
        for row in records(view.verdicts(THROUGHPUT, ZERO, rival)):
            if row["n_pairs"]:
                once = once or row["n_pairs"] == 1
                cell = (int(row["msg_bytes"]), int(row["n_threads"]))
                signs.setdefault(cell, []).append(sign_of(row))
    compared = {cell: found for cell, found in signs.items() if len(found) == len(rivals)}
    n_won = sum(min(found) > 0 for found in compared.values())
    n_lost = sum(min(found) < 0 for found in compared.values())
    n_cells = len(view.msg_bytes) * len(view.n_threads)
    return {
        "verdict": _fastest_verdict(len(compared), n_cells, n_won, n_lost),
        "observed_once": once,
        "rivals": rivals,
        "n_cells": n_cells,
        "n_compared": len(compared),
        "n_won": n_won,
        "n_lost": n_lost,
        "n_open": len(compared) - n_won - n_lost,
        "slower": _why(view, rivals, -1),
        "faster": _why(view, rivals, 1),
    }


def _why(view: View, rivals: Sequence[str], sign: int) -> Facts | None:
    """Return what explains the cells in which zero_copy differs from its first rival that way."""
    cells = view.standing(ZERO, rivals[0], sign) if rivals else []
    if not cells:
        return None
    return {"n_cells": len(cells), "explained": explain_pair(view, ZERO, rivals[0], cells)}


def _fastest_verdict(n_compared: int, n_cells: int, n_won: int, n_lost: int) -> str:
    if n_compared == 0:
        return "not_measured"
    if n_won == n_cells:
        return "everywhere"
    if n_won:
        return "somewhere"
    return "nowhere" if n_lost == n_cells else "not_shown"


def other_ways_facts(view: View, names: Sequence[str]) -> Facts:
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


def _ratio(view: View, metric: str, name: str, baseline: str) -> Facts | None:
    """Return a ratio over the cells together, and whether these contradict each other."""
    if not view.has(name, baseline) or not view.counted(metric):
        return None
    return together(view, view.cube.pair(metric, name, baseline))


def answer_questions(view: View) -> Facts:
    """Return crossovers, evidence and the answers of one condition.

    Keys
    ----
    crossovers: ``one_copy_vs_two_copy`` and ``zero_copy_vs_two_copy``, the answers to questions 4
        and 5, ``zero_copy_vs_one_copy``, and every other implementation's over two_copy.
    others: What there is to say of the other implementations.
    quantities, evidence: The measured quantities, and what each predicate over them says.
    questions: ``q1`` (why zero-copy is not always fastest), ``q2`` (cache misses), ``q3`` (threads
        and contention). ``q6``, what was unexpected, is of all conditions together: see
        `copycost.analysis.unexpected`.
    quality: How clean the measurements were.
    """
    found = quantities(view)
    others = [name for name in view.implementations if name not in (BASELINE, ONE, ZERO)]
    pairs = [(name, BASELINE) for name in (ONE, ZERO, *others)] + [(ZERO, ONE)]
    crossovers = {f"{a}_vs_{b}": crossover_facts(view, a, b) for a, b in pairs}
    return {
        "crossovers": crossovers,
        "quantities": {name: _plain(value) for name, value in found.items()},
        "evidence": weigh(found),
        "questions": {
            "q1": fastest_facts(view),
            "q2": cache_miss_facts(view),
            "q3": contention_facts(view),
        },
        "others": other_ways_facts(view, others),
        "quality": quality_facts(view),
    }


def _plain(found: Quantity) -> Facts | float | None:
    if isinstance(found, Ratio):
        return ratio_facts(found)
    return asdict(found) if isinstance(found, Disagreement) else found
