"""Can these numbers be measurements? Every check, over every dataset of a file."""

from collections.abc import Callable, Iterator
from itertools import chain

from copycost.audit.dataset import Dataset
from copycost.audit.plausibility import agreement, bounds, computed, copied
from copycost.audit.plausibility.finding import Finding
from copycost.audit.plausibility.sample import Sample, samples_of

__all__ = ["Finding", "check_plausibility"]

_ALL, _NO_FORMULA, _NOT_DERIVED = range(3)
"""All columns; those that no formula gives; of these, those that do not follow from others."""

_CHECKS: tuple[tuple[Callable[[Sample], Iterator[Finding]], int], ...] = (
    (bounds.check_bounds, _ALL),
    (agreement.check_consistency, _ALL),
    (agreement.check_units, _NO_FORMULA),
    (copied.check_repeats, _NO_FORMULA),
    (copied.check_cumulative, _NO_FORMULA),
    (copied.check_digits, _NO_FORMULA),
    (computed.check_curves, _NOT_DERIVED),
    (copied.check_copies, _NOT_DERIVED),
)
"""What is looked for, and in which columns: what a formula explains is no news to the others."""


def check_plausibility(dataset: Dataset) -> list[Finding]:
    """Return what speaks against the numbers, the surest and gravest first."""
    samples = list(samples_of(dataset))
    findings = [*copied.check_datasets(samples), *chain.from_iterable(map(_check, samples))]
    return sorted(findings, key=lambda finding: finding.rank)


def _check(sample: Sample) -> Iterator[Finding]:
    formulas = list(computed.check_formulas(sample))
    rest = sample.without(formulas)
    derived = list(computed.check_derived(rest))
    yield from (*agreement.check_gaps(sample), *formulas, *derived)
    columns = (sample, rest, rest.without(derived))
    for check, of in _CHECKS:
        yield from check(columns[of])
