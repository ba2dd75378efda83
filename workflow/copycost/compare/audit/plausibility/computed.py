"""Columns and implementations that were computed: by a formula, or from others."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.plausibility.sample import (
    GIVEN,
    Finding,
    Sample,
    Sureness,
    all_by_chance,
    solve,
)
from copycost.compare.audit.quantities import base_of, words_of
from copycost.compare.audit.wording import plain_number
from copycost.wording.filters import n_threads, size

# Whether a column is an exact function of message size and threads, as no measurement is.

_SPARE_CELLS = 3
"""Cells beyond the formula's coefficients that it must meet as well."""

_FINE = 0.002
"""Relative step of digits below which what noise there is would show in them."""

_LEAST_STEPS = 10.0
_EXACT = 1e-9
_FILLED = frozenset({"cpu_time", "cycles"})
"""What busy threads use up follows from their number alone."""

_AS_FULL = 0.02
"""Busy threads are as busy as each other to this part of what they use up."""


def check_formulas(sample: Sample) -> Iterator[Finding]:
    """Yield the columns that are an exact function of size and threads."""
    for name in sample.measured():
        groups = list(sample.means(name).groupby("implementation", sort=False))
        met = [
            (f"{key}: {found[0]}", found[1], len(cells))
            for key, cells in groups
            if (found := _formula(cells, name))
        ]
        if met:
            texts, are_exact, n_cells = zip(*met, strict=True)
            yield sample.found(
                "formula", name, sureness=Sureness.CERTAIN if all(are_exact) else None,
                exact=all(are_exact), n_cells=sum(n_cells), formulas=list(texts),
                n_implementations=len(met), of_implementations=len(groups),
            )  # fmt: skip


def _formula(cells: pd.DataFrame, name: str) -> tuple[str, bool] | None:
    """Return the simplest formula that all cells of an implementation meet, or None.

    The formulas are linear, with the product where both axes vary, and a power law: first to the
    last digit written, then with trailing zeros taken for rounding. With it comes whether nothing
    at all is left.
    """
    values = cells[name].to_numpy(dtype=np.float64)
    if name in _FILLED:
        of_threads = cells.groupby("n_threads")[name]
        if (of_threads.max() - of_threads.min() <= _AS_FULL * of_threads.max()).all():
            return None
    axes = {axis: cells[key].to_numpy(dtype=np.float64)
            for axis, key in (("size", "msg_bytes"), ("threads", "n_threads"))
            if cells[key].nunique() > 1}  # fmt: skip
    terms = {"": np.ones(len(values)), **axes}
    forms = [terms]
    if len(axes) == 2:
        forms.append(terms | {"size x threads": axes["size"] * axes["threads"]})
    scale = float(np.abs(values).max())
    # Coarse digits hide the noise of an honest, smooth column: they have to be met exactly.
    fine = bool((cells["step"] <= _FINE * cells[name].abs()).all())
    for steps in (cells["finest"].to_numpy(), cells["step"].to_numpy()):
        step = float(steps.max())
        if not axes or values.std() <= max(step * _LEAST_STEPS, scale * _EXACT):
            continue
        for form in forms:
            found = _fit(form, values, step, scale)
            if found is not None and (fine or found[1]):
                return _linear_text(form, found[0], scale), found[1]
        if (values > 0).all():
            powers = {axis: np.log(column) for axis, column in axes.items()}
            found = _fit(terms | powers, np.log(values), float((steps / values).max()), 1.0)
            if found is not None and (fine or found[1]):
                texts = [f"{axis}^{plain_number(power)}"
                         for axis, power in zip(axes, found[0][1:], strict=True)
                         if abs(power) > 1e-6]  # fmt: skip
                return f"{plain_number(math.exp(found[0][0]))} x {' x '.join(texts)}", found[1]
    return None


def _fit(
    form: Mapping[str, FloatArray], values: FloatArray, step: float, scale: float
) -> tuple[list[float], bool] | None:
    """Return the coefficients if what they leave is within rounding, and whether it is nothing.

    The chance of that for numbers with any noise: each spare cell would have to hit, by accident,
    one step out of the spread.
    """
    n_spare = len(values) - len(form)
    if n_spare < _SPARE_CELLS:
        return None
    matrix = np.column_stack(list(form.values()))
    coefficients = solve(matrix, values)
    residual = float(np.abs(values - matrix @ coefficients).max())
    nothing = scale * _EXACT
    by_chance = all_by_chance(n_spare, max(step, nothing) / float(values.std()))
    if residual > max(0.51 * step, nothing) or by_chance:
        return None
    return coefficients.tolist(), residual <= max(nothing, step * 1e-3)


def _linear_text(form: Mapping[str, FloatArray], coefficients: list[float], scale: float) -> str:
    """Return terms such as ``5 x size``, ``size / 64`` for one part of a whole, and ``7``."""
    terms = []
    for (name, column), coefficient in zip(form.items(), coefficients, strict=True):
        if abs(coefficient) * float(np.abs(column).max()) <= scale * 1e-7:
            continue
        parts = 1.0 / coefficient
        if not name:
            terms.append(plain_number(coefficient))
        elif parts > 1.5 and abs(parts - round(parts)) < 1e-6 * parts:
            terms.append(f"{name} / {round(parts)}")
        else:
            terms.append(f"{plain_number(coefficient)} x {name}")
    return " + ".join(terms)


# Whether columns were computed from one another, though shown as separate measurements.

_LEAST_CELLS = 5
_COARSE = 0.01
_LEAST_NOISE = 0.0125
"""Width over which two honest measurements scatter beside each other, at the very least."""

_ROUNDED, _CUT = 0.51, 1.01
"""Steps that a value may be off: half a one if it was rounded, a whole one if it was cut off."""


