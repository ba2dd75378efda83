"""Columns that were computed, from size and threads or from one another."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from copycost.audit.plausibility.finding import Finding, Sureness
from copycost.audit.plausibility.sample import GIVEN, Sample
from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS, base_of, words_of
from copycost.audit.wording import plain_number
from copycost.stats.settings import FloatArray

# Whether a column is an exact function of message size and threads, as no measurement is.

_SPARE_CELLS = 3
"""Cells beyond the formula's coefficients that it must meet as well."""

_CHANCE = 1e-6
_FINE = 0.002
"""Relative step of digits below which what noise there is would show in them."""

_LEAST_SPREAD = 10.0
_EXACT = 1e-9
_FILLED = frozenset({"cpu_time", "cycles"})
"""What busy threads use up follows from their number alone."""

_AS_FULL = 0.02
"""Busy threads are as busy as each other to this part of what they use up."""


def check_formulas(sample: Sample) -> Iterator[Finding]:
    """Yield the columns that are an exact function of size and threads."""
    for name in sample.measured():
        groups = list(sample.means(name).groupby(IMPLEMENTATION, sort=False))
        met = [
            (f"{key}: {found[0]}", found[1], len(cells))
            for key, cells in groups
            if (found := _formula(cells, name, "finest") or _formula(cells, name, "step"))
        ]
        if met:
            exact = all(is_exact for _, is_exact, _ in met)
            yield sample.found(
                "formula", name, sureness=Sureness.CERTAIN if exact else None, exact=exact,
                n_cells=sum(n_cells for _, _, n_cells in met),
                formulas=[text for text, _, _ in met],
                n_implementations=len(met), of_implementations=len(groups),
            )  # fmt: skip


def _formula(cells: pd.DataFrame, name: str, step_column: str) -> tuple[str, bool] | None:
    """Return the simplest formula that all cells of an implementation meet, or None.

    The formulas are linear, with the product where both axes vary, and a power law. With it comes
    whether nothing at all is left. `step_column`: ``finest`` for the last digit written, ``step``
    where trailing zeros count as rounding.
    """
    values, size, threads = (
        cells[column].to_numpy(dtype=np.float64) for column in (name, SIZE, THREADS)
    )
    step, spread, scale = float(cells[step_column].max()), float(values.std()), np.abs(values).max()
    if name in _FILLED:
        ranges = cells.groupby(THREADS)[name].agg(np.ptp)
        if (ranges <= _AS_FULL * cells.groupby(THREADS)[name].max()).all():
            return None
    axes = {"size": size, "threads": threads}
    axes = {axis: column for axis, column in axes.items() if np.unique(column).size > 1}
    if not axes or spread <= max(step * _LEAST_SPREAD, scale * _EXACT):
        return None
    # Coarse digits hide the noise of an honest, smooth column: they have to be met exactly.
    fine = bool((cells["step"] <= _FINE * cells[name].abs()).all())
    ones = np.ones(len(values))
    forms = [{"": ones, **axes}]
    if len(axes) == 2:
        forms.append(forms[0] | {"size x threads": size * threads})
    for terms in forms:
        matrix = np.column_stack(list(terms.values()))
        found = _fit(matrix, values, step, spread, scale)
        if found is not None and (fine or found[1]):
            return _linear_text(list(terms), found[0], scale, matrix), found[1]
    if (values > 0).all():
        logs = np.log(values)
        log_step = float((cells[step_column] / cells[name]).max())
        matrix = np.column_stack([ones, *map(np.log, axes.values())])
        found = _fit(matrix, logs, log_step, float(logs.std()), 1.0)
        if found is not None and (fine or found[1]):
            powers = " x ".join(
                f"{axis}^{plain_number(power)}"
                for axis, power in zip(axes, found[0][1:], strict=True)
                if abs(power) > 1e-6
            )
            return f"{plain_number(math.exp(found[0][0]))} x {powers}", found[1]
    return None


def _fit(
    matrix: FloatArray, values: FloatArray, step: float, spread: float, scale: float
) -> tuple[FloatArray, bool] | None:
    """Return the coefficients if what they leave is within rounding, and whether it is nothing.

    The chance of that for numbers with any noise: each spare cell would have to hit, by accident,
    one step out of the spread.
    """
    n_spare = len(values) - matrix.shape[1]
    if n_spare < _SPARE_CELLS:
        return None
    norms = np.linalg.norm(matrix, axis=0)
    scaled, *_ = np.linalg.lstsq(matrix / norms, values, rcond=None)
    coefficients: FloatArray = scaled / norms
    residual = float(np.abs(values - matrix @ coefficients).max())
    tolerance = max(step, scale * _EXACT)
    exact = residual <= max(scale * _EXACT, step * 1e-3)
    chance = n_spare * math.log10(min(tolerance / spread, 1.0))
    if residual > max(0.51 * step, scale * _EXACT) or chance > math.log10(_CHANCE):
        return None
    return coefficients, exact


def _linear_text(
    names: Sequence[str], coefficients: FloatArray, scale: float, matrix: FloatArray
) -> str:
    """Return terms such as ``5 x size``, ``size / 64`` for one part of a whole, and ``7``."""
    terms = []
    for name, coefficient, column in zip(names, coefficients.tolist(), matrix.T, strict=True):
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
    for first, second in itertools.combinations(names, 2):
        bases = {base_of(first).name, base_of(second).name}
        # a fixed clock rate makes cycles and CPU time one
        if len(bases) == 1 or bases == {"cycles", "cpu_time"}:
            continue
        relation = find_relation(sample, second, first)
        if relation is not None:
            yield sample.found("derived", second, formula=relation[0], n_rows=relation[1])
    for name in names:
        yield from _multiples(sample, name)


def find_relation(sample: Sample, name: str, source: str) -> tuple[str, int] | None:
    """Return how a column follows from another, and in how many rows; None where it does not."""
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
            parts = ((of_size, "size"), (of_threads, "threads"), (power, words_of(source)))
            times = "".join(f" x {words}" for exponent, words in parts if exponent > 0)
            over = "".join(f" / {words}" for exponent, words in parts if exponent < 0)
            return f"{plain_number(factor)}{times}{over}", n_rows
    return _affine(sample, both, name, source)


def _affine(
    sample: Sample, rows: NDArray[np.bool_], name: str, source: str
) -> tuple[str, int] | None:
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
    return text, len(values)


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


def _multiples(sample: Sample, name: str) -> Iterator[Finding]:
    """Yield implementations whose values are those of another times one number."""
    means = sample.means(name)
    means = means[means[name] > 0].assign(_step=lambda rows: rows["step"] / rows[name])
    if means.empty:
        return
    wide = means.pivot(index=[SIZE, THREADS], columns=IMPLEMENTATION, values=[name, "_step"])
    values, steps = (wide[part].to_numpy(dtype=np.float64) for part in (name, "_step"))
    logs = np.log(values)
    for first, second in itertools.combinations(range(logs.shape[1]), 2):
        both = np.isfinite(logs[:, first] + logs[:, second])
        if both.sum() < _LEAST_CELLS:
            continue
        rest = (logs[:, second] - logs[:, first])[both]
        step = (steps[:, second] + steps[:, first])[both]
        factor = _constant(rest, step, float(logs[both, first].std()))
        if factor is not None:
            one, two = (str(wide[name].columns[number]) for number in (first, second))
            yield sample.found("multiple", name, implementation=two, other=one, factor=factor,
                               n_cells=int(both.sum()))  # fmt: skip
