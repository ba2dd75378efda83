"""Columns that were computed: from a formula, from one another, from another program or a curve."""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import DATASET, IMPLEMENTATION, REP, SIZE, THREADS, base_of, words_of
from copycost.audit.wording import plain_number
from copycost.stats.settings import FloatArray

# Whether a column is an exact function of message size and threads, as no measurement is.

_SPARE_CELLS = 3
"""Cells beyond the formula's coefficients that it must meet as well."""

_FORMULA_CHANCE = 1e-6
_FINE = 0.002
"""Relative step of digits below which what noise there is would show in them."""

_FORMULA_LEAST_SPREAD = 10.0
_FORMULA_EXACT = 1e-9
_FORMULA_LEFT_OUT = frozenset({"duration", "bytes", "messages", "copied_share"})
"""What an experiment sets, or counts of what it did, may follow from size and threads."""

_FILLED = frozenset({"cpu_time", "cycles"})
"""What busy threads use up follows from their number alone."""

_AS_FULL = 0.02
"""Busy threads are as busy as each other to this part of what they use up."""


class Formula(NamedTuple):
    """A function that all cells of an implementation meet; `exact` if nothing at all is left."""

    implementation: str
    text: str
    n_cells: int
    exact: bool


def check_formulas(sample: Sample) -> Iterator[Finding]:
    """Yield the columns that are an exact function of size and threads."""
    for name in sample.quantities:
        if name in _FORMULA_LEFT_OUT:
            continue
        groups = list(sample.means(name).groupby(IMPLEMENTATION, sort=False))
        formulas = [
            found
            for key, cells in groups
            if (found := find_formula(str(key), cells, name, "finest"))
            or (found := find_formula(str(key), cells, name, "step"))
        ]
        exact = all(formula.exact for formula in formulas)
        if formulas:
            yield sample.found(
                "formula", name, sureness=Sureness.CERTAIN if exact else None, exact=exact,
                n_cells=sum(formula.n_cells for formula in formulas),
                formulas=[f"{formula.implementation}: {formula.text}" for formula in formulas],
                n_implementations=len(formulas), of_implementations=len(groups),
            )  # fmt: skip


def find_formula(
    implementation: str, cells: pd.DataFrame, name: str, step_column: str
) -> Formula | None:
    """Return the simplest formula that all cells of an implementation meet, or None.

    Parameters
    ----------
    step_column
        ``finest`` for the last digit written, ``step`` where trailing zeros count as rounding.
    """
    values = cells[name].to_numpy(dtype=np.float64)
    step = float(cells[step_column].max())
    spread = float(values.std())
    scale = float(np.abs(values).max())
    if name in _FILLED:
        ranges = cells.groupby(THREADS)[name].agg(np.ptp)
        if (ranges <= _AS_FULL * cells.groupby(THREADS)[name].max()).all():
            return None
    if len(values) < 2 or spread <= max(step * _FORMULA_LEAST_SPREAD, scale * _FORMULA_EXACT):
        return None
    axes = {
        "size": cells[SIZE].to_numpy(dtype=np.float64),
        "threads": cells[THREADS].to_numpy(dtype=np.float64),
    }
    axes = {axis: column for axis, column in axes.items() if np.unique(column).size > 1}
    # Coarse digits hide the noise of an honest, smooth column: they have to be met exactly.
    fine = bool((cells["step"] <= _FINE * cells[name].abs()).all())
    for names, matrix in _linear_models(axes):
        found = _fit(matrix, values, step, spread, scale)
        if found is not None and (fine or found[1]):
            coefficients, exact = found
            text = _linear_text(names, coefficients, scale, matrix)
            return Formula(implementation, text, len(values), exact)
    if (values > 0).all() and axes:
        logs = np.log(values)
        matrix = np.column_stack([np.ones(len(values)), *(np.log(c) for c in axes.values())])
        log_step = float((cells[step_column] / cells[name]).max())
        found = _fit(matrix, logs, log_step, float(logs.std()), 1.0)
        if found is not None and (fine or found[1]):
            coefficients, exact = found
            powers = " x ".join(
                f"{axis}^{plain_number(power)}"
                for axis, power in zip(axes, coefficients[1:], strict=True)
                if abs(power) > 1e-6
            )
            text = f"{plain_number(math.exp(coefficients[0]))} x {powers}"
            return Formula(implementation, text, len(values), exact)
    return None


