"""Can these numbers be measurements? Every check, over every dataset of a file."""

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
    findings = list(copies.check_datasets(samples))
    for sample in samples:
        findings += _check(sample)
    return sorted(findings, key=lambda finding: finding.rank)


def _check(sample: Sample) -> list[Finding]:
    computed = list(formulas.check_formulas(sample))
    explained = {name for finding in computed for name in finding.quantities}
    derived = list(formulas.check_derived(sample, explained))
    explained_too = explained | {name for finding in derived for name in finding.quantities}
    return [
        *agreement.check_gaps(sample),
        *computed,
        *derived,
        *bounds.check_bounds(sample),
        *agreement.check_consistency(sample),
        *labels.check_units(sample, explained),
        *repetitions.check_repeats(sample, explained),
        *repetitions.check_repetitions(sample, explained),
        *curves.check_jitter(sample, explained),
        *copies.check_digits(sample, explained),
        *curves.check_curves(sample, explained_too),
        *copies.check_copies(sample, explained_too),
        *labels.check_labels(sample),
        *bounds.check_times(sample),
    ]
