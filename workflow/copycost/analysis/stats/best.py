"""Which of several things measured in the same rounds is the best, as far as the rounds tell.

`tools.simulate decisions` measures how often the answer is wrong.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from copycost.analysis.stats import ALIKE
from copycost.analysis.stats.ratios import Ratio, holm, paired_ratio, simultaneous_ratio
from copycost.analysis.stats.settings import FloatArray


class Told(StrEnum):
    """What may be said of who is the best."""

    BEST = "best"
    """One is shown to be better than every other."""
    ALIKE = "alike"
    """Several may be the best, and are shown to differ by less than `ALIKE`."""
    OPEN = "open"
    """Several may be the best."""
    ONCE = "once"
    """One was the best in the only round."""
    ALONE = "alone"
    """There is nothing to compare it with."""


@dataclass(frozen=True, slots=True)
class Best:
    """Who is the best."""

    told: Told
    """What is said of them."""
    members: tuple[int, ...]
    """Places of the best one, or of all that may be it, the likeliest first."""
    p_value: float
    """Of "some other is at least as good as the likeliest one"; NaN where it is not tested."""


def find_best(logs: FloatArray, confidence: float) -> Best:
    """Return which row of logarithms, higher is better, is the best, or which rows may be.

    One is called the best only if it is shown to be better than every other, each compared round by
    round with Student's t. All these comparisons have to hold, so none of them needs a correction
    for their number: that is the intersection-union test, and one of two that are alike is called
    the best in at most 1 - `confidence` of the runs. Where it is not shown, a row is left out only
    if it is shown to be worse than the likeliest one, with Holm's correction, since that it is left
    out wrongly takes only one of these comparisons to go wrong.

    Shape of `logs`: (n_things, n_rounds), at least one thing, else `ValueError`; NaN where a round
    lacks a value, of which every thing has some.

    Source
    ------
    R. L. Berger, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24
    (1982); J. C. Hsu, Constrained simultaneous confidence intervals for multiple comparisons with
    the best, Annals of Statistics 12 (1984).
    """
    if not len(logs):
        raise ValueError("got nothing to choose from")
    likeliest = _likeliest(logs)
    others = [place for place in range(len(logs)) if place != likeliest]
    if not others:
        return Best(Told.ALONE, (likeliest,), float("nan"))
    ratios = [paired_ratio(logs[likeliest] - logs[other], confidence) for other in others]
    if max(ratio.n_pairs for ratio in ratios) < 2:
        return Best(Told.ONCE, (likeliest,), float("nan"))
    p_value = max(_not_better(ratio) for ratio in ratios)
    if p_value < 1.0 - confidence:
        return Best(Told.BEST, (likeliest,), p_value)
    corrected = holm(np.array([ratio.p_value for ratio in ratios]))
    kept = sorted(
        (ratio.value, other)
        for ratio, other, p in zip(ratios, others, corrected, strict=True)
        if not (ratio.value > 1.0 and p < 1.0 - confidence)
    )
    members = (likeliest, *(other for _, other in kept))
    widths = [simultaneous_ratio(logs[likeliest] - logs[other], len(others), confidence)
              for other in members[1:]]  # fmt: skip
    alike = all(width.n_pairs > 1 and width.high < ALIKE and width.low > 1.0 / ALIKE
                for width in widths)  # fmt: skip
    return Best(Told.ALIKE if alike else Told.OPEN, members, p_value)


def _likeliest(logs: FloatArray) -> int:
    """Return the row whose least mean lead over another is largest: the one of the highest mean.

    Leads are means over the rounds that two have in common, so that rounds in which only some were
    measured do not decide.
    """
    leads = logs[:, None, :] - logs[None, :, :]
    known = np.isfinite(leads)
    counts = known.sum(axis=2)
    sums = np.where(known, leads, 0.0).sum(axis=2)
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    np.fill_diagonal(means, np.inf)
    return int(means.min(axis=1).argmax())


def _not_better(ratio: Ratio) -> float:
    """Return the p-value, as of a two-sided test, of "not above 1"; 1 where it is not tested."""
    if ratio.n_pairs < 2 or ratio.value <= 1.0:
        return 1.0
    return ratio.p_value