def _linear_models(axes: dict[str, FloatArray]) -> list[tuple[list[str], FloatArray]]:
    """Return the models to try: linear, and with the product where both axes vary."""
    if not axes:
        return []
    ones = np.ones(len(next(iter(axes.values()))))
    models = [(["", *axes], np.column_stack([ones, *axes.values()]))]
    if len(axes) == 2:
        product = axes["size"] * axes["threads"]
        models.append(
            (["", *axes, "size x threads"], np.column_stack([ones, *axes.values(), product]))
        )
    return models


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
    tolerance = max(step, scale * _FORMULA_EXACT)
    exact = residual <= max(scale * _FORMULA_EXACT, step * 1e-3)
    chance = n_spare * math.log10(min(tolerance / spread, 1.0))
    if residual > max(0.51 * step, scale * _FORMULA_EXACT) or chance > math.log10(_FORMULA_CHANCE):
        return None
    return coefficients, exact


def _linear_text(
    names: Sequence[str], coefficients: FloatArray, scale: float, matrix: FloatArray
) -> str:
    parts = []
    for name, coefficient, column in zip(names, coefficients, matrix.T, strict=True):
        if abs(coefficient) * float(np.abs(column).max()) > scale * 1e-7:
            parts.append(_term(float(coefficient), name))
    return " + ".join(parts)


def _term(coefficient: float, name: str) -> str:
    """Return ``5 x size``, ``size / 64`` where the coefficient is one part of a whole, or ``7``."""
    if not name:
        return plain_number(coefficient)
    parts = 1.0 / coefficient
    if parts > 1.5 and abs(parts - round(parts)) < 1e-6 * parts:
        return f"{name} / {round(parts)}"
    return f"{plain_number(coefficient)} x {name}"


# Whether columns were computed from one another, though shown as separate measurements.

_LEAST_CELLS = 5
_DERIVED_CHANCE = 1e-6
_COARSE = 0.01
_LEAST_NOISE = 0.0125
"""Width over which two honest measurements scatter beside each other, at the very least."""

_DERIVED_EXACT = 1e-9
_ROUNDED, _CUT = 0.51, 1.01
"""Steps that a value may be off: half a one if it was rounded, a whole one if it was cut off."""
# What follows from these by definition is no finding.
_BASES = frozenset({"bytes", "messages", "duration"})


class Relation(NamedTuple):
    """A column as a product of another's power, powers of size and threads, and a number."""

    text: str
    n_rows: int


