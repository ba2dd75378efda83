"""From which size on one implementation beats another, per thread count and over all of them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.stats.crossover import Crossover, Outcome, find_crossover
from copycost.stats.ratios import Ratio, family_ratios, simultaneous_ratio
from copycost.stats.settings import FloatArray
from copycost.stats.trend_tests import reversals

_TURNING = (Outcome.FROM.value, Outcome.UP_TO.value)


def crossover_facts(view: View, implementation: str, baseline: str) -> Facts:
    """Return everything that the text says about one pair's throughput.

    Keys
    ----
    overall: The outcome that all thread counts share; ``depends`` where they do not and a size is
        shown to be won with some of them and lost with others; else ``undecided``.
    common: Of ``from`` and ``up_to``: sizes that are ``better`` and ``worse`` with every thread
        count, those that are ``open``, and ``all_sizes``, which are these; None otherwise.
    bracket: Of ``from`` and ``up_to``: below_bytes and above_bytes, between which the two change
        places with every thread count; None otherwise.
    reversals: Sizes that are shown to be won with some thread counts and lost with others:
        msg_bytes, and the thread counts whose own interval says ``better`` and ``worse``.
    by_threads, groups: The outcome of each thread count, and the thread counts that share one.
    n_compared, n_better, n_worse, n_even: Cells by the sign of their verdict; of `n_cells` in the
        grid.
    observed_once: Whether some comparison rests on one round, so that signs carry no certainty.
    pooled, one_sided: The ratio over the cells together, and whether no cell contradicts another:
        where one does, that ratio would only say which sizes the grid has most of.
    best, worst: The cells with the highest and the lowest ratio; their intervals allow for that
        choice.
    """
    logs = view.cube.pair(THROUGHPUT, implementation, baseline)
    by_threads = [
        {"n_threads": n} | _plain_crossover(crossover_of(view, implementation, baseline, n))
        for n in view.n_threads
    ]
    verdicts = view.verdicts(THROUGHPUT, implementation, baseline)
    compared = records(verdicts[verdicts["n_pairs"] > 0])
    signs = [sign_of(row) for row in compared]
    rounds = [row["n_pairs"] for row in compared]
    groups = _groups(by_threads)
    reversed_at = _reversals(view, logs, by_threads)
    common = _common(view, by_threads)
    return {
        "implementation": implementation,
        "baseline": baseline,
        "overall": _overall(groups, common, reversed_at),
        "common": common,
        "bracket": _bracket(by_threads) if common else None,
        "reversals": reversed_at,
        "by_threads": by_threads,
        "groups": groups,
        "n_cells": sum(len(view.sizes_at(n, implementation, baseline)) for n in view.n_threads),
        "n_compared": len(compared),
        "n_better": signs.count(1),
        "n_worse": signs.count(-1),
        "n_even": signs.count(0),
        "observed_once": 1 in rounds,
        "pooled": ratio_facts(view.pooled(logs)),
        "one_sided": not {1, -1} <= set(signs),
        "best": _extreme(view, logs, compared, max),
        "worst": _extreme(view, logs, compared, min),
    }


def crossover_of(
    view: View, implementation: str, baseline: str, n_threads: int, metric: str = THROUGHPUT
) -> Crossover:
    """Return what one pair does along the sizes at a thread count; above 1 is better.

    Of a cost, where less is better, the ratio is the baseline's over the implementation's.
    """
    logs = view.cube.pair(metric, implementation, baseline)
    if metric != THROUGHPUT:
        logs = -logs
    return find_crossover(
        by_size(logs, view.settings.confidence, n_threads),
        view.sizes_at(n_threads, implementation, baseline),
    )


def by_size(logs: pd.DataFrame, confidence: float, n_threads: int) -> dict[int, Ratio]:
    """Return the ratio at each size [bytes] with a thread count, judged among all cells."""
    ratios = zip(logs.index, family_ratios(logs.to_numpy(np.float64), confidence), strict=True)
    return {size: found for (size, n), found in ratios if n == n_threads}


def _plain_crossover(found: Crossover) -> Facts:
    changes = [asdict(change) for change in found.changes]
    names = {1: "better", -1: "worse", 0: "even"}
    by_sign: Facts = {name: [] for name in names.values()}
    for stretch in found.stretches:
        by_sign[names[stretch.sign]].extend(stretch.sizes)
    return {
        "outcome": found.outcome.value,
        "observed_once": found.observed_once,
        "change": changes[0] if found.outcome.value in _TURNING else None,
        "changes": changes,
        "stretches": [
            {"verdict": names[stretch.sign], "sizes": list(stretch.sizes)}
            for stretch in found.stretches
        ],
        "sizes": by_sign,
        "all_sizes": sorted((*found.sizes, *found.missing)),
        "lone": list(found.lone),
        "missing": list(found.missing),
    }


def _groups(by_threads: Sequence[Facts]) -> list[Facts]:
    """Return thread counts with the same outcome together, in the order of their first one."""
    groups: dict[str, Facts] = {}
    for row in by_threads:
        key = repr((row["outcome"], row["stretches"], row["missing"]))
        group = groups.setdefault(key, row | {"n_threads": [], "observed_once": False})
        group["n_threads"].append(row["n_threads"])
        group["observed_once"] = group["observed_once"] or row["observed_once"]
    return list(groups.values())


def _common(view: View, by_threads: Sequence[Facts]) -> Facts | None:
    """Return what sizes are with every thread count, where all turn the same way."""
    outcomes = {row["outcome"] for row in by_threads}
    if len(outcomes) != 1 or not outcomes.issubset(_TURNING):
        return None
    sizes = {size for row in by_threads for size in row["all_sizes"]}
    signs = {size: {_side(row, size) for row in by_threads} for size in sorted(sizes)}
    sides: Facts = {
        name: [size for size, found in signs.items() if found == {name}]
        for name in ("better", "worse")
    }
    if not all(sides.values()):
        return None  # each has its end of the grid missing
    # A size that was added for some thread counts tells nothing of the others.
    left_open = [
        size
        for size, found in signs.items()
        if len(found - {None}) > 1 or "even" in found or (None in found and size in view.msg_bytes)
    ]
    told = sorted((*sides["better"], *sides["worse"], *left_open))
    return sides | {"open": left_open, "all_sizes": told}


def _side(row: Facts, size: int) -> str | None:
    return next((name for name, sizes in row["sizes"].items() if size in sizes), None)


def _bracket(by_threads: Sequence[Facts]) -> Facts:
    return {
        "below_bytes": min(row["change"]["below_bytes"] for row in by_threads),
        "above_bytes": max(row["change"]["above_bytes"] for row in by_threads),
    }


def _reversals(view: View, logs: pd.DataFrame, by_threads: Sequence[Facts]) -> list[Facts]:
    """Return the sizes at which it depends on the number of threads which of two is better."""
    cells: dict[int, list[FloatArray]] = {}
    for size, values in zip(
        logs.index.get_level_values("msg_bytes"), logs.to_numpy(np.float64), strict=True
    ):
        cells.setdefault(int(size), []).append(values)
    return [
        {"msg_bytes": size}
        | {
            name: [row["n_threads"] for row in by_threads if size in row["sizes"][name]]
            for name in ("better", "worse")
        }
        for size in reversals(cells, view.settings.confidence)
    ]


def _overall(groups: Sequence[Facts], common: Facts | None, reversed_at: Sequence[Facts]) -> str:
    """Return one word for all thread counts.

    That they share an outcome needs no test of its own: each of them has it. That they differ
    takes more than that some are decided and others are not.
    """
    outcomes = {group["outcome"] for group in groups}
    if len(outcomes) == 1 and (common or not outcomes.issubset(_TURNING)):
        return str(groups[0]["outcome"])
    return "depends" if reversed_at else "undecided"


def sign_of(row: Facts) -> int:
    """Return 1, -1 or 0 for better, worse, neither; with one round, by the ratio alone."""
    if row["verdict"] == "observed once":
        return int(np.sign(row["ratio"] - 1.0))
    return {"faster": 1, "slower": -1}.get(str(row["verdict"]), 0)


def records(table: pd.DataFrame) -> list[Facts]:
    """Return the rows of a table as mappings."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _extreme(
    view: View, logs: pd.DataFrame, compared: list[Facts], pick: Callable[..., Facts]
) -> Facts | None:
    if not compared:
        return None
    row = pick(compared, key=lambda candidate: candidate["ratio"])
    rounds = logs.loc[(row["msg_bytes"], row["n_threads"])].to_numpy(np.float64)
    found = simultaneous_ratio(rounds, len(compared), view.settings.confidence)
    names = ("msg_bytes", "n_threads", "ratio", "n_pairs", "verdict")
    return {name: row[name] for name in names} | {"low": found.low, "high": found.high}
