"""From which size on is one better than the other? Along the sizes at a fixed thread count.

The place of a crossover is the bracket of the two measured sizes between which the verdict turns.
No point inside it is named: what lies between two sizes was not measured. Costs bend where a cache
is full and step at pages and segments, so that any curve through the two ends can cross 1 far from
where the costs do, and its interval would tell the scatter of the rounds only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise

from copycost.analysis.stats.ratios import Ratio, family_ratios
from copycost.analysis.stats.settings import FloatArray


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
    """One change of sign: `gains` where the larger sizes are the better ones.

    The bracket is the last size of the one sign and the first of the other [bytes]. Sizes between
    them, if any, show no difference.
    """

    gains: bool
    below_bytes: int
    above_bytes: int


@dataclass(frozen=True, slots=True)
class Crossover:
    """What a comparison does along the sizes [bytes]."""

    outcome: Outcome
    """The shape; `from` and `up_to` have one change, `mixed` two or more, the others none."""
    observed_once: bool
    """Whether a size was measured in one round only, so that signs are without certainty."""
    sizes: tuple[int, ...]
    """Those that were compared, ascending."""
    missing: tuple[int, ...]
    """Those of the grid that could not be compared."""
    stretches: tuple[Stretch, ...]
    changes: tuple[Change, ...]


def find_crossover(compared: Mapping[int, Ratio], sizes: Sequence[int]) -> Crossover:
    """Classify a comparison along the sizes and bracket its changes of sign.

    Strict on purpose. `always` and `never` need every size of the grid decided, `from` and
    `up_to` the first and the last that were compared, and one change of sign between them; a size
    that shows no difference takes no side, wherever it lies. Two sizes must agree before a reversal
    counts, with none of the other sign between them; nothing is said beyond the ends of the grid.
    What is left is `undecided`, and the stretches tell what was seen.

    How often a bracket holds the true place, and how often a shape is wrong: docs/method.md. Per
    size of the grid [bytes], `compared` has its ratio, as `family_ratios` judges it; or lacks it.
    """
    grid = sorted(sizes)
    ratios = {size: one for size, one in compared.items() if one.n_pairs > 0}
    known = tuple(size for size in grid if size in ratios)
    missing = tuple(size for size in grid if size not in known)
    if not known:
        return Crossover(Outcome.NOT_MEASURED, False, (), missing, (), ())
    once = any(ratios[size].n_pairs == 1 for size in known)
    signs = {size: ratios[size].sign for size in known}
    stretches = _stretches(known, signs)
    outcome, turns = _classify(stretches)
    if missing and outcome in (Outcome.ALWAYS, Outcome.NEVER):
        # A size of the grid that nobody compared may be the exception.
        outcome, turns = Outcome.UNDECIDED, ()
    changes = tuple(
        Change(after.sign > 0, before.sizes[-1], after.sizes[0]) for before, after in turns
    )
    return Crossover(outcome, once, known, missing, stretches, changes)


def crossover_of_rounds(
    log_ratios: Mapping[int, FloatArray], sizes: Sequence[int], confidence: float
) -> Crossover:
    """Return `find_crossover` where nothing but these sizes [bytes] was compared.

    `log_ratios` has the rounds' logarithms, shape (n_rounds,), of each of them.
    """
    ratios = family_ratios(list(log_ratios.values()), confidence)
    return find_crossover(dict(zip(log_ratios, ratios, strict=True)), sizes)


def _stretches(sizes: Sequence[int], signs: dict[int, int]) -> tuple[Stretch, ...]:
    """Return sizes of one sign together, in their order."""
    return tuple(
        Stretch(sign, tuple(same)) for sign, same in groupby(sizes, key=lambda size: signs[size])
    )


def _classify(
    stretches: tuple[Stretch, ...],
) -> tuple[Outcome, tuple[tuple[Stretch, Stretch], ...]]:
    """Return the outcome, and the sizes of one sign on both sides of each change."""
    signs = {size: stretch.sign for stretch in stretches for size in stretch.sizes}
    sides = _stretches([size for size, sign in signs.items() if sign], signs)
    turns = tuple(pairwise(sides))
    # A reversal needs two sizes; the first side reverses nothing.
    if not sides or any(len(side.sizes) == 1 for side in sides[1:]):
        return Outcome.UNDECIDED, ()
    if len(turns) > 1:
        return Outcome.MIXED, turns
    if len(turns) == 1:
        if stretches[0].sign == 0 or stretches[-1].sign == 0:
            return Outcome.UNDECIDED, ()
        return (Outcome.FROM if sides[1].sign > 0 else Outcome.UP_TO), turns
    if len(stretches) > 1:
        return Outcome.UNDECIDED, ()
    return (Outcome.ALWAYS if sides[0].sign > 0 else Outcome.NEVER), ()