def check_derived(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield the columns that follow from another, and implementations that follow from one.

    Parameters
    ----------
    explained
        Columns that are known to be formulas: that two formulas are related is no news.
    """
    names = [name for name in sample.quantities if name not in _BASES | sample.defined]
    names = [name for name in names if name not in explained and base_of(name).kind != "share"]
    for first, second in itertools.combinations(names, 2):
        if base_of(first) is base_of(second) or _same_clock(first, second):
            continue
        relation = find_relation(sample, second, first)
        if relation is not None:
            yield sample.found("derived", second, formula=relation.text, n_rows=relation.n_rows)
    for name in names:
        yield from _multiples(sample, name)


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
    tolerance = np.maximum(_CUT * steps, _DERIVED_EXACT * np.abs(values))
    matrix = np.column_stack([other, np.ones(len(other))]) / tolerance[:, None]
    scale = np.linalg.norm(matrix, axis=0)
    scaled, *_ = np.linalg.lstsq(matrix / scale, values / tolerance, rcond=None)
    slope, offset = (float(number) for number in scaled / scale)
    if float(np.abs(values - slope * other - offset).max()) > 1.2 * float(np.median(tolerance)):
        return None
    width = min(float(np.log(values).std()), _LEAST_NOISE)
    hit = min(2.0 * float(np.median(tolerance / values)) / max(width, _DERIVED_EXACT), 1.0)
    if slope == 0.0 or (len(values) - 2) * math.log10(hit) > math.log10(_DERIVED_CHANCE):
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
        low = float((rest - np.maximum(part * steps, _DERIVED_EXACT)).max())
        high = float((rest + np.maximum(part * steps, _DERIVED_EXACT)).min())
        hit = max(2.0 * part * typical, _DERIVED_EXACT) / width
        chance = (len(rest) - 1) * math.log10(min(hit, 1.0))
        if low <= high and chance <= math.log10(_DERIVED_CHANCE):
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


# One implementation's values as another's times a number, with a little noise put on top.

_JITTER_LEFT_OUT = frozenset({
    "duration", "bytes", "messages", "copied_share", "instructions", "instructions_per_byte",
    "instructions_per_message", "cpu_time",
})  # fmt: skip
"""What is set, follows from the program alone, or is what all CPUs can give."""

_LEAST_PAIRS = 8
_JITTER_LEAST_SPREAD = 0.2
_QUIET = 0.0025
_SMALL_PART = 0.35
"""Of the noise within cells that the noise between implementations is, at most."""

_ANOTHER = 0.01
"""Two names of one program may differ by nothing; a factor further from 1 is another program's."""


def check_jitter(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield implementations that keep to another's values more closely than noise lets them."""
    for name in sample.quantities:
        if name in _JITTER_LEFT_OUT or name in explained or sample.relative_step(name) > 2 * _QUIET:
            continue
        known = sample.table[sample.table[name] > 0.0]
        if known.empty:
            continue
        wide = known.pivot(index=[SIZE, THREADS, REP], columns=IMPLEMENTATION, values=name)
        logs = np.log(wide.to_numpy(dtype=np.float64))
        within = _noise_within(wide.index.to_frame(index=False), logs)
        for first, second in itertools.combinations(range(logs.shape[1]), 2):
            names = (str(wide.columns[first]), str(wide.columns[second]))
            yield from _pair(sample, name, names, logs[:, [first, second]], within)


def _noise_within(index: pd.DataFrame, logs: FloatArray) -> float:
    """Return the usual spread within a cell, without what all cells of a round share."""
    frame = pd.DataFrame(logs)
    by_cell = [index[SIZE], index[THREADS]]
    rest = frame - frame.groupby(by_cell).transform("mean")
    shared = rest.groupby(index[REP]).transform("median").median(axis=1)
    rest = rest.sub(shared, axis=0)
    counts = frame.groupby(by_cell).transform("count")
    rest = (rest * np.sqrt(counts / (counts - 1.0))).where(counts > 1)
    values = rest.to_numpy(dtype=np.float64)
    values = values[np.isfinite(values)]
    return 1.4826 * float(np.median(np.abs(values))) if len(values) else math.nan


def _pair(
    sample: Sample, name: str, names: tuple[str, str], logs: FloatArray, within: float
) -> Iterator[Finding]:
    both = np.isfinite(logs).all(axis=1)
    if both.sum() < _LEAST_PAIRS or float(logs[both, 0].std()) < _JITTER_LEAST_SPREAD:
        return
    ratio = logs[both, 1] - logs[both, 0]
    typical = float(np.median(ratio))
    width = float(np.sqrt(np.mean((ratio - typical) ** 2)))
    again = math.isfinite(within)
    less = width < _SMALL_PART * within if again else width < _QUIET
    if width >= 4.0 * _QUIET or not less or abs(typical) < _ANOTHER:
        return
    yield sample.found(
        "multiple_and_noise",
        name,
        kind=Kind.NO_MEASUREMENT if again else Kind.ODD,
        implementation=names[1],
        other=names[0],
        factor=math.exp(typical),
        width=max(width, 1e-06),
        n_pairs=int(both.sum()),
        within=within if again else None,
    )


# Curves that no measurement gives: too smooth for any noise, or drawn between other points.

_CURVE_LEFT_OUT = frozenset({
    "duration", "bytes", "messages", "copied_share", "instructions", "instructions_per_byte",
    "instructions_per_message", "cpu_time",
})  # fmt: skip
"""What is set, follows from the program alone, or is what all CPUs can give."""

_LEAST_SIZES = 5
_LEAST_FREE = 8
_QUIETEST = 0.0015
"""Relative noise below which nobody measures a socket; see docs/audit.md."""

_CURVE_LEAST_SPREAD = 0.2
_SCALE = 20.0
_CURVE_CHANCE = 1e-5
_FLAT = 0.02


def check_curves(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield columns that are too smooth, and cells that lie between their neighbours exactly."""
    for name in sample.quantities:
        if name not in _CURVE_LEFT_OUT and name not in explained:
            yield from _smooth(sample, name)
    yield from _interpolated(sample, explained)


def _smooth(sample: Sample, name: str) -> Iterator[Finding]:
    means = sample.means(name)
    means = means[means[name] > 0.0]
    if not (means["step"] / means[name]).median() < 2.0 * _QUIETEST:
        return
    squares, free, n_cells = 0.0, 0, 0
    for _, cells in means.groupby([IMPLEMENTATION, THREADS]):
        left = _left_over(cells[SIZE].to_numpy(dtype=np.float64),
                          cells[name].to_numpy(dtype=np.float64))  # fmt: skip
        if left is not None:
            squares, free, n_cells = squares + left[0], free + left[1], n_cells + len(cells)
    width = math.sqrt(squares / free) if free else math.inf
    if free < _LEAST_FREE or width > _QUIETEST:
        return
    yield sample.found("smooth", name, width=max(width, 1e-06), n_cells=n_cells, limit=_QUIETEST)


def _left_over(size: FloatArray, values: FloatArray) -> tuple[float, int] | None:
    """Return the squares that the best of some smooth curves leaves, and how many are free.

    The curves: a fixed cost and one per byte, in time per message, in a rate, in a cost per byte or
    in a total; and a parabola on logarithmic axes.
    """
    logs = np.log(values)
    if len(size) < _LEAST_SIZES or float(np.ptp(logs)) < _CURVE_LEAST_SPREAD:
        return None
    ones = np.ones_like(size)
    best: tuple[float, int] | None = None
    for form in (values, size / values, values * size, values / size):
        left = _squares(np.column_stack([ones, size]) / form[:, None], ones)
        best = _better(best, left, len(size) - 2)
    scaled = np.log(size) - np.log(size).mean()
    parabola = np.column_stack([ones, scaled, scaled**2])
    return _better(best, _squares(parabola, logs), len(size) - 3)


def _better(best: tuple[float, int] | None, squares: float, free: int) -> tuple[float, int]:
    if best is None or squares / free < best[0] / best[1]:
        return squares, free
    return best


def _squares(matrix: FloatArray, values: FloatArray) -> float:
    scaled = matrix / np.linalg.norm(matrix, axis=0)
    found, *_ = np.linalg.lstsq(scaled, values, rcond=None)
    return float(((values - scaled @ found) ** 2).sum())


def _interpolated(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Find cells that are, in several columns or several times, just between two neighbours."""
    names = [
        name
        for name in sample.quantities
        if name not in explained
        and name not in _CURVE_LEFT_OUT
        and sample.relative_step(name) < 5e-4
    ]
    rows = sample.table.sort_values([DATASET, IMPLEMENTATION, THREADS, REP, SIZE])
    by = [rows[key] for key in (IMPLEMENTATION, THREADS, REP)]
    sizes = rows[SIZE].astype(np.float64)
    first, last = sizes.groupby(by).shift(1), sizes.groupby(by).shift(-1)
    by_size = (sizes - first) / (last - first)
    by_log = np.log(sizes / first) / np.log(last / first)
    chances = pd.Series(0.0, index=rows.index)
    hits: dict[str, pd.Series] = {}
    for name in names:
        values = rows[name].where(rows[name] > 0.0)
        before, after = values.groupby(by).shift(1), values.groupby(by).shift(-1)
        apart = (after / before - 1.0).abs() > _FLAT
        tolerance = max(0.6 * sample.relative_step(name), 1e-9) + 1e-9
        off = pd.Series(np.inf, index=rows.index)
        for weight in (by_size, by_log, 0.5):
            line = before + weight * (after - before)
            off = off.clip(upper=(values / line - 1.0).abs().fillna(np.inf))
        off = off.where(apart)
        known = int(off.notna().sum())
        hit = off <= tolerance
        near = int((off <= _SCALE * tolerance).sum() - hit.sum())
        if known < 2 or not hit.any():
            continue
        chance = max(near / (_SCALE - 1.0), 1.0 / _SCALE, known * 20 * tolerance) / known
        hits[name] = hit
        chances = chances + np.where(hit, math.log10(min(chance, 1.0)), 0.0)
    limit = math.log10(_CURVE_CHANCE / max(len(rows), 1))
    found = rows[chances < limit]
    together = len(found) * math.log10(max(len(rows), 2))
    if found.empty:
        found = rows[chances < 0.0]
        together = float(chances.sum()) + len(found) * math.log10(max(len(rows), 2))
        if together > math.log10(_CURVE_CHANCE):
            return
    concerned = tuple(name for name in hits if hits[name][found.index].any())
    yield sample.found('interpolated', *concerned, rows=found, n_rows=len(found))  # fmt: skip
