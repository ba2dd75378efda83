"""Whether columns were computed from one another, though shown as separate measurements."""

import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS, base_of, words_of
from copycost.audit.wording import plain_number
from copycost.stats.settings import FloatArray

_LEAST_CELLS = 5
_CHANCE = 1e-6
_COARSE = 0.01
_LEAST_NOISE = 0.0125
"""Width over which two honest measurements scatter beside each other, at the very least."""

_EXACT = 1e-9
_ROUNDED, _CUT = 0.51, 1.01
"""Steps that a value may be off: half a one if it was rounded, a whole one if it was cut off."""
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
    names = [name for name in sample.quantities if name not in _BASES | sample.defined]
    names = [name for name in names if name not in explained and base_of(name).kind != "share"]
    for first, second in itertools.combinations(names, 2):
        if base_of(first) is base_of(second) or _same_clock(first, second):
            continue
        relation = find_relation(sample, second, first)
        if relation is not None:
            findings.append(_pair_finding(sample, second, relation))
    for name in names:
        findings += _multiples(sample, name)
    return findings


def _same_clock(first: str, second: str) -> bool:
    """Tell whether two columns are cycles and CPU time, which a fixed clock rate makes one."""
    return {base_of(first).name, base_of(second).name} == {"cycles", "cpu_time"}


def find_relation(sample: Sample, name: str, source: str) -> Relation | None:
    """Return how a column follows from another, None where it does not."""
    column, of = (sample.table[key].to_numpy(dtype=np.float64) for key in (name, source))
    both = (column > 0.0) & (of > 0.0)
    n_rows = int(both.sum())
    if n_rows < _LEAST_CELLS:
        return None
    logs, other = np.log(column[both]), np.log(of[both])
    keys = (sample.table[key].to_numpy(dtype=np.float64) for key in (SIZE, THREADS))
    size, threads = (np.log(key[both]) for key in keys)
    steps = (
        sample.resolution(name)[both] / column[both] + sample.resolution(source)[both] / of[both]
    )
    for power, of_size, of_threads in itertools.product((1, -1), (0, 1, -1), (0, 1, -1)):
        rest = logs - power * other - of_size * size - of_threads * threads
        # Without the other column the same must not hold: that would be a formula of its own.
        spread = min(float(other.std()), float((logs - of_size * size).std()))
        factor = _constant(rest, steps, spread)
        if factor is not None:
            return Relation(_relation_text(factor, source, power, of_size, of_threads), n_rows)
    return _affine(sample, both, name, source)


def _affine(sample: Sample, rows: NDArray[np.bool_], name: str, source: str) -> Relation | None:
    """Return how a column is another times a number, plus a number; None where it is not."""
    values, other = (sample.table[key].to_numpy(dtype=np.float64)[rows] for key in (name, source))
    if len(values) <= _LEAST_CELLS or values.std() == 0.0 or other.std() == 0.0:
        return None
    slope = float(np.cov(values, other)[0, 1] / other.var(ddof=1))
    steps = sample.resolution(name)[rows] + abs(slope) * sample.resolution(source)[rows]
    tolerance = np.maximum(_CUT * steps, _EXACT * np.abs(values))
    matrix = np.column_stack([other, np.ones(len(other))]) / tolerance[:, None]
    scale = np.linalg.norm(matrix, axis=0)
    scaled, *_ = np.linalg.lstsq(matrix / scale, values / tolerance, rcond=None)
    slope, offset = (float(number) for number in scaled / scale)
    if float(np.abs(values - slope * other - offset).max()) > 1.2 * float(np.median(tolerance)):
        return None
    width = min(float(np.log(values).std()), _LEAST_NOISE)
    hit = min(2.0 * float(np.median(tolerance / values)) / max(width, _EXACT), 1.0)
    if slope == 0.0 or (len(values) - 2) * math.log10(hit) > math.log10(_CHANCE):
        return None
    sign = "+" if offset >= 0.0 else "\N{MINUS SIGN}"
    text = f"{plain_number(slope)} x {words_of(source)} {sign} {plain_number(abs(offset))}"
    return Relation(text, len(values))


def _constant(rest: FloatArray, steps: FloatArray, spread: float) -> float | None:
    """Return the number that all logarithms agree on within their rounding, if there is one."""
    typical = float(np.median(steps))
    if spread <= 0.0 or typical > _COARSE:
        return None
    width = min(spread, _LEAST_NOISE)
    for part in (_ROUNDED, _CUT):
        low = float((rest - np.maximum(part * steps, _EXACT)).max())
        high = float((rest + np.maximum(part * steps, _EXACT)).min())
        hit = max(2.0 * part * typical, _EXACT) / width
        chance = (len(rest) - 1) * math.log10(min(hit, 1.0))
        if low <= high and chance <= math.log10(_CHANCE):
            return math.exp(0.5 * (low + high))
    return None


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
    means = sample.means(name)
    means = means[means[name] > 0].assign(_step=lambda rows: rows["step"] / rows[name])
    if means.empty:
        return []
    wide = means.pivot(index=[SIZE, THREADS], columns=IMPLEMENTATION, values=[name, "_step"])
    values, steps = (wide[part].to_numpy(dtype=np.float64) for part in (name, "_step"))
    logs = np.log(values)
    findings = []
    for first, second in itertools.combinations(range(logs.shape[1]), 2):
        both = np.isfinite(logs[:, first] + logs[:, second])
        if both.sum() < _LEAST_CELLS:
            continue
        rest = (logs[:, second] - logs[:, first])[both]
        step = (steps[:, second] + steps[:, first])[both]
        factor = _constant(rest, step, float(logs[both, first].std()))
        if factor is not None:
            one, two = (str(wide[name].columns[number]) for number in (first, second))
            findings.append(_multiple_finding(sample, name, one, two, factor, int(both.sum())))
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
