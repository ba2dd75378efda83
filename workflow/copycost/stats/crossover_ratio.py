"""Is one crossover at a smaller size than another? By the brackets of the two."""

from dataclasses import dataclass

from copycost.stats.crossover import Crossover, Outcome
from copycost.stats.ratios import Direction


@dataclass(frozen=True, slots=True)
class CrossoverRatio:
    """One crossover's size over another's.

    Attributes
    ----------
    low, high
        What the ratio of the two sizes lies between, if both brackets hold their places.
    direction
        Below where the first is at a smaller size, above where at a larger one; no difference
        seen where the brackets overlap.
    outcome
        The shape of both: better from the size on, or up to it.
    """

    low: float
    high: float
    direction: Direction
    outcome: Outcome


def crossover_ratio(first: Crossover, second: Crossover) -> CrossoverRatio | None:
    """Return the ratio of two crossovers, None unless both are found with one change the same way.

    Brackets that only touch do not overlap: at the size that they share, the two comparisons have
    opposite signs, so that one has changed before it and the other has not.
    """
    if first.outcome not in (Outcome.FROM, Outcome.UP_TO) or first.outcome is not second.outcome:
        return None
    one, other = first.changes[0], second.changes[0]
    low = one.below_bytes / other.above_bytes
    high = one.above_bytes / other.below_bytes
    if high <= 1.0:
        direction = Direction.BELOW
    elif low >= 1.0:
        direction = Direction.ABOVE
    else:
        direction = Direction.NO_DIFFERENCE
    return CrossoverRatio(low, high, direction, first.outcome)
