"""From which size on one implementation beats another, per thread count and over all of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.evidence import DOMINATING, ONE, ZERO, small_message_cost, weigh
from copycost.analysis.finding import Finding
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.ratio_facts import estimate_of, extremes, over_cells
from copycost.analysis.stats.crossover import Crossover, Outcome, find_crossover
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
                {"n_threads": n} | _along_sizes(found)
                for n, found in crossovers_of(view, name).items()
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
    small = weigh(small_message_cost(view), at_least=DOMINATING)
    for name in view.implementations:
        logs = view.cube.pair(THROUGHPUT, name, BASELINE)
        if name == BASELINE or logs.empty:
            continue
        found = crossovers_of(view, name)
        signs = [sign for one in found.values() for sign in one.signs.values()]
        open_sizes = _open_sizes(view, found)
        about = Finding(
            question="crossover",
            condition=view.name,
            subject=name,
            reference=BASELINE,
            verdict=_overall(view, logs, found, open_sizes),
            n_cells=len(signs),
            n_better=signs.count(1),
            n_worse=signs.count(-1),
            correction="Holm, over sizes and thread counts",
        )
        reasons = [*extremes(about, logs, "cells", view.settings.confidence)]
        cost = view.cost_column
        if view.counted(cost) and (found_cost := view.together(cost, name, BASELINE)):
            told = over_cells(found_cost, "more", "less") | {"n_cells": len(signs)}
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


def crossovers_of(view: View, implementation: str) -> dict[int, Crossover]:
    """Return what throughput over two copies does along the sizes, by thread count."""
    ratios = view.cell_ratios(implementation, BASELINE)
    return {
        n: find_crossover(
            {size: one for (size, n_threads), one in ratios.items() if n_threads == n},
            view.sizes_at(n, implementation, BASELINE),
        )
        for n in view.n_threads
    }


def _along_sizes(found: Crossover) -> Facts:
    return {
        "outcome": found.outcome.value,
        "observed_once": found.observed_once,
        "sizes": {
            name: [size for size, one in found.signs.items() if one == sign]
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
    signs = {size: {one.signs.get(size) for one in found.values()} for size in sorted(sizes)}
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
