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
    signs: dict[int, int]
    """Of the sizes that were compared, ascending: 1 better, -1 worse, 0 no difference seen."""
    missing: tuple[int, ...]
    """Those of the grid that could not be compared."""
    changes: tuple[Change, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return those that were compared, ascending."""
        return tuple(self.signs)


def find_crossover(compared: Mapping[int, Ratio], sizes: Sequence[int]) -> Crossover:
    """Classify a comparison along the sizes and bracket its changes of sign.

    Strict on purpose. `always` and `never` need every size of the grid decided, `from` and
    `up_to` the first and the last that were compared, and one change of sign between them; a size
    that shows no difference takes no side, wherever it lies. Two sizes must agree before a reversal
    counts, with none of the other sign between them; nothing is said beyond the ends of the grid.
    What is left is `undecided`, and the signs tell what was seen.

    How often a bracket holds the true place, and how often a shape is wrong: docs/method.md. Per
    size of the grid [bytes], `compared` has its ratio, as `family_ratios` judges it; or lacks it.
    """
    grid = sorted(sizes)
    ratios = {size: compared[size] for size in grid if size in compared}
    ratios = {size: ratio for size, ratio in ratios.items() if ratio.n_pairs > 0}
    missing = tuple(size for size in grid if size not in ratios)
    signs = {size: ratio.sign for size, ratio in ratios.items()}
    outcome, changes = _classify(signs)
    if missing and outcome in (Outcome.ALWAYS, Outcome.NEVER):
        outcome = Outcome.UNDECIDED  # one that nobody compared may be the exception
    once = any(ratio.n_pairs == 1 for ratio in ratios.values())
    return Crossover(outcome, once, signs, missing, changes)


def crossover_of_rounds(
    log_ratios: Mapping[int, FloatArray], sizes: Sequence[int], confidence: float
) -> Crossover:
    """Return `find_crossover` where nothing but these sizes [bytes] was compared.

    `log_ratios` has the rounds' logarithms, shape (n_rounds,), of each of them.
    """
    ratios = family_ratios(list(log_ratios.values()), confidence)
    return find_crossover(dict(zip(log_ratios, ratios, strict=True)), sizes)


def _classify(signs: dict[int, int]) -> tuple[Outcome, tuple[Change, ...]]:
    """Return the outcome of what the sizes show, and its changes of sign."""
    if not signs:
        return Outcome.NOT_MEASURED, ()
    decided = (size for size, sign in signs.items() if sign)
    sides = [[*same] for _, same in groupby(decided, key=lambda size: signs[size])]
    # A reversal needs two sizes; the first side reverses nothing.
    if not sides or any(len(side) == 1 for side in sides[1:]):
        return Outcome.UNDECIDED, ()
    changes = tuple(
        Change(signs[after[0]] > 0, before[-1], after[0]) for before, after in pairwise(sides)
    )
    if len(changes) > 1:
        return Outcome.MIXED, changes
    along = [*signs.values()]
    if 0 in ((along[0], along[-1]) if changes else along):
        return Outcome.UNDECIDED, ()
    if changes:
        return Outcome.FROM if changes[0].gains else Outcome.UP_TO, changes
    return Outcome.ALWAYS if along[0] > 0 else Outcome.NEVER, ()
