"""The six questions as the report answers them: a sentence of the findings, and a table of them.

What is alike is said once, what differs is a row, and what is not settled is a number.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from copycost.analysis.finding import COPIED_SHARE, MEAN, NOT_COPIED_SHARE, Finding, of
from copycost.config.strategy_capabilities import BASELINE
from copycost.records.columns import THROUGHPUT
from copycost.wording.filters import (
    impl,
    join_and,
    n_threads,
    percent,
    ratio,
    sentence,
    size,
    sizes,
    span,
)
from copycost.wording.markdown import Table, code, grouped, tabulate
from copycost.wording.number_sources import number_of
from copycost.wording.values import NONE, Facts, cache, with_interval
from copycost.wording.words import plural

Findings = Sequence[Finding]
Cell = Callable[[Finding], str]

_CPU = "cpu_ns_per_byte"


def _table(found: Findings, columns: Mapping[str, Cell]) -> Table:
    """Return a table that has a row per finding, grouped by condition."""
    return grouped(tabulate(found, {"Condition": lambda one: code(one.condition), **columns}))


def _estimate(one: Finding | None, form: Callable[[float], str] = ratio) -> str:
    return NONE if one is None or one.estimate is None else form(one.estimate)


def _times(one: Finding | None) -> str:
    return NONE if one is None else with_interval(one.estimate, one.low, one.high)


def _reason(quantity: str, form: Callable[[float], str] = ratio) -> Cell:
    """Return a column that has the estimate of one of the reasons."""
    return lambda one: _estimate(one.reason(quantity), form)


def _way(one: Finding) -> str:
    return impl(one.subject)


def _codes(slugs: Iterable[str]) -> str:
    return join_and(map(code, slugs))


def _part(some: int, whole: int) -> str:
    """Return how many of a whole in a sentence: ``none``, ``all``, ``3``."""
    return {0: "none", whole: "all"}.get(some, str(some))


def _totals(found: Findings) -> tuple[int, int, int]:
    """Return the numbers of cells, of those that are better, and of those that are worse."""
    counts = ((one.n_cells, one.n_better, one.n_worse) for one in found)
    n, better, worse = (sum(filter(None, column)) for column in zip(*counts, strict=True))
    return n, better, worse


def zero_copy_answer(findings: Findings) -> str:
    """Return why zero-copy is not always the fastest: how often it was, and what became of it."""
    found = of(findings, "zero_copy")
    if not found:
        return "`zero_copy` and a way that copies were not both measured in any cell."
    n, won, lost = _totals(found)
    prices = [price for one in found if one.n_worse and (price := one.reason(_CPU)) is not None]
    dearer = [price.estimate for price in prices if price.estimate is not None]
    rivals = {price.reference for price in prices}
    cells, won_in, lost_in = plural(n, "cell"), _part(won, n), _part(lost, n)
    if lost and dearer and min(dearer) > 1.0 and len(rivals) == 1:
        said = (
            f"`zero_copy` was slower than a way that copies in {lost_in} of {cells}, where "
            f"a byte took {span(min(dearer), max(dearer))} times as much CPU time as with "
            f"{code(rivals.pop())}, and faster than all of them in {won_in}."
        )
    else:
        said = (
            f"`zero_copy` was faster than every way that copies in {won_in} of {cells}, and "
            f"slower than one of them in {lost_in}."
        )
    fates: dict[str, list[str]] = {}
    for slug, share in {one.condition: one.reasons[0].estimate for one in found}.items():
        fates.setdefault(_fate(share), []).append(slug)
    return " ".join([said, *(f"On {_codes(slugs)} {fate}." for fate, slugs in fates.items())])


def _fate(copied_share: float | None) -> str:
    """Return what became of zero-copy sends."""
    if copied_share is None:
        return "it is not known whether the kernel copied"
    if copied_share >= COPIED_SHARE:
        return (
            "the kernel copied after all: the sender makes the same copy as `one_copy`, and also "
            "pays for pinning pages and for notifications"
        )
    if copied_share <= NOT_COPIED_SHARE:
        return "the copy was really avoided"
    return f"the kernel copied {percent(copied_share)} of the sends"


def zero_copy_table(findings: Findings) -> Table:
    """Return, by condition, where zero-copy was ahead, and what the difference consists of."""
    columns: Mapping[str, Cell] = {
        "Compared with": lambda one: " or ".join(map(impl, one.reference.split(" or "))),
        ">Faster": lambda one: f"{one.n_better} of {one.n_cells}",
        ">Slower": lambda one: f"{one.n_worse}",
        ">Copied after all": _reason("copied_share", percent),
        ">Throughput": _reason(THROUGHPUT),
        ">CPU time per byte": _reason(_CPU),
        ">CPUs in use": _reason("cpus_in_use"),
    }
    return _table(of(findings, "zero_copy"), columns)


def misses_answer(findings: Findings) -> str:
    """Return which level's misses fell most under each condition; nothing where none counted.

    The one that fell most is picked, so its interval, which does not allow for that, is not told.
    """
    found = of(findings, "misses")
    fewer = [one for one in found if one.verdict == "fewer" and one.estimate and (one.n or 0) > 1]
    if found and not fewer:
        return "No level's misses per byte are shown to fall with fewer copies."
    said: dict[str, list[str]] = {}
    for slug, here in groupby(fewer, key=lambda one: one.condition):
        most = min(here, key=lambda one: one.estimate or 1.0)
        said.setdefault(_cache(most), []).append(
            f"on {code(slug)}, with {impl(most.subject)} to {ratio(most.estimate or 0)} times "
            "those of `two_copy`"
        )
    return " ".join(
        f"The misses of {level} fell most {join_and(where)}." for level, where in said.items()
    )


def misses_table(findings: Findings) -> Table:
    """Return how misses per byte differ from those of two copies; nothing where none counted."""
    columns: Mapping[str, Cell] = {
        "Misses of the": lambda one: _cache(one).removeprefix("the "),
        "With": _way,
        ">Times `two_copy`": _times,
        ">Verdict": lambda one: one.verdict,
        ">Beyond the L1 data cache": lambda one: _times(one.reason("beyond_l1d")),
    }
    return _table(of(findings, "misses"), columns)


def _cache(one: Finding) -> str:
    return cache(one.quantity.removesuffix("_per_byte"))


_COURSES = {
    "rises": "rose",
    "falls": "fell",
    "turns": "changed direction",
    "by_size": "rose at some sizes and fell at others",
    "unsettled": "is open",
}


def threads_answer(findings: Findings, courses: Facts) -> str:
    """Return what more threads do to throughput, and what is known of contention for caches."""
    found = of(findings, "threads")
    if not found:
        return "No way was measured with more than one number of threads."
    fewest, most = min(one.n_threads[0] for one in found), max(one.n_threads[-1] for one in found)
    parts = [
        f"{words} in {_part(courses[verdict], courses['n'])}"
        for verdict, words in _COURSES.items()
        if courses.get(verdict)
    ]
    changes = (
        f"from {fewest} to {plural(most, 'thread')}, throughput {join_and(parts)} of "
        f"{plural(courses['n'], 'combination')} of condition and way."
    )
    # the same of all ways of a condition
    firsts = {one.condition: one for one in reversed(found)}
    said, is_known = [], False
    for level, words in (("l1d", "L1 data cache"), ("llc", "last-level cache")):
        slugs: dict[str, list[str]] = {"shown": [], "contradicted": []}
        for slug in dict.fromkeys(one.condition for one in found):
            if reason := firsts[slug].reason(f"{level}_load_misses_per_byte"):
                is_known = True
                slugs.setdefault(reason.verdict, []).append(slug)
        told = [f"grew on {_codes(slugs['shown'])}"] if slugs["shown"] else []
        if slugs["contradicted"]:
            told.append(f"did not grow on {_codes(slugs['contradicted'])}")
        if told:
            said.append(f"Misses of the {words} per byte {join_and(told)}.")
    if not is_known:
        return (
            "Whether threads evict each other's bytes from the caches is not known, since this run "
            f"has no counts of misses; {changes}"
        )
    return " ".join([sentence(changes), *said])


def threads_table(findings: Findings) -> Table:
    """Return each way's throughput with the most threads over that with the fewest."""

    def by_size(one: Finding) -> str:
        ends = [one.reason(f"{THROUGHPUT} ({which})") for which in ("worst", "best")]
        return " to ".join(_place(end) for end in ends if end) or NONE

    columns: Mapping[str, Cell] = {
        "Way": _way,
        ">Threads": lambda one: " to ".join(map(str, one.n_threads)),
        ">Throughput": _times,
        ">Verdict": lambda one: _COURSES[one.verdict],
        ">By size": by_size,
        ">CPU time per byte": _reason(_CPU),
        ">CPUs in use": _reason("cpus_in_use"),
        ">Context switches": lambda one: _times(one.reason("context_switches_per_message")),
    }
    return _table(of(findings, "threads"), columns)


