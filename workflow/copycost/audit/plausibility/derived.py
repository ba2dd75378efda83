"""Whether columns were computed from one another, though shown as separate measurements."""

import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample, cell_means
from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS, base_of, words_of
from copycost.audit.wording import plain_number
from copycost.stats.settings import FloatArray

_LEAST_CELLS = 5
_CHANCE = 1e-6
_COARSE = 0.01
_LEAST_NOISE = 0.0125
"""Width over which two honest measurements scatter beside each other, at the very least."""

_EXACT = 1e-9
# What follows from these by definition is no finding.
_BASES = frozenset({"bytes", "messages", "duration"})


@dataclass(frozen=True, slots=True)
class Relation:
    """A column as a product of another's power, powers of size and threads, and a number."""

    text: str
    n_cells: int


def check_derived(sample: Sample, explained: Collection[str]) -> list[Finding]:
    """Return the columns that follow from another, and implementations that follow from one.

    Parameters
    ----------
    explained
        Columns that are known to be formulas: that two formulas are related is no news.
    """
    findings = []
    names = [name for name in sample.quantities if name not in _BASES]
    names = [name for name in names if name not in explained and base_of(name).kind != "share"]
    for first, second in itertools.combinations(names, 2):
        if base_of(first) is base_of(second):
            continue
        relation = find_relation(sample, second, first)
        if relation is not None:
            findings.append(_pair_finding(sample, second, relation))
    for name in names:
        findings += _multiples(sample, name)
    return findings


def find_relation(sample: Sample, name: str, source: str) -> Relation | None:
    """Return how a column follows from another, None where it does not."""
    rows = sample.table.assign(_step=_relative(sample, name) + _relative(sample, source)).dropna(
        subset=[name, source]
    )
    rows = rows[(rows[name] > 0) & (rows[source] > 0)]
    if len(rows) < _LEAST_CELLS:
        return None
    logs = np.log(rows[name].to_numpy(dtype=np.float64))
    other = np.log(rows[source].to_numpy(dtype=np.float64))
    size, threads = (np.log(rows[key].to_numpy(dtype=np.float64)) for key in (SIZE, THREADS))
    steps = rows["_step"].to_numpy(dtype=np.float64)
    for power, of_size, of_threads in itertools.product((1, -1), (0, 1, -1), (0, 1, -1)):
        rest = logs - power * other - of_size * size - of_threads * threads
        # Without the other column the same must not hold: that would be a formula of its own.
        spread = min(float(other.std()), float((logs - of_size * size).std()))
        factor = _constant(rest, steps, spread)
        if factor is not None:
            return Relation(_relation_text(factor, source, power, of_size, of_threads), len(rows))
    return None


def _constant(rest: FloatArray, steps: FloatArray, spread: float) -> float | None:
    """Return the number that all logarithms agree on within their rounding, if there is one."""
    typical = float(np.median(steps))
    if spread <= 0.0 or typical > _COARSE:
        return None
    low = float((rest - np.maximum(0.51 * steps, _EXACT)).max())
    high = float((rest + np.maximum(0.51 * steps, _EXACT)).min())
    if low > high:
        return None
    width = min(spread, _LEAST_NOISE)
    chance = (len(rest) - 1) * math.log10(min(max(typical, _EXACT) / width, 1.0))
    return math.exp(0.5 * (low + high)) if chance <= math.log10(_CHANCE) else None


def _relation_text(factor: float, source: str, power: int, of_size: int, of_threads: int) -> str:
    parts = []
    for exponent, words in ((of_size, "size"), (of_threads, "threads"), (power, words_of(source))):
        if exponent > 0:
            parts.append(f" x {words}")
    for exponent, words in ((of_size, "size"), (of_threads, "threads"), (power, words_of(source))):
        if exponent < 0:
            parts.append(f" / {words}")
    return f"{plain_number(factor)}{''.join(parts)}"


def _pair_finding(sample: Sample, name: str, relation: Relation) -> Finding:
    return Finding(
        check="derived",
        code="derived",
        kind=Kind.NOT_SEPARATE,
        sureness=Sureness.CERTAIN,
        dataset=sample.name,
        quantities=(name,),
        numbers={"formula": relation.text, "n_rows": relation.n_cells},
    )


def _multiples(sample: Sample, name: str) -> list[Finding]:
    """Return implementations whose values are those of another times one number."""
    means = cell_means(sample, name)
    means = means[means[name] > 0]
    tables = {
        str(key): part.set_index([SIZE, THREADS]) for key, part in means.groupby(IMPLEMENTATION)
    }
    findings = []
    for first, second in itertools.combinations(tables, 2):
        both = tables[first].merge(
            tables[second], left_index=True, right_index=True, suffixes=("_1", "_2")
        )
        if len(both) < _LEAST_CELLS:
            continue
        logs = np.log((both[f"{name}_2"] / both[f"{name}_1"]).to_numpy(dtype=np.float64))
        steps = (both["step_1"] / both[f"{name}_1"] + both["step_2"] / both[f"{name}_2"]).to_numpy(
            dtype=np.float64
        )
        factor = _constant(logs, steps, float(np.log(both[f"{name}_1"]).std()))
        if factor is not None:
            findings.append(_multiple_finding(sample, name, first, second, factor, len(both)))
    return findings


def _multiple_finding(
    sample: Sample, name: str, first: str, second: str, factor: float, n_cells: int
) -> Finding:
    return Finding(
        check="multiple",
        code="multiple",
        kind=Kind.NO_MEASUREMENT,
        sureness=Sureness.CERTAIN,
        dataset=sample.name,
        quantities=(name,),
        numbers={"implementation": second, "other": first, "factor": factor, "n_cells": n_cells},
    )


def _relative(sample: Sample, name: str) -> pd.Series:
    return pd.Series(sample.resolution(name), index=sample.table.index) / sample.table[name].abs()
