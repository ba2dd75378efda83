"""Whether which of two is better depends on a third thing, such as the number of threads."""

from collections.abc import Mapping, Sequence

import numpy as np

from copycost.stats.ratios import Ratio, holm, paired_ratio
from copycost.stats.settings import FloatArray


def reversals(log_ratios: Mapping[int, Sequence[FloatArray]], confidence: float) -> tuple[int, ...]:
    """Return the sizes at which a comparison is shown to turn around between settings.

    At a size, that is to be shown against two beliefs: that the ratio is at most 1 in every
    setting, and that it is at least 1 in every one. Each is tested by its most contrary setting,
    with Student's t over the rounds and Bonferroni's correction for the number of settings; both
    have to fall, so the larger p-value counts. Holm's correction is for the number of sizes. Each
    cell has its own spread, and nothing is assumed of how cells depend on each other, so that
    where nothing turns around, some size is returned in at most 1 - `confidence` of the runs.

    A ratio that only differs in size between settings is no reversal.

    Parameters
    ----------
    log_ratios
        Per size [bytes], for each setting the logarithms of the rounds' ratios, shape (n_rounds,).
    confidence
        0 to 1.

    Returns
    -------
    tuple
        Sizes [bytes], ascending.

    Source
    ------
    The null hypothesis is that of M. Gail and R. Simon, Testing for qualitative interactions
    between treatment effects and patient subsets, Biometrics 41 (1985); their test assumes known
    spreads.
    """
    sizes = sorted(log_ratios)
    p_values = np.array([_p_value(log_ratios[size], confidence) for size in sizes])
    corrected = holm(p_values)
    return tuple(size for size, p in zip(sizes, corrected, strict=True) if p < 1.0 - confidence)


def _p_value(settings: Sequence[FloatArray], confidence: float) -> float:
    found = [paired_ratio(rounds, confidence) for rounds in settings]
    tested = [one for one in found if one.n_pairs > 1]
    if len(tested) < 2:
        return float("nan")
    above = [_one_sided(one, is_above=True) for one in tested]
    below = [_one_sided(one, is_above=False) for one in tested]
    return min(1.0, len(tested) * max(min(above), min(below)))


def _one_sided(found: Ratio, *, is_above: bool) -> float:
    """Return the p-value of "the ratio is at most 1", or of "at least 1"."""
    agrees = found.value > 1.0 if is_above else found.value < 1.0
    return found.p_value / 2.0 if agrees else 1.0 - found.p_value / 2.0