def _place(one: Finding) -> str:
    """Return a ratio and its size: ``1.04 at 1 MiB``."""
    return f"{_estimate(one)} at {size(one.msg_bytes[0])}"


def crossover_answer(findings: Findings, way: str) -> str:
    """Return from which size on a way is faster than two copies, said once for what is alike."""
    found = [
        one for one in of(findings, "crossover") if (one.subject, one.reference) == (way, BASELINE)
    ]
    if not found:
        return f"{impl(way)} and `two_copy` were not both measured in any cell."
    by_words: dict[str, list[Finding]] = {}
    for one in found:
        by_words.setdefault(_from_where(one), []).append(one)
    left = by_words.pop("", [])
    told = [
        f"{words} on {_codes(one.condition for one in alike)}" for words, alike in by_words.items()
    ]
    said = [f"{impl(way)} is faster than `two_copy` {'; '.join(told)}."] if told else []
    if left:
        n, won, lost = _totals(left)
        said.append(
            f"On {_codes(one.condition for one in left)} this run settles no size for all "
            f"numbers of threads: of {plural(n, 'cell')}, {impl(way)} was faster "
            f"in {_part(won, n)} and slower in {_part(lost, n)}."
        )
    return " ".join(said)


def message_cost(findings: Findings) -> str:
    """Return where small messages take more for themselves than for their bytes, if anywhere."""
    costs = [one.reason("small_message_cost") for one in of(findings, "crossover")]
    found = [cost for cost in costs if cost and cost.verdict == "shown"]
    if not found:
        return ""
    values = [one.estimate or 0.0 for one in found]
    return (
        f"A byte of the smallest messages took {span(min(values), max(values))} times the CPU time "
        f"of a byte of the largest on {_codes([one.condition for one in found])}, so most of the "
        "cost of a small message is not the copying of its bytes."
    )


