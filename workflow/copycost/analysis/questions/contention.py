"""Question 3: how threads and contention for the caches interact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.decomposition import explain_threads
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.pooled_ratio import halves_of
from copycost.analysis.ratio_facts import ratio_facts
from copycost.stats.ratios import Ratio
from copycost.stats.trend_tests import Path, paths, settled_signs

# Up to so many implementations, each is explained in the text.
_FEW = 4


def contention_facts(view: View) -> Facts:
    """Return how throughput changes with the number of threads.

    Keys
    ----
    verdict
        The course that all implementations share, else ``differs``; ``one_thread_count`` or
        ``not_measured`` where there is nothing to compare. A course is ``rises``, ``falls``,
        ``turns``, ``unsettled`` (see `copycost.stats.trend_tests.Course`), or ``by_size``: shown to
        rise at some sizes and to fall at others, so that nothing is told of the sizes together.
    groups
        The implementations of which the same is told: implementations, course, told (changes that
        stand: fewer, more, sign), open_from (from this thread count on, none does; None where the
        last part is settled), fewest, most.
    explained
        Of all implementations, or of many the two in which throughput grew least and most: the
        same, with the whole way from the fewest threads to the most; sizes shown to rise (`up`)
        and to fall (`down`); and `ways`: over which sizes (all, or those that rise, and those that
        fall) what the change consists of (`explained`, see `copycost.analysis.decomposition`).
    wholes
        The whole ways over the sizes together, of the implementations whose sizes do not contradict
        each other.
    """
    rows = _rows(view)
    wholes = [
        {"implementation": row["implementation"]} | row["whole"]
        for row in rows
        if row["whole"]["n"] and row["course"] != "by_size"
    ]
    return {
        "verdict": _verdict(view, rows),
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
    ordered = sorted(
        (row for row in rows if row["whole"]["n"]), key=lambda row: _value(row["whole"])
    )
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered


def _value(fact: Facts) -> float:
    return float(fact["value"])


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
    for parts_of in (_halves, _single):
        parts = [(name, part) for name, logs in wholes.items() for part in parts_of(logs)]
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


def _halves(logs: pd.DataFrame) -> list[pd.DataFrame]:
    return [half for _, low, high in halves_of(logs) for half in (low, high)]


def _single(logs: pd.DataFrame) -> list[pd.DataFrame]:
    return [logs.iloc[[row]] for row in range(len(logs))]


def _pairs(view: View, name: str) -> _Pairs:
    counts = sorted({int(value) for value in view.of(name)["n_threads"]})
    ratios = {
        (fewer, more): view.pooled(view.thread_logs(THROUGHPUT, name, more, fewer))
        for fewer, more in combinations(counts, 2)
    }
    return _Pairs(
        counts,
        {ends: ratio for ends, ratio in ratios.items() if ratio.n_pairs},
        view.thread_logs(THROUGHPUT, name, counts[-1], counts[0]),
    )


def _row(view: View, name: str, pairs: _Pairs, path: Path, up: list[int], down: list[int]) -> Facts:
    contradict = bool(up and down)
    fewest, most = pairs.counts[0], pairs.counts[-1]
    whole = view.pooled(view.thread_logs(THROUGHPUT, name, view.n_threads[-1], view.n_threads[0]))
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


def _verdict(view: View, rows: Sequence[Facts]) -> str:
    if not view.is_measured:
        return "not_measured"
    courses = {str(row["course"]) for row in rows}
    if not courses:
        return "one_thread_count"
    return courses.pop() if len(courses) == 1 else "differs"
