"""Can these numbers be measurements? Every check, over every dataset of a file."""

from copycost.audit.dataset import Dataset
from copycost.audit.plausibility.consistency import check_consistency
from copycost.audit.plausibility.copies import check_copies, check_datasets
from copycost.audit.plausibility.curves import check_curves
from copycost.audit.plausibility.derived import check_derived
from copycost.audit.plausibility.digits import check_digits
from copycost.audit.plausibility.finding import Finding
from copycost.audit.plausibility.formulas import check_formulas
from copycost.audit.plausibility.gaps import check_gaps
from copycost.audit.plausibility.jitter import check_jitter
from copycost.audit.plausibility.labels import check_labels
from copycost.audit.plausibility.limits import check_limits
from copycost.audit.plausibility.repeats import check_repeats
from copycost.audit.plausibility.sample import Sample, samples_of
from copycost.audit.plausibility.sorting import check_repetitions
from copycost.audit.plausibility.times import check_times
from copycost.audit.plausibility.units import check_units
from copycost.audit.plausibility.workloads import check_workload

__all__ = ["Finding", "check_plausibility"]


def check_plausibility(dataset: Dataset) -> list[Finding]:
    """Return what speaks against the numbers, the surest and gravest first."""
    samples = list(samples_of(dataset))
    findings = list(check_datasets(samples))
    for sample in samples:
        findings += _check(sample)
    return sorted(findings, key=lambda finding: finding.rank)


def _check(sample: Sample) -> list[Finding]:
    formulas = check_formulas(sample)
    explained = {name for finding in formulas for name in finding.quantities}
    derived = check_derived(sample, explained)
    explained_too = explained | {name for finding in derived for name in finding.quantities}
    return [
        *check_gaps(sample),
        *formulas,
        *derived,
        *check_limits(sample),
        *check_workload(sample),
        *check_consistency(sample),
        *check_units(sample, explained),
        *check_repeats(sample, explained),
        *check_repetitions(sample, explained),
        *check_jitter(sample, explained),
        *check_digits(sample, explained),
        *check_curves(sample, explained_too),
        *check_copies(sample, explained_too),
        *check_labels(sample),
        *check_times(sample),
    ]
