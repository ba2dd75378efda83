"""Statements about groups of comparisons: which stand together, and how a quantity goes along.

A group's statement ("rose with the threads") needs a test of its own: a collection of verdicts of
its parts would say "no difference" wherever a part is too noisy to show what the whole shows.
`tools.simulate groups` measures how often the statements made here are wrong, and how often a true
one is made.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

import numpy as np
from scipy import special

from copycost.analysis.stats.ratios import (
    Direction,
    Ratio,
    holm,
    holm_levels,
    paired_ratio,
    t_quantile,
)
from copycost.analysis.stats.settings import FloatArray


class Course(StrEnum):
    """How a quantity goes along an ordered axis, as far as its rounds settle that."""

    RISES = "rises"
    FALLS = "falls"
    TURNS = "turns"
    UNSETTLED = "unsettled"


@dataclass(frozen=True, slots=True)
class Change:
    """The change from one point of the axis to a later one."""

    start: int
    end: int
    ratio: Ratio
    """The quantity at the end over that at the start, with the interval that `sign` rests on."""
    sign: int
    """1 or -1 where the change stands after correction for all that are tested with it; else 0."""


@dataclass(frozen=True, slots=True)
class Path:
    """What may be said of all changes between the points of an axis."""

    course: Course
    """Rises where some change stands upwards and none downwards; turns where both do."""
    told: tuple[Change, ...]
    """The changes that show it: the whole way where it stands, else the surest; of a course that
    turns, one upwards and one downwards, in the order of the axis.
    """
    changes: tuple[Change, ...]
    """All of them."""


def settled_signs(ratios: Sequence[Ratio], confidence: float) -> list[int]:
    """Return 1, -1, or 0 where a ratio does not stand after Holm's correction for all of these.

    One round settles nothing; see `settled_ratios`.
    """
    return [_sign(ratio) for ratio in settled_ratios(ratios, confidence)]


def _sign(settled: Ratio) -> int:
    return settled.sign if settled.n_pairs > 1 else 0


def settled_ratios(ratios: Sequence[Ratio], confidence: float) -> list[Ratio]:
    """Return ratios with the intervals and directions that Holm's correction for all leaves them.

    A few rounds may agree by chance, above all where a machine has two states, and Student's t
    would then be sure of anything. So no ratio is taken to scatter less than half of them do: that
    can only make it stand less often. All are of the same quantity, so that their spreads can be
    held against each other, and have intervals of this `confidence`.
    """
    spreads = np.array([_spread(ratio, confidence) for ratio in ratios])
    known = spreads[np.isfinite(spreads)]
    least = float(np.median(known)) if known.size else math.nan
    p_values = [
        _p_value(ratio, max(spread, least)) if math.isfinite(spread) else math.nan
        for ratio, spread in zip(ratios, spreads, strict=True)
    ]
    levels = holm_levels(np.array(p_values, dtype=np.float64), 1.0 - confidence)
    return [
        _at_level(ratio, max(spread, least), level) if math.isfinite(spread) else ratio
        for ratio, spread, level in zip(ratios, spreads.tolist(), levels.tolist(), strict=True)
    ]


def _at_level(ratio: Ratio, spread: float, level: float) -> Ratio:
    """Return a ratio whose rounds scatter so much, as a test of this level sees it."""
    half = t_quantile(1.0 - level / 2.0, ratio.n_pairs - 1) * spread / math.sqrt(ratio.n_pairs)
    low, high = ratio.value * math.exp(-half), ratio.value * math.exp(half)
    direction = Direction.NO_DIFFERENCE
    if not low <= 1.0 <= high:
        direction = Direction.ABOVE if low > 1.0 else Direction.BELOW
    return replace(ratio, low=low, high=high, direction=direction)


def _spread(ratio: Ratio, confidence: float) -> float:
    """Return the standard deviation of the rounds' log ratios; NaN of fewer than two."""
    if ratio.n_pairs < 2 or not 0.0 < ratio.low <= ratio.high < math.inf:
        return math.nan
    half = math.log(ratio.high / ratio.low) / 2.0
    quantile = t_quantile((1.0 + confidence) / 2.0, ratio.n_pairs - 1)
    return half / quantile * math.sqrt(ratio.n_pairs)


