"""Can these numbers be measurements? Every check, over every dataset of a file."""

from collections.abc import Iterator
from itertools import chain

from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.plausibility import computed, copied, noise, rows
from copycost.compare.audit.plausibility.sample import Finding, Kind, Sample, Sureness, samples_of

__all__ = ["Finding", "Kind", "Sureness", "check_plausibility"]


def check_plausibility(dataset: Dataset) -> list[Finding]:
    """Return what speaks against the numbers, the surest and gravest first."""
    samples = list(samples_of(dataset))
    findings = [*copied.check_datasets(samples), *chain.from_iterable(map(_check, samples))]
    return sorted(findings, key=lambda finding: finding.rank)


def _check(sample: Sample) -> Iterator[Finding]:
    formulas = list(computed.check_formulas(sample))
    rest = sample.without(formulas)
    derived = list(computed.check_derived(rest))
    yield from (*rows.check_gaps(sample), *formulas, *derived)
    yield from rows.check_bounds(sample)
    yield from rows.check_times(sample)
    yield from rows.check_consistency(sample)
    # What a formula or another column explains is no news to these.
    yield from rows.check_units(rest)
    yield from copied.check_repeats(rest)
    yield from copied.check_cumulative(rest)
    yield from copied.check_digits(rest)
    yield from noise.check_jitter(rest)
    yield from noise.check_repetitions(rest)
    rest = rest.without(derived)
    yield from copied.check_copies(rest)
    yield from noise.check_smooth(rest)
    yield from noise.check_interpolated(rest)
