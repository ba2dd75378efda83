"""Whether digits are those of measurements, or rounder and more regular."""

import math
from collections.abc import Collection

import numpy as np
from scipy import special  # scipy.stats takes a second to import, which a small audit feels

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import base_of
from copycost.stats.settings import FloatArray

_LEAST_VALUES = 8
_LEAST_LAST_DIGITS = 30
_CHANCE = 1e-6
_LEFT_OUT = frozenset({"duration", "bytes", "messages", "copied_share"})


def check_digits(sample: Sample, explained: Collection[str]) -> list[Finding]:
    """Return columns whose values are all multiples of a number, too round, or too regular."""
    findings = []
    for name in sample.quantities:
        if name in _LEFT_OUT or name in explained or base_of(name).kind == "share":
            continue
        units = _mantissas(sample, name)
        if len(np.unique(units)) < _LEAST_VALUES:
            continue
        for check in (_multiples, _rounded, _last_digits):
            found = check(sample, name, units)
            if found is not None:
                findings.append(found)
                break
    return findings


def _mantissas(sample: Sample, name: str) -> FloatArray:
    """Return the values as whole numbers of the step that each was rounded to; none where unknown.

    So the zeros of rounding, which is honest, do not count as digits.
    """
    values = sample.table[name].abs().to_numpy(dtype=np.float64)
    steps = sample.resolution(name)
    known = (values > 0.0) & (steps > 0.0)
    units = np.round(values[known] / steps[known])
    return np.asarray(units[units < 2.0**52], dtype=np.float64)


def _multiples(sample: Sample, name: str, units: FloatArray) -> Finding | None:
    divisor = math.gcd(*(int(unit) for unit in units))
    distinct = len(np.unique(units))
    if divisor < 2 or distinct * math.log10(divisor) < -math.log10(_CHANCE):
        return None
    if np.median(units) < (20 if base_of(name).kind == "time" else 4) * divisor:
        return None  # few steps: a coarse clock, such as one of 4 ms
    return _finding(
        sample, name, Sureness.VERY_LIKELY, "multiples", n_values=len(units), divisor=divisor
    )


def _rounded(sample: Sample, name: str, units: FloatArray) -> Finding | None:
    """Return a finding if values have two digits and then zeros, where others have more digits."""
    digits = np.array([len(str(int(unit)).rstrip("0")) for unit in units])
    lengths = np.array([len(str(int(unit))) for unit in units])
    long = lengths >= 4
    if long.sum() < _LEAST_VALUES:
        return None
    n_round = int((digits[long] <= 2).sum())
    # One in ten of four-digit numbers ends in one zero, one in a hundred in two.
    chance = float(special.bdtrc(n_round - 1, int(long.sum()), 0.01))
    if n_round < 4 or chance > _CHANCE:
        return None
    return _finding(
        sample, name, Sureness.POSSIBLE, "round_numbers", n_round=n_round, n_values=int(long.sum())
    )


def _last_digits(sample: Sample, name: str, units: FloatArray) -> Finding | None:
    """Return a finding if the last digits of long numbers are far from equally frequent."""
    last = units[units >= 1000].astype(np.int64) % 10
    if len(last) < _LEAST_LAST_DIGITS:
        return None
    counts = np.bincount(last, minlength=10)
    # Values written without the zeros behind the point end in no zero.
    expected = counts[1:].mean()
    chi_square = float(((counts[1:] - expected) ** 2 / expected).sum())
    if float(special.chdtrc(len(counts[1:]) - 1, chi_square)) > _CHANCE:
        return None
    return _finding(
        sample, name, Sureness.POSSIBLE, "last_digits",
        digit=int(np.argmax(counts)), n_times=int(counts.max()), n_values=len(last),
    )  # fmt: skip


def _finding(
    sample: Sample, name: str, sureness: Sureness, code: str, **numbers: object
) -> Finding:
    return Finding("digits", code, Kind.ODD, sureness, sample.name, (name,), numbers)