def crossover_table(findings: Findings) -> Table:
    """Return from which size on each way is faster than the one that it is compared with."""
    unsettled = {
        "undecided": "open",
        "depends": "depends on the threads",
        "cells disagree": "in some cells",
    }

    def end(which: str) -> Cell:
        def place(one: Finding) -> str:
            found = one.reason(f"{THROUGHPUT} ({which})")
            times = "\N{MULTIPLICATION SIGN}"
            return f"{_place(found)} {times} {found.n_threads[0]}" if found else NONE

        return place

    def cost(one: Finding) -> str:
        price = next((it for it in one.reasons if re.search("cpu_ns|cycles", it.quantity)), None)
        if price is not None and price.estimate is None:
            return f"less in {price.n_better}, more in {price.n_worse}"
        return _times(price)

    columns: Mapping[str, Cell] = {
        "Way": lambda one: (
            _way(one) if one.reference == BASELINE else f"{_way(one)} over {impl(one.reference)}"
        ),
        "Faster than `two_copy`": lambda one: (
            _from_where(one).rstrip(",") or unsettled.get(one.verdict, one.verdict)
        ),
        ">Faster, slower": lambda one: f"{one.n_better}, {one.n_worse} of {one.n_cells}",
        ">Lowest ratio": end("worst"),
        ">Highest ratio": end("best"),
        ">Together": _times,
        ">Cost per byte": cost,
    }
    return _table(of(findings, "crossover"), columns)


_SHAPES = {
    "always": "at every size",
    "never": "at no size",
    "mixed": "at some sizes, with more than one change",
}


