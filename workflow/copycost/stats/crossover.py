"""From which size on is one better than the other? Along the sizes at a fixed thread count."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from copycost.stats.ratios import Direction, Ratio, paired_ratio
from copycost.stats.roots import resampled_means, share_inside, split_roots
from copycost.stats.settings import FloatArray, StatisticsSettings

METHOD = "percentiles of the roots of log ratios resampled from their t distribution"
"""What the intervals of crossovers are called, wherever a text names them."""


class Outcome(StrEnum):
    """The shape of a comparison along the sizes."""

    ALWAYS = "always"
    NEVER = "never"
    FROM = "from"
    UP_TO = "up_to"
    MIXED = "mixed"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring sizes [bytes] that share a sign: 1 better, -1 worse, 0 no difference seen."""

    sign: int
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of sign.

    Attributes
    ----------
    gains
        True where the larger sizes are the better ones.
    below_bytes, above_bytes
        The bracket: the last size before the change and the first after it.
    point_bytes
        Where the ratio, interpolated over the logarithm of the size, is 1.
    low_bytes, high_bytes
        Its interval; None where it reaches the end of the grid, or where one round gives none.
    """

    gains: bool
    below_bytes: int
    above_bytes: int
    point_bytes: float
    low_bytes: float | None
    high_bytes: float | None


@dataclass(frozen=True, slots=True)
class Crossover:
    """What a comparison does along the sizes.

    Attributes
    ----------
    outcome
        The shape; `from` and `up_to` have one change, `mixed` two or more, the others none.
    observed_once
        True where a size was measured in one round only, so that signs are without certainty.
    sizes
        Sizes [bytes] that were compared, ascending.
    missing
        Sizes of the grid that could not be compared.
    stretches
        The signs along the sizes.
    lone
        Sizes whose sign no other shares before it turns again, so that they count as no reversal.
    changes
        The changes of sign.
    share_inside
        Share of resamples with a change of sign inside the grid; None without resamples.
    """

    outcome: Outcome
    observed_once: bool
    sizes: tuple[int, ...]
    missing: tuple[int, ...]
    stretches: tuple[Stretch, ...]
    lone: tuple[int, ...]
    changes: tuple[Change, ...]
    share_inside: float | None


def find_crossover(
    log_ratios: dict[int, FloatArray], sizes: Sequence[int], settings: StatisticsSettings
) -> Crossover:
    """Classify a comparison along the sizes and locate its changes of sign.

    Strict on purpose. `always` and `never` need every size of the grid decided, `from` and
    `up_to` the first and the last that were compared, and one change of sign between them; a size
    that shows no difference takes no side, wherever it lies. Two sizes must agree before a reversal
    counts, with none of the other sign between them; nothing is said beyond the ends of the grid.
    What is left is `undecided`, and the stretches tell what was seen.

    The location comes from resamples of the mean log ratio at each size. They are drawn from
    Student's t around the mean rather than from the rounds themselves: three rounds have only ten
    different resamples, whose spread is too small by a third (see `paired_ratio`).

    Parameters
    ----------
    log_ratios
        Per size [bytes] the logarithms of the rounds' ratios, shape (n_rounds,).
    sizes
        The sizes of the grid [bytes].
    """
    grid = sorted(sizes)
    ratios = {
        size: paired_ratio(log_ratios.get(size, np.empty(0)), settings.confidence) for size in grid
    }
    known = tuple(size for size in grid if ratios[size].n_pairs > 0)
    missing = tuple(size for size in grid if size not in known)
    if not known:
        return Crossover(Outcome.NOT_MEASURED, False, (), missing, (), (), (), None)
    once = any(ratios[size].n_pairs == 1 for size in known)
    signs = {size: _sign(ratios[size]) for size in known}
    stretches = _stretches(known, signs)
    outcome, turns, lone = _classify(stretches)
    if missing and outcome in (Outcome.ALWAYS, Outcome.NEVER):
        # A size of the grid that nobody compared may be the exception.
        outcome, turns = Outcome.UNDECIDED, ()
    means = np.array([np.log(ratios[size].value) for size in known])
    draws = None if once else resampled_means(known, log_ratios, means, settings)
    positions = np.log2(np.array(known, dtype=np.float64))
    changes = tuple(
        _locate(before, after, known, positions, means, draws, settings) for before, after in turns
    )
    share = None if draws is None else share_inside(draws)
    return Crossover(outcome, once, known, missing, stretches, lone, changes, share)


def _sign(ratio: Ratio) -> int:
    if ratio.direction is Direction.OBSERVED_ONCE:
        return int(np.sign(ratio.value - 1.0))
    return {Direction.ABOVE: 1, Direction.BELOW: -1}.get(ratio.direction, 0)


def _stretches(sizes: Sequence[int], signs: dict[int, int]) -> tuple[Stretch, ...]:
    stretches: list[Stretch] = []
    for size in sizes:
        if stretches and stretches[-1].sign == signs[size]:
            stretches[-1] = Stretch(signs[size], (*stretches[-1].sizes, size))
        else:
            stretches.append(Stretch(signs[size], (size,)))
    return tuple(stretches)


def _classify(
    stretches: tuple[Stretch, ...],
) -> tuple[Outcome, tuple[tuple[Stretch, Stretch], ...], tuple[int, ...]]:
    """Return the outcome, the sizes of one sign on both sides of each change, and lone sizes."""
    sides: list[Stretch] = []
    for stretch in stretches:
        if sides and sides[-1].sign == stretch.sign:
            sides[-1] = Stretch(stretch.sign, (*sides[-1].sizes, *stretch.sizes))
        elif stretch.sign != 0:
            sides.append(stretch)
    turns = tuple(pairwise(sides))
    # A reversal needs two sizes; the first side reverses nothing.
    lone = tuple(side.sizes[0] for side in sides[1:] if len(side.sizes) == 1)
    if not sides or lone:
        return Outcome.UNDECIDED, (), lone
    if len(turns) > 1:
        return Outcome.MIXED, turns, ()
    if len(turns) == 1:
        if stretches[0].sign == 0 or stretches[-1].sign == 0:
            return Outcome.UNDECIDED, (), ()
        return (Outcome.FROM if sides[1].sign > 0 else Outcome.UP_TO), turns, ()
    if len(stretches) > 1:
        return Outcome.UNDECIDED, (), ()
    return (Outcome.ALWAYS if sides[0].sign > 0 else Outcome.NEVER), (), ()


def _locate(
    before: Stretch,
    after: Stretch,
    sizes: Sequence[int],
    positions: FloatArray,
    means: FloatArray,
    draws: FloatArray | None,
    settings: StatisticsSettings,
) -> Change:
    """Place one change of sign, looking only at its two sides and at what lies between."""
    rising = after.sign > 0
    window = slice(sizes.index(before.sizes[0]), sizes.index(after.sizes[-1]) + 1)
    point = float(split_roots(means[None, window], positions[window], rising)[0])
    low: float | None = None
    high: float | None = None
    if draws is not None:
        roots = split_roots(draws[:, window], positions[window], rising)
        # "inverted_cdf" picks a value that occurs: no average with an infinite neighbour.
        ends = np.quantile(roots, [settings.tail, 1.0 - settings.tail], method="inverted_cdf")
        low = float(2.0 ** ends[0]) if np.isfinite(ends[0]) else None
        high = float(2.0 ** ends[1]) if np.isfinite(ends[1]) else None
    return Change(rising, before.sizes[-1], after.sizes[0], float(2.0**point), low, high)
