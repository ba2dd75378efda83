"""From which size on one implementation beats another, per thread count and over all of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.evidence import ONE, ZERO, weigh
from copycost.analysis.finding import Finding
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.ratio_facts import estimate_of, extremes, over_cells
from copycost.analysis.stats.crossover import Crossover, Outcome, find_crossover
from copycost.analysis.stats.ratios import Ratio, family_ratios
from copycost.analysis.stats.settings import FloatArray
from copycost.analysis.stats.trend_tests import reversals

_TURNING = {Outcome.FROM, Outcome.UP_TO}


def condition_crossovers(view: View) -> Facts:
    """Return, by the pairs that published runs have, too, what throughputs do along the sizes."""
    return {
        f"{name}_vs_{BASELINE}": {
            "implementation": name,
            "baseline": BASELINE,
            "by_threads": [
                {"n_threads": n} | _along_sizes(crossover_of(view, name, BASELINE, n))
                for n in view.n_threads
            ],
        }
        for name in (ONE, ZERO)
    }


def find_crossovers(view: View) -> Iterator[Finding]:
    """Yield from which size on each way is faster than two copies, and what a byte costs.

    Its verdict is the outcome that all thread counts share; ``depends`` where they do not and a
    size is shown to be won with some of them and lost with others; else ``undecided``. The bracket
    lies between two sizes at which the two change places with every thread count; open sizes are
    neither better nor worse with every one. The ratio over the cells together is told where no cell
    contradicts another: else it would only say which sizes the grid has most of.
    """
    small = weigh(view, "message_cost_dominates")
    for name in view.implementations:
        compared = view.verdicts(name, BASELINE)
        if not compared:
            continue
        logs = view.cube.pair(THROUGHPUT, name, BASELINE)
        found = {n: crossover_of(view, name, BASELINE, n) for n in view.n_threads}
        signs = [sign_of(row) for row in compared]
        open_sizes = _open_sizes(view, found)
        about = Finding(
            question="crossover",
            condition=view.name,
            subject=name,
            reference=BASELINE,
            verdict=_overall(view, logs, found, open_sizes),
            n_cells=len(compared),
            n_better=signs.count(1),
            n_worse=signs.count(-1),
            correction="Holm, over sizes and thread counts",
        )
        reasons = [*extremes(about, logs, "cells", view.settings.confidence)]
        cost = view.cost_column
        if view.counted(cost) and (found_cost := view.together(cost, name, BASELINE)):
            told = over_cells(found_cost, "more", "less") | {"n_cells": len(compared)}
            reasons.append(replace(about, quantity=cost, correction="none", **told))
        if name == ONE and small["estimate"] is not None:
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
        if open_sizes is not None:
            changes = [one.changes[0] for one in found.values()]
            about = replace(
                about,
                open_bytes=tuple(open_sizes),
                below_bytes=min(change.below_bytes for change in changes),
                above_bytes=max(change.above_bytes for change in changes),
            )
        one_sided = not {1, -1} <= set(signs)
        whole = estimate_of(view.pooled(logs)) if one_sided else {}
        yield replace(about, reasons=tuple(reasons), **whole)


def crossover_of(view: View, implementation: str, baseline: str, n_threads: int) -> Crossover:
    """Return what one pair's throughput does along the sizes at a thread count."""
    logs = view.cube.pair(THROUGHPUT, implementation, baseline)
    return find_crossover(
        by_size(logs, view.settings.confidence, n_threads),
        view.sizes_at(n_threads, implementation, baseline),
    )


def by_size(logs: pd.DataFrame, confidence: float, n_threads: int) -> dict[int, Ratio]:
    """Return the ratio at each size [bytes] with a thread count, judged among all cells."""
    ratios = zip(logs.index, family_ratios(logs.to_numpy(np.float64), confidence), strict=True)
    return {size: found for (size, n), found in ratios if n == n_threads}


def _signs(found: Crossover) -> dict[int, int]:
    """Return what each size that was compared shows: 1 better, -1 worse, 0 neither."""
    return {size: stretch.sign for stretch in found.stretches for size in stretch.sizes}


def _along_sizes(found: Crossover) -> Facts:
    signs = _signs(found)
    return {
        "outcome": found.outcome.value,
        "observed_once": found.observed_once,
        "sizes": {
            name: [size for size, one in signs.items() if one == sign]
            for name, sign in (("better", 1), ("worse", -1), ("even", 0))
        },
        "all_sizes": sorted((*found.sizes, *found.missing)),
        "missing": list(found.missing),
    }


def _open_sizes(view: View, found: Mapping[int, Crossover]) -> list[int] | None:
    """Return sizes that some thread count leaves open, where all of these turn the same way."""
    outcomes = {one.outcome for one in found.values()}
    if len(outcomes) != 1 or not outcomes <= _TURNING:
        return None
    sizes = {size for one in found.values() for size in (*one.sizes, *one.missing)}
    by_threads = [_signs(one) for one in found.values()]
    signs = {size: {one.get(size) for one in by_threads} for size in sorted(sizes)}
    if {1} not in signs.values() or {-1} not in signs.values():
        return None  # each has its end of the grid missing
    # A size that was added for some thread counts tells nothing of the others.
    return [
        size
        for size, here in signs.items()
        if len(here - {None}) > 1 or 0 in here or (None in here and size in view.msg_bytes)
    ]


def _overall(
    view: View, logs: pd.DataFrame, found: Mapping[int, Crossover], open_sizes: list[int] | None
) -> str:
    """Return one word for all thread counts.

    That they share an outcome needs no test of its own: each of them has it. That they differ
    takes more than that some are decided and others are not.
    """
    outcomes = {one.outcome for one in found.values()}
    if len(outcomes) == 1 and (open_sizes is not None or not outcomes <= _TURNING):
        return outcomes.pop().value
    cells: dict[int, list[FloatArray]] = defaultdict(list)
    for (size, _), rounds in zip(logs.index, logs.to_numpy(np.float64), strict=True):
        cells[int(size)].append(rounds)
    return "depends" if reversals(cells, view.settings.confidence) else "undecided"


def sign_of(row: Facts) -> int:
    """Return 1, -1 or 0 for better, worse, neither; with one round, by the ratio alone."""
    if row["verdict"] == "observed once":
        return int(np.sign(row["ratio"] - 1.0))
    return {"faster": 1, "slower": -1}.get(str(row["verdict"]), 0)