def _from_where(one: Finding) -> str:
    """Return from which size on a way is faster, nothing where that is open."""
    if one.verdict in _SHAPES:
        return _SHAPES[one.verdict]
    if one.below_bytes is None or one.above_bytes is None:
        return ""
    between = span(one.below_bytes, one.above_bytes, size, "and")
    left = f", {sizes(one.open_bytes)} open," if one.open_bytes else ""
    return f"{'from' if one.verdict == 'from' else 'up to'} a size between {between}{left}"


def expectations_answer(findings: Findings) -> str:
    """Return the expectation that was violated most, or that none was."""
    found = of(findings, "expectation")
    if not found:
        return "No expectation could be tested: nothing relevant was measured."
    violated = [one for one in found if one.verdict == "violated"]
    if not violated:
        n, _, _ = _totals(found)
        none = f"no expectation was violated, in {plural(n, 'comparison')}"
        if not any(one.verdict == "once" for one in found):
            return f"Nothing: {none}."
        once = "comparisons made only once contradict some"
        return f"Nothing that this run settles: {none}, but {once}."
    worst = max(violated, key=_mean)
    several = len({one.subject for one in violated}) > 1
    return (
        f"*{worst.reference}* was expected, and contradicted on {code(worst.condition)} by "
        f"{worst.n_worse} of {plural(worst.n_cells or 0, 'comparison')}"
        f"{'; of those that were violated, this one most' if several else ''}."
    )


def expectations_table(findings: Findings) -> Table:
    """Return how each expectation fared over all conditions, those first that were violated.

    The strongest contradiction is that under the condition that contradicts most.
    """
    by_name: dict[str, list[Finding]] = {}
    for one in of(findings, "expectation"):
        by_name.setdefault(one.subject, []).append(one)
    rows = []
    for found in by_name.values():
        n, better, worse = _totals(found)
        most = max(found, key=_mean)
        case = next(iter(most.reasons), None)
        strongest = f"{_times(case)}: {code(most.condition)}, {_case(case)}" if case else NONE
        counts = (str(better), str(n - better - worse), str(worse))
        rows.append((worse, [found[0].reference, *counts, strongest]))
    rows.sort(key=lambda row: -row[0])
    titles = ["Expected", ">Confirm", ">No difference", ">Contradict", "Strongest contradiction"]
    return titles, [cells for _, cells in rows]


def _mean(one: Finding) -> float:
    """Return by how much an expectation is violated as a mean over all its comparisons."""
    found = one.reason(MEAN)
    return 0.0 if found is None or found.estimate is None else found.estimate


def _case(one: Finding) -> str:
    """Return what a comparison is of: ```one_copy` against `two_copy`, 16 KiB, 2 threads``."""
    parts = [" against ".join(impl(name) for name in (one.subject, one.reference) if name)]
    if one.reference_condition:
        parts.append(f"compared with {code(one.reference_condition)}")
    for values, form in ((one.msg_bytes, size), (one.n_threads, lambda n: n_threads([n]))):
        if values:
            parts.append(" to ".join(map(form, values)))
    return ", ".join(parts)


def quality_table(facts: Facts) -> Table:
    """Return how clean the cells of each condition were."""

    def flagged(quality: Facts) -> str:
        found = [one for one in quality["gates"] if one["n_cells"]]
        return ", ".join(f"{one['id'].replace('_', ' ')} {one['n_cells']}" for one in found) or NONE

    def changed(quality: Facts) -> str:
        without = quality["without_flagged"]
        if without["status"] == "compared":
            return f"{without['n_changed']} of {without['n_compared']}"
        return f"{without['status']} flagged"

    slugs = facts["measured_conditions"]
    return tabulate(
        [{**facts["conditions"][slug]["quality"], "slug": slug} for slug in slugs],
        {
            "Condition": lambda quality: code(quality["slug"]),
            "Clean cells": lambda quality: f"{quality['n_clean']} of {quality['n_cells']}",
            "Cells flagged": flagged,
            ">Repetitions disturbed": lambda it: f"{it['n_warned']} of {it['n_measured']}",
            ">Verdicts changed without": changed,
            ">Two modes": lambda it: (
                str(number_of(it["modes"])) if it["modes_told"] else "not known"
            ),
        },
    )
