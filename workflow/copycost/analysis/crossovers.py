"""From which size on one implementation beats another, per thread count and over all of them."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.stats.crossover import Change, Crossover, Outcome, find_crossover
from copycost.stats.crossover_ratio import Along
from copycost.stats.settings import FloatArray


def crossover_facts(view: View, implementation: str, baseline: str) -> Facts:
    """Return everything that the text says about one pair's throughput.

    Keys
    ----
    overall
        The outcome that all thread counts share, else ``depends`` (``undecided`` where the
        others were not measured). `same_size` tells whether they also share its size; `sizes`
        has the sizes of ``from`` and ``up_to``.
    gaps
        Sizes without a difference, for some thread count, among those where these say better.
    by_threads, groups
        The outcome of each thread count, and the thread counts that share one.
    n_compared, n_better, n_worse, n_even
        Cells by the sign of their verdict; of `n_cells` in the grid.
    observed_once
        Whether some comparison rests on one round, so that signs carry no certainty.
    pooled, one_sided
        The ratio over the cells together, and whether no cell contradicts another: where one does,
        that ratio would only say which sizes the grid has most of.
    best, worst
        The cells with the highest and the lowest ratio.
    """
    logs = view.logs(THROUGHPUT, implementation, baseline)
    curves = {n: along_sizes_of(view, implementation, baseline, n) for n in view.n_threads}
    by_threads = _by_threads(view, curves)
    verdicts = view.verdicts(THROUGHPUT, implementation, baseline)
    compared = records(verdicts[verdicts["n_pairs"] > 0])
    signs = [sign_of(row) for row in compared]
    rounds = [row["n_pairs"] for row in compared]
    groups = _groups(by_threads)
    return {
        "implementation": implementation,
        "baseline": baseline,
        "overall": _overall(groups),
        "same_size": len({group["size_bytes"] for group in groups}) == 1,
        "sizes": sorted({group["size_bytes"] for group in groups if group["size_bytes"]}),
        "gaps": sorted({size for group in groups for size in group["gaps"]}),
        "by_threads": by_threads,
        "groups": groups,
        "n_cells": sum(len(curve.sizes) for curve in curves.values()),
        "n_compared": len(compared),
        "n_better": signs.count(1),
        "n_worse": signs.count(-1),
        "n_even": signs.count(0),
        "n_sure": sum(row["p_holm"] < 1.0 - view.settings.confidence for row in compared),
        "expected_by_chance": len(compared) * (1.0 - view.settings.confidence),
        "n_rounds": min(rounds, default=0),
        "n_rounds_max": max(rounds, default=0),
        "observed_once": 1 in rounds,
        "pooled": ratio_facts(view.pooled(logs)),
        "one_sided": not {1, -1} <= set(signs),
        "best": _extreme(compared, highest=True),
        "worst": _extreme(compared, highest=False),
    }


def cost_groups(view: View, implementation: str, baseline: str) -> list[Facts]:
    """Return the same groups of one pair's cost per byte, where better is cheaper."""
    column = view.cost_column
    if not view.counted(column):
        return []
    curves = {n: along_sizes_of(view, implementation, baseline, n, column) for n in view.n_threads}
    return _groups(_by_threads(view, curves))


def _by_threads(view: View, curves: Mapping[int, Along]) -> list[Facts]:
    return [
        {"n_threads": n}
        | _plain_crossover(find_crossover(dict(curve.log_ratios), curve.sizes, view.settings))
        for n, curve in curves.items()
    ]


def along_sizes_of(
    view: View, implementation: str, baseline: str, n_threads: int, metric: str = THROUGHPUT
) -> Along:
    """Return one pair along the sizes at a thread count, so that above 1 is better.

    Of a cost, where less is better, that is the baseline's over the implementation's.
    """
    logs = view.logs(metric, implementation, baseline)
    if metric != THROUGHPUT:
        logs = -logs
    per_size: dict[int, FloatArray] = {}
    if len(logs):
        rows = logs[logs.index.get_level_values("n_threads") == n_threads]
        for size, values in zip(
            rows.index.get_level_values("msg_bytes"), rows.to_numpy(np.float64), strict=True
        ):
            per_size[int(size)] = values
    return Along(per_size, view.sizes_at(n_threads, implementation, baseline))