def check_derived(sample: Sample) -> Iterator[Finding]:
    """Yield the columns that follow from another, and implementations that follow from one."""
    names = list(sample.measured(GIVEN | sample.defined))
    # of each column its values and their steps
    columns = {name: np.stack([sample.table[name], sample.resolutions[name]]) for name in names}
    keys = np.log(sample.table[["msg_bytes", "n_threads"]].to_numpy(dtype=np.float64).T)
    for source, name in itertools.combinations(names, 2):
        bases = {base_of(source).name, base_of(name).name}
        # a fixed clock rate makes cycles and CPU time one
        if len(bases) == 1 or bases == {"cycles", "cpu_time"}:
            continue
        rows = (columns[name][0] > 0.0) & (columns[source][0] > 0.0)
        if rows.sum() < _LEAST_CELLS:
            continue
        one, other, words = columns[name][:, rows], columns[source][:, rows], words_of(source)
        formula = _product(one, other, keys[:, rows], words) or _affine(one, other, words)
        if formula is not None:
            yield sample.found("derived", name, formula=formula, n_rows=int(rows.sum()))
    for name in names:
        for axis in ("implementation", "msg_bytes", *(() if name in _FILLED else ("n_threads",))):
            yield from _multiples(sample, name, axis)


def _product(column: FloatArray, source: FloatArray, keys: FloatArray, words: str) -> str | None:
    """Return how a column is another, or one over it, times powers of size and threads."""
    (logs, other), (size, threads) = np.log([column[0], source[0]]), keys
    steps = column[1] / column[0] + source[1] / source[0]
    for power, of_size, of_threads in itertools.product((1, -1), (0, 1, -1), (0, 1, -1)):
        rest = logs - power * other - of_size * size - of_threads * threads
        # Without the other column the same must not hold: that would be a formula of its own.
        spread = min(float(other.std()), float((logs - of_size * size).std()))
        factor = _constant(rest, steps, spread)
        if factor is not None:
            parts = ((of_size, "size"), (of_threads, "threads"), (power, words))
            times = "".join(f" x {part}" for exponent, part in parts if exponent > 0)
            over = "".join(f" / {part}" for exponent, part in parts if exponent < 0)
            return f"{plain_number(factor)}{times}{over}"
    return None


def _affine(column: FloatArray, source: FloatArray, words: str) -> str | None:
    """Return how a column is another times a number, plus a number; None where it is not."""
    (values, steps), (other, other_steps) = column, source
    if len(values) <= _LEAST_CELLS or values.std() == 0.0 or other.std() == 0.0:
        return None
    slope = float(np.cov(values, other)[0, 1] / other.var(ddof=1))
    tolerance = np.maximum(_CUT * (steps + abs(slope) * other_steps), _EXACT * np.abs(values))
    matrix = np.column_stack([other, np.ones(len(other))]) / tolerance[:, None]
    slope, offset = solve(matrix, values / tolerance).tolist()
    if float(np.abs(values - slope * other - offset).max()) > 1.2 * float(np.median(tolerance)):
        return None
    width = max(min(float(np.log(values).std()), _LEAST_NOISE), _EXACT)
    hit = 2.0 * float(np.median(tolerance / values)) / width
    if slope == 0.0 or all_by_chance(len(values) - 2, hit):
        return None
    sign = "+" if offset >= 0.0 else "\N{MINUS SIGN}"
    return f"{plain_number(slope)} x {words} {sign} {plain_number(abs(offset))}"


def _constant(rest: FloatArray, steps: FloatArray, spread: float) -> float | None:
    """Return the number that all logarithms agree on within their rounding, if there is one."""
    typical = float(np.median(steps))
    if spread <= 0.0 or typical > _COARSE:
        return None
    for part in (_ROUNDED, _CUT):
        low = float((rest - np.maximum(part * steps, _EXACT)).max())
        high = float((rest + np.maximum(part * steps, _EXACT)).min())
        hit = max(2.0 * part * typical, _EXACT) / min(spread, _LEAST_NOISE)
        if low <= high and not all_by_chance(len(rest) - 1, hit):
            return math.exp(0.5 * (low + high))
    return None


_LABELS: Mapping[str, Callable[[Any], str]] = {
    "implementation": str, "msg_bytes": size, "n_threads": lambda threads: n_threads([threads]),
}  # fmt: skip


def _multiples(sample: Sample, name: str, axis: str) -> Iterator[Finding]:
    """Yield implementations, sizes or threads whose values are another's times one number.

    Or implementations whose values are those of the mean of all others.
    """
    means = sample.means(name)
    means = means[means[name] > 0].assign(step=lambda rows: rows["step"] / rows[name])
    index = [key for key in _LABELS if key != axis]
    wide = [means.pivot(index=index, columns=axis, values=part) for part in (name, "step")]
    labels = list(map(_LABELS[axis], wide[0]))
    values, steps = (part.to_numpy(np.float64).T for part in wide)
    pairs = [(labels[first], values[first], steps[first], second)
             for first, second in itertools.combinations(range(len(labels)), 2)]  # fmt: skip
    if axis == "implementation" and len(labels) > 2:
        pairs += [("the mean of all others", np.delete(values, one, axis=0).mean(axis=0),
                   steps[one], one) for one in range(len(labels))]  # fmt: skip
    for other, source, source_step, second in pairs:
        rest = np.log(values[second] / source)
        both = ~np.isnan(rest)
        if both.sum() < _LEAST_CELLS:
            continue
        spread = float(np.log(source[both]).std())
        factor = _constant(rest[both], (steps[second] + source_step)[both], spread)
        if factor is not None:
            yield sample.found("multiple", name, implementation=labels[second], other=other,
                               factor=factor, n_cells=int(both.sum()))  # fmt: skip