def _p_value(ratio: Ratio, spread: float) -> float:
    mean = math.log(ratio.value)
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    statistic = abs(mean) / spread * math.sqrt(ratio.n_pairs)
    return float(2.0 * special.stdtr(ratio.n_pairs - 1, -statistic))


def paths(
    ratios: Mapping[str, Mapping[tuple[int, int], Ratio]], confidence: float
) -> dict[str, Path]:
    """Return what may be said of each of several quantities along the same axis, tested together.

    Per quantity, `ratios` has for pairs of points of the axis, the first one first, the quantity at
    the second over that at the first.
    """
    every = [one for of in ratios.values() for one in of.values()]
    settled = iter(settled_ratios(every, confidence))
    return {
        name: path_of([Change(*ends, one := next(settled), _sign(one)) for ends in of])
        for name, of in ratios.items()
    }


def path_of(changes: Sequence[Change]) -> Path:
    """Return what the changes between all pairs of points of one axis say together.

    Every pair is a change of its own, not only neighbours: a rise too small for any single step to
    show is shown by the whole way.
    """
    up = [change for change in changes if change.sign > 0]
    down = [change for change in changes if change.sign < 0]
    if up and down:
        return Path(Course.TURNS, _turn(up, down), tuple(changes))
    if up:
        return Path(Course.RISES, (_whole_or_surest(up, changes),), tuple(changes))
    if down:
        return Path(Course.FALLS, (_whole_or_surest(down, changes),), tuple(changes))
    return Path(Course.UNSETTLED, (), tuple(changes))


def _turn(up: Sequence[Change], down: Sequence[Change]) -> tuple[Change, ...]:
    """Return a change upwards and one downwards, of which one ends where the other starts.

    Of several such, those of which the less sure one is surest; where none meet, the surest.
    """
    both = [
        (one, other)
        for one, other in product([*up, *down], repeat=2)
        if one.end == other.start and one.sign != other.sign
    ]
    if both:
        return min(both, key=lambda pair: max(change.ratio.p_value for change in pair))
    return tuple(sorted((_surest(up), _surest(down)), key=lambda change: change.start))


def _surest(changes: Sequence[Change]) -> Change:
    return min(changes, key=lambda change: (change.ratio.p_value, -(change.end - change.start)))


def _whole_or_surest(standing: Sequence[Change], changes: Sequence[Change]) -> Change:
    first = min(change.start for change in changes)
    last = max(change.end for change in changes)
    whole = [change for change in standing if (change.start, change.end) == (first, last)]
    return whole[0] if whole else _surest(standing)


def reversals(log_ratios: Mapping[int, Sequence[FloatArray]], confidence: float) -> tuple[int, ...]:
    """Return the sizes [bytes] at which a comparison is shown to turn around between settings.

    At a size, that is to be shown against two beliefs: that the ratio is at most 1 in every
    setting, and that it is at least 1 in every one. Each is tested by its most contrary setting,
    with Student's t over the rounds and Bonferroni's correction for the number of settings; both
    have to fall, so the larger p-value counts. Holm's correction is for the number of sizes. Each
    cell has its own spread, and nothing is assumed of how cells depend on each other, so that
    where nothing turns around, some size is returned in at most 1 - `confidence` of the runs.

    A ratio that only differs in size between settings is no reversal. Per size and setting,
    `log_ratios` has the rounds' logarithms, shape (n_rounds,).

    Source
    ------
    The null hypothesis is that of M. Gail and R. Simon, Testing for qualitative interactions
    between treatment effects and patient subsets, Biometrics 41 (1985); their test assumes known
    spreads.
    """
    sizes = sorted(log_ratios)
    p_values = np.array([_reversal_p_value(log_ratios[size], confidence) for size in sizes])
    corrected = holm(p_values)
    return tuple(size for size, p in zip(sizes, corrected, strict=True) if p < 1.0 - confidence)


def _reversal_p_value(settings: Sequence[FloatArray], confidence: float) -> float:
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