def _plain_crossover(found: Crossover) -> Facts:
    changes = [_plain_change(change) for change in found.changes]
    single = found.outcome in (Outcome.FROM, Outcome.UP_TO)
    names = {1: "better", -1: "worse", 0: "even"}
    by_sign: Facts = {name: [] for name in names.values()}
    for stretch in found.stretches:
        by_sign[names[stretch.sign]].extend(stretch.sizes)
    return {
        "outcome": found.outcome.value,
        "observed_once": found.observed_once,
        "size_bytes": _size(found) if single else None,
        "change": changes[0] if single else None,
        "changes": changes,
        "stretches": [
            {"verdict": names[stretch.sign], "sizes": list(stretch.sizes)}
            for stretch in found.stretches
        ],
        "sizes": by_sign,
        "gaps": _gaps(found) if single else [],
        "lone": list(found.lone),
        "missing": list(found.missing),
        "share_inside": found.share_inside,
    }


def _gaps(found: Crossover) -> list[int]:
    """Return the sizes without a difference on the side that is better."""
    better = [stretch.sizes for stretch in found.stretches if stretch.sign > 0]
    even = [size for stretch in found.stretches if stretch.sign == 0 for size in stretch.sizes]
    return [size for size in even if better[0][0] < size < better[-1][-1]]


def _size(found: Crossover) -> int:
    change = found.changes[0]
    return change.above_bytes if found.outcome is Outcome.FROM else change.below_bytes


def _plain_change(change: Change) -> Facts:
    return {
        "gains": change.gains,
        "below_bytes": change.below_bytes,
        "above_bytes": change.above_bytes,
        "point_bytes": change.point_bytes,
        "low_bytes": change.low_bytes,
        "high_bytes": change.high_bytes,
        "has_interval": change.low_bytes is not None and change.high_bytes is not None,
    }


def _groups(by_threads: Sequence[Facts]) -> list[Facts]:
    """Return thread counts with the same outcome together, in the order of their first one."""
    groups: dict[str, Facts] = {}
    for row in by_threads:
        key = repr((row["outcome"], row["stretches"], row["missing"]))
        group = groups.setdefault(key, {name: row[name] for name in _SHARED} | {"members": []})
        group["members"].append(row)
    result = []
    for group in groups.values():
        members = group.pop("members")
        points = [row["change"]["point_bytes"] for row in members if row["change"]]
        result.append(
            group
            | {
                "n_threads": [row["n_threads"] for row in members],
                "observed_once": any(row["observed_once"] for row in members),
                "point_low_bytes": min(points) if points else None,
                "point_high_bytes": max(points) if points else None,
                "change": members[0]["change"] if len(members) == 1 else None,
                "changes": members[0]["changes"],
            }
        )
    return result


_SHARED = ("outcome", "size_bytes", "stretches", "sizes", "gaps", "lone", "missing")


def _overall(groups: Sequence[Facts]) -> str:
    """Return one word for all thread counts; `always` and `never` only if every one says so."""
    outcomes = {group["outcome"] for group in groups}
    if len(outcomes) == 1:
        return str(groups[0]["outcome"])
    return "undecided" if outcomes <= {"undecided", "not_measured"} else "depends"


def sign_of(row: Facts) -> int:
    """Return 1, -1 or 0 for better, worse, neither; with one round, by the ratio alone."""
    if row["verdict"] == "observed once":
        return int(np.sign(row["ratio"] - 1.0))
    return {"faster": 1, "slower": -1}.get(str(row["verdict"]), 0)


def records(table: pd.DataFrame) -> list[Facts]:
    """Return the rows of a table as mappings."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _extreme(compared: list[Facts], *, highest: bool) -> Facts | None:
    if not compared:
        return None
    pick = max if highest else min
    row = pick(compared, key=lambda candidate: candidate["ratio"])
    names = ("msg_bytes", "n_threads", "ratio", "low", "high", "n_pairs", "verdict")
    return {name: row[name] for name in names}
