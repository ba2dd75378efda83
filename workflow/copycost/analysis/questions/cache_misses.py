"""Question 2: which cache level's misses fall most with fewer copies, and why it might."""

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import records
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, counted_share
from copycost.analysis.pooled_ratio import together
from copycost.analysis.quantities import ONE, ZERO
from copycost.perf.events import MISS_LEVELS

# What a generic "cache miss" means differs between processors, so it is no level of its own.
_LEVELS = MISS_LEVELS[:2]


def cache_miss_facts(view: View) -> Facts:
    """Return how the misses per byte of each level changed against two_copy.

    Keys
    ----
    verdict
        ``fall`` (some level's misses fell), ``no_fall``, ``not_counted``, ``not_compared`` (no
        two implementations to compare), ``not_measured``.
    levels
        Per level: status ``counted``, ``zero`` (reads 0 in every repetition: not a measurement)
        or ``not_counted``; and its falls.
    falls
        Per level and implementation the ratio over all cells, and whether these contradict each
        other (see `copycost.analysis.pooled_ratio`), deepest first; with the cell with the lowest.
    deepest
        The first of them, if it is a fall that no cells contradict.
    only_level
        True where a single level was counted, so that "most" means little.
    caches
        Sizes of the host's caches [bytes].
    costs
        The same of what a byte cost, per implementation: what is left to tell where misses were not
        counted.
    """
    levels = {level: _status(view, level) for level in _LEVELS}
    counted = [level for level, status in levels.items() if status == "counted"]
    names = [name for name in (ONE, ZERO) if view.has(name, BASELINE)]
    falls = [fact for level in counted for name in names if (fact := _fall(view, level, name))]
    falls.sort(key=lambda fact: (not _falls(fact), fact["value"]))
    deepest = falls[0] if falls and _falls(falls[0]) else None
    return {
        "verdict": _verdict(view, counted, falls),
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
    found = together(view, view.logs(view.cost_column, implementation, BASELINE))
    return {"implementation": implementation} | found if found else None


def _status(view: View, level: str) -> str:
    column = view.per_byte(level)
    if counted_share(view.measured, column) > 0.0:
        return "counted"
    return "zero" if view.measured[column].notna().any() else "not_counted"


def _fall(view: View, level: str, implementation: str) -> Facts | None:
    column = view.per_byte(level)
    found = together(view, view.logs(column, implementation, BASELINE))
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


def _verdict(view: View, counted: list[str], falls: list[Facts]) -> str:
    if not view.is_measured:
        return "not_measured"
    if not counted:
        return "not_counted"
    if not falls:
        return "not_compared"
    return "fall" if _falls(falls[0]) else "no_fall"
