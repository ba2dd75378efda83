"""Can these numbers be measurements? Every check, over every dataset of a file."""

from collections.abc import Iterator
from itertools import chain

from copycost.audit.dataset import Dataset
from copycost.audit.plausibility import (
    agreement,
    bounds,
    copies,
    curves,
    formulas,
    labels,
    repetitions,
)
from copycost.audit.plausibility.finding import Finding
from copycost.audit.plausibility.sample import Sample, samples_of

__all__ = ["Finding", "check_plausibility"]


def check_plausibility(dataset: Dataset) -> list[Finding]:
    """Return what speaks against the numbers, the surest and gravest first."""
    samples = list(samples_of(dataset))
    findings = [*copies.check_datasets(samples), *chain.from_iterable(map(_check, samples))]
    return sorted(findings, key=lambda finding: finding.rank)


def _check(sample: Sample) -> Iterator[Finding]:
    """Yield what each check finds; what a formula explains is no news to those behind it."""
    computed = list(formulas.check_formulas(sample))
    rest = sample.without(computed)
    derived = list(formulas.check_derived(rest))
    least = rest.without(derived)
    yield from agreement.check_gaps(sample)
    yield from (*computed, *derived)
    for check, of in (
        (bounds.check_impossible, sample),
        (bounds.check_odd, sample),
        (agreement.check_consistency, sample),
        (labels.check_units, rest),
        (repetitions.check_repeats, rest),
        (repetitions.check_repetitions, rest),
        (curves.check_jitter, rest),
        (copies.check_digits, rest),
        (curves.check_curves, least),
        (copies.check_copies, least),
        (labels.check_labels, sample),
        (bounds.check_times, sample),
    ):
        yield from check(of)
