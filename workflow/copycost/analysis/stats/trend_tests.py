"""Statements about groups of comparisons: which stand together, and how a quantity goes along.

A group's statement ("rose with the threads") needs a test of its own: a collection of verdicts of
its parts would say "no difference" wherever a part is too noisy to show what the whole shows.
`tools.simulate groups` measures how often the statements made here are wrong, and how often a true
one is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from copycost.analysis.stats.ratios import Ratio, family_ratios, holm, paired_ratio
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

    @property
    def sign(self) -> int:
        """Return 1 or -1 where it stands after correction for all that are tested with it."""
        return _sign(self.ratio)


@dataclass(frozen=True, slots=True)
class Path:
    """What may be said of all changes between the points of an axis."""

    course: Course
    """Rises where some change stands upwards and none downwards; turns where both do."""
    told: tuple[Change, ...]
    """The changes that show it, one upwards and one downwards if there are both: the whole way
    where it stands, else the surest.
    """
    changes: tuple[Change, ...]
    """All of them."""


def settled_signs(rows: Sequence[FloatArray], confidence: float) -> list[int]:
    """Return 1, -1, or 0 where a ratio does not stand after Holm's correction for all of these.

    One round settles nothing; see `settled_ratios`.
    """
    return [_sign(ratio) for ratio in settled_ratios(rows, confidence)]


def _sign(settled: Ratio) -> int:
    return settled.sign if settled.n_pairs > 1 else 0


def settled_ratios(rows: Sequence[FloatArray], confidence: float) -> list[Ratio]:
    """Return the ratios of rounds' logarithms, (n_rounds,) each, that are judged together (Holm).

    A few rounds may agree by chance, above all where a machine has two states, and Student's t
    would then be sure of anything. So no ratio is taken to scatter less than half of them do: that
    can only make it stand less often. All are of the same quantity, so that their spreads can be
    held against each other.
    """
    known = [row[np.isfinite(row)] for row in rows]
    spreads = [float(row.std(ddof=1)) for row in known if row.size > 1]
    least = float(np.median(spreads)) if spreads else 0.0
    return family_ratios(known, confidence, [least / max(row.size, 1) ** 0.5 for row in known])


def paths(
    rows: Mapping[str, Mapping[tuple[int, int], FloatArray]], confidence: float
) -> dict[str, Path]:
    """Return what may be said of each of several quantities along the same axis, tested together.

    Per quantity, `rows` has for pairs of points of the axis, the first one first, the rounds'
    logarithms of the quantity at the second over that at the first.
    """
    settled = iter(settled_ratios([row for of in rows.values() for row in of.values()], confidence))
    return {
        name: path_of([Change(*ends, next(settled)) for ends in of]) for name, of in rows.items()
    }


def path_of(changes: Sequence[Change]) -> Path:
    """Return what the changes between all pairs of points of one axis say together.

    Every pair is a change of its own, not only neighbours: a rise too small for any single step to
    show is shown by the whole way.
    """
    longest = max((change.end - change.start for change in changes), default=0)

    def surest(change: Change) -> tuple[bool, float, int]:
        length = change.end - change.start
        return length < longest, change.ratio.p_value, -length

    standing = ([change for change in changes if change.sign == sign] for sign in (1, -1))
    told = tuple(min(some, key=surest) for some in standing if some)
    course = {(): Course.UNSETTLED, (1,): Course.RISES, (-1,): Course.FALLS, (1, -1): Course.TURNS}
    return Path(course[tuple(change.sign for change in told)], told, tuple(changes))


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
