"""The interval of a ratio that was picked out of many: the highest, the lowest, the most certain.

A 95 % interval holds the truth in 95 % of the cells, but less often in the cell that chance has
moved furthest, which is the one that gets picked.
"""

from dataclasses import replace

from copycost.stats.ratios import Ratio, paired_ratio
from copycost.stats.settings import FloatArray

METHOD = "Student's t of the log ratios, Bonferroni's correction for the cells picked from"
"""What these intervals are called, wherever a text names them."""


def simultaneous_ratio(
    log_ratios: FloatArray, n_selected_from: int, confidence: float, least_error: float = 0.0
) -> Ratio:
    """Return `paired_ratio` with an interval that holds the truth however the ratio was picked.

    All intervals of that width together hold all their truths with the probability `confidence`,
    so the one that is picked does too. Each has its own spread and nothing is assumed of how the
    cells depend on each other. At three rounds it is wide: out of 28 cells, five and a half times
    as wide as that of a cell that was not picked; at seven rounds twice.

    Parameters
    ----------
    log_ratios
        Shape (n,): natural logarithm of the ratio in each round; NaN rounds are left out.
    n_selected_from
        Number of ratios that it was picked from, itself included; at least 1.
    confidence
        Share of such picks whose interval shall hold the truth, 0 to 1.
    least_error
        As of `paired_ratio`.

    Returns
    -------
    Ratio
        `p_value` and `direction` are corrected likewise.

    Raises
    ------
    ValueError
        If it was picked from nothing.

    Source
    ------
    O. J. Dunn, Multiple comparisons among means, J. Am. Stat. Assoc. 56 (1961).
    """
    if n_selected_from < 1:
        raise ValueError(f"got {n_selected_from} ratios to pick from, must be at least 1")
    found = paired_ratio(log_ratios, 1.0 - (1.0 - confidence) / n_selected_from, least_error)
    # NaN stays NaN: it is what comes first that min() keeps.
    return replace(found, p_value=min(found.p_value * n_selected_from, 1.0))
