"""Where the kernel really did not copy: which conditions, what they show, cold against hot."""

from collections.abc import Mapping

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import crossover_of
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.missing import why_lost
from copycost.analysis.quantities import NOT_COPIED_SHARE, copied_share, really_not_copied
from copycost.config.capabilities import capability_of, split_implementation
from copycost.stats.crossover import Crossover, CrossoverRatio, Outcome, crossover_ratio
from copycost.stats.ratios import Direction


def real_zero_copy_facts(views: Mapping[str, View]) -> Facts:
    """Return where zero-copy sends were sent without a copy, and whether cold crosses earlier.

    Keys
    ----
    status
        ``measured`` (in some condition), ``copied`` (zero-copy was measured, but the kernel
        copied), ``not_told`` (it was measured, and the kernel did not say), ``not_measured``
        (no zero-copy send was measured).
    pairs
        Condition and implementation where at most `NOT_COPIED_SHARE` of the completions were
        marked as copied: slug, implementation, copied_share, sender_only.
    copied
        The same where more were: slug, implementation, copied_share.
    lost
        Conditions with nobody to copy for that were asked for and not measured: slug, n, reason,
        remedy.
    alone
        Conditions with nobody to copy for.
    cold_beside_hot
        Per testbed, implementation, thread count and measure; see `_cold_beside_hot`.
    """
    real: list[Facts] = []
    copied: list[Facts] = []
    n_unknown = 0
    for view in views.values():
        for name in zero_copy_implementations(view):
            share = copied_share(view.of(name))
            if share is None:
                n_unknown += 1
                continue
            facts = {"slug": view.name, "implementation": name, "copied_share": share}
            if share > NOT_COPIED_SHARE:
                copied.append(facts)
            else:
                real.append(facts | {"sender_only": view.sender_only})
    rows = [row for view in views.values() for row in _cold_beside_hot(view)]
    return {
        "status": _status(len(real), len(copied), n_unknown),
        "pairs": real,
        "copied": copied,
        "lost": [
            {"slug": view.name, "n": len(view.rows)} | why_lost(view.rows)
            for view in views.values()
            if view.sender_only and view.lost
        ],
        "alone": [view.name for view in views.values() if view.sender_only],
        "cold_beside_hot": rows,
    }


def zero_copy_implementations(view: View) -> list[str]:
    """Return the measured implementations that ask the kernel not to copy."""
    return [
        name
        for name in view.implementations
        if capability_of(split_implementation(name)[0]).zero_copy and view.has(name)
    ]


def _status(n_real: int, n_copied: int, n_unknown: int) -> str:
    if n_real:
        return "measured"
    if n_copied:
        return "copied"
    return "not_told" if n_unknown else "not_measured"


def _cold_beside_hot(view: View) -> list[Facts]:
    """Return, where zero-copy beats two_copy, how that size depends on where the bytes lie.

    Keys
    ----
    slug, hot, implementation, n_threads, measure
        What is compared: the condition, and the one that is hot; by ``throughput`` or ``cost``,
        where that says more.
    verdict
        ``smaller``, ``larger``, ``no_difference`` (of the crossover under `slug` against the hot
        one; by their brackets, which overlap where no difference is told), ``same`` (neither has
        one inside the grid, for the same reason), ``untested``.
    outcomes
        The shape of the comparison under `slug` and where it is hot.
    observed_once
        Whether some size was measured in one round only.
    brackets
        Of both, below_bytes and above_bytes, between which the two change places; None unless both
        are found.
    ratio_low, ratio_high
        What the first of the two sizes over the second lies between; None like these.
    """
    if view.hot is None:
        return []
    rows = []
    for name in zero_copy_implementations(view):
        if not all(really_not_copied(one.of(name)) for one in (view, view.hot)):
            continue
        for n_threads in view.n_threads:
            if n_threads not in view.hot.n_threads:
                continue
            where = {"slug": view.name, "hot": view.hot.name, "implementation": name}
            for measure, metric in (("throughput", THROUGHPUT), ("cost", view.cost_column)):
                if measure == "cost" and view.cost_is_throughput:
                    continue
                if view.counted(metric) and view.hot.counted(metric):
                    what = {"n_threads": n_threads, "measure": measure}
                    row = _compared(view, view.hot, name, n_threads, metric)
                    rows.append(where | what | row)
    return rows


def _compared(view: View, hot_view: View, name: str, n_threads: int, metric: str) -> Facts:
    crossovers = [crossover_of(one, name, BASELINE, n_threads, metric) for one in (view, hot_view)]
    found = crossover_ratio(*crossovers)
    outcomes = [crossover.outcome for crossover in crossovers]
    return {
        "verdict": _verdict(found, *outcomes),
        "outcomes": [outcome.value for outcome in outcomes],
        "observed_once": any(crossover.observed_once for crossover in crossovers),
        "brackets": [_bracket(one) for one in crossovers] if found else None,
        "ratio_low": found.low if found else None,
        "ratio_high": found.high if found else None,
    }


def _bracket(found: Crossover) -> Facts:
    change = found.changes[0]
    return {"below_bytes": change.below_bytes, "above_bytes": change.above_bytes}


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
