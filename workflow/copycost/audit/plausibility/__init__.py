"""Can these numbers be measurements? Every check, over every dataset of a file."""

from copycost.audit.dataset import Dataset
from copycost.audit.plausibility import agreement, bounds, computed, gaps, repeated
from copycost.audit.plausibility.finding import Finding
from copycost.audit.plausibility.sample import Sample, samples_of

__all__ = ["Finding", "check_plausibility"]


def check_plausibility(dataset: Dataset) -> list[Finding]:
    """Return what speaks against the numbers, the surest and gravest first."""
    samples = list(samples_of(dataset))
    findings = list(repeated.check_datasets(samples))
    for sample in samples:
        findings += _check(sample)
    return sorted(findings, key=lambda finding: finding.rank)


def _check(sample: Sample) -> list[Finding]:
    formulas = list(computed.check_formulas(sample))
    explained = {name for finding in formulas for name in finding.quantities}
    derived = list(computed.check_derived(sample, explained))
    explained_too = explained | {name for finding in derived for name in finding.quantities}
    return [
        *gaps.check_gaps(sample),
        *formulas,
        *derived,
        *bounds.check_bounds(sample),
        *agreement.check_consistency(sample),
        *agreement.check_units(sample, explained),
        *repeated.check_repeats(sample, explained),
        *repeated.check_repetitions(sample, explained),
        *computed.check_jitter(sample, explained),
        *repeated.check_digits(sample, explained),
        *computed.check_curves(sample, explained_too),
        *repeated.check_copies(sample, explained_too),
        *agreement.check_labels(sample),
        *bounds.check_times(sample),
    ]
