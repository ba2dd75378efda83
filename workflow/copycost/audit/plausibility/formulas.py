"""Whether a column is an exact function of message size and threads, as no measurement is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS
from copycost.audit.wording import plain_number
from copycost.stats.settings import FloatArray

_SPARE_CELLS = 3
"""Cells beyond the formula's coefficients that it must meet as well."""

_CHANCE = 1e-6
_FINE = 0.002
"""Relative step of digits below which what noise there is would show in them."""

_LEAST_SPREAD = 10.0
_EXACT = 1e-9
_LEFT_OUT = frozenset({"duration", "bytes", "messages", "copied_share"})
"""What an experiment sets, or counts of what it did, may follow from size and threads."""

_FILLED = frozenset({"cpu_time", "cycles"})
"""What busy threads use up follows from their number alone."""

_AS_FULL = 0.02
"""Busy threads are as busy as each other to this part of what they use up."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A function that a column follows exactly.

    Attributes
    ----------
    implementation
        The implementation whose cells it describes.
    text
        Such as ``5 x size + 1000 x threads``.
    n_cells
        Cells that it describes.
    exact
        Whether nothing is left, rather than less than the digits can tell.
    """

    implementation: str
    text: str
    n_cells: int
    exact: bool


def check_formulas(sample: Sample) -> list[Finding]:
    """Return the columns that are an exact function of size and threads."""
    findings = []
    for name in sample.quantities:
        if name in _LEFT_OUT:
            continue
        means = sample.means(name)
        groups = list(means.groupby(IMPLEMENTATION, sort=False))
        formulas = [
            found
            for key, cells in groups
            if (found := find_formula(str(key), cells, name, "finest"))
            or (found := find_formula(str(key), cells, name, "step"))
        ]
        if formulas:
            findings.append(_finding(sample, name, formulas, len(groups)))
    return findings


def _finding(sample: Sample, name: str, formulas: Sequence[Formula], n_groups: int) -> Finding:
    exact = all(formula.exact for formula in formulas)
    return Finding(
        check="formula",
        code="formula" if len(formulas) == n_groups else "formula_of_some",
        kind=Kind.NO_MEASUREMENT,
        sureness=Sureness.CERTAIN if exact else Sureness.VERY_LIKELY,
        dataset=sample.name,
        quantities=(name,),
        numbers={
            "n_cells": sum(formula.n_cells for formula in formulas),
            "formulas": [f"{formula.implementation}: {formula.text}" for formula in formulas],
            "n_implementations": len(formulas),
            "of_implementations": n_groups,
            "exact": exact,
        },
    )


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
    if len(values) < 2 or spread <= max(step * _LEAST_SPREAD, scale * _EXACT):
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
    tolerance = max(step, scale * _EXACT)
    exact = residual <= max(scale * _EXACT, step * 1e-3)
    chance = n_spare * math.log10(min(tolerance / spread, 1.0))
    if residual > max(0.51 * step, scale * _EXACT) or chance > math.log10(_CHANCE):
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
