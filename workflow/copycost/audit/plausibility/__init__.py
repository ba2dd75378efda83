"""Can these numbers be measurements? Every check, over every dataset of a file."""

from copycost.audit.dataset import Dataset
from copycost.audit.plausibility.consistency import check_consistency
from copycost.audit.plausibility.derived import check_derived
from copycost.audit.plausibility.digits import check_digits
from copycost.audit.plausibility.finding import Finding
from copycost.audit.plausibility.formulas import check_formulas
from copycost.audit.plausibility.gaps import check_gaps
from copycost.audit.plausibility.limits import check_limits
from copycost.audit.plausibility.repeats import check_repeats
from copycost.audit.plausibility.sample import samples_of

__all__ = ["Finding", "check_plausibility"]


def check_plausibility(dataset: Dataset) -> list[Finding]:
    """Return what speaks against the numbers, the surest and gravest first."""
    findings: list[Finding] = []
    for sample in samples_of(dataset):
        findings += check_gaps(sample)
        formulas = check_formulas(sample)
        explained = {name for finding in formulas for name in finding.quantities}
        findings += formulas
        findings += check_derived(sample, explained)
        findings += check_limits(sample)
        findings += check_consistency(sample)
        findings += check_repeats(sample, explained)
        findings += check_digits(sample, explained)
    return sorted(findings, key=lambda finding: finding.rank)
