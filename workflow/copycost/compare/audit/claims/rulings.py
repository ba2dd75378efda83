"""What cells say of a statement, one by one and together: p-values, and the verdict they give."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from copycost.analysis.stats.ratios import holm, paired_ratio
from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.claims.statements import Region
from copycost.compare.audit.dataset import STATISTICS

Key = tuple[str, str, int, int]
"""Dataset, implementation, message size [bytes], threads."""

_LEVEL = 1.0 - STATISTICS.confidence


class Verdict(StrEnum):
    """What the cells say of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    COMPATIBLE = "compatible"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one cell says of a claim.

    `p_for`: p-value of "it does not hold here": small where the cell supports the claim.
    `p_against`: p-value of "it holds here": small where the cell contradicts the claim. `evidence`:
    returns a line on the cell and its numbers. `once`: whether it rests on a single round, taken at
    its word: the p-values are then 0 and 1. `keys`: the cells that were compared. `incomplete`:
    whether something that would be compared is missing. `compatible`: whether the claimed size lies
    where no measured one tells: neither for nor against.
    """

    p_for: float
    p_against: float
    evidence: Callable[[], str] = str
    once: bool = False
    keys: tuple[Key, ...] = ()
    incomplete: bool = False
    compatible: bool = False


def weigh(values: FloatArray, region: Region) -> Ruling | None:
    """Return what the mean of some rounds says of a claimed range; None without any round.

    The p-values are those of the t tests whose interval the report shows, two-sided: the claim is
    supported where the whole interval is inside the range, and contradicted where all of it is
    outside.
    """
    known = values[np.isfinite(values)]
    if known.size == 0:
        return None
    mean = float(known.mean())
    if known.size == 1:
        holds = region.holds(mean)
        return Ruling(float(not holds), float(holds), once=True)
    p_for, p_against = 0.0, 1.0
    for end, inwards in ((region.low, 1.0), (region.high, -1.0)):
        if np.isfinite(end):
            p_value = paired_ratio(known - end, STATISTICS.confidence).p_value
            inside = (mean - end) * inwards
            p_for = max(p_for, p_value if inside > 0.0 else 1.0)
            p_against = min(p_against, p_value if inside < 0.0 else 1.0)
    return Ruling(p_for, p_against)


@dataclass(frozen=True)
class Survey:
    """What the cells that a statement is about say of it together.

    `rulings`: of the cells that were measured. `n_cells`: how many it is about, measured or not; a
    table that lacks some of them has gaps, whoever left them. `missing`: a line on each of the
    first of those that were not measured. `reason`: what to say instead of a count of cells.
    `in_`: in how many of them the statement has to hold. `n_statements`: how many statements the
    claim has: any of them may contradict it, some by chance alone.
    """

    rulings: tuple[Ruling, ...] = ()
    n_cells: int = 1
    missing: tuple[str, ...] = ()
    reason: str = ""
    in_: str = "all"
    n_statements: int = 1

    @property
    def _needed(self) -> int:
        """Return in how many cells the statement has to hold."""
        most, some = self.n_cells // 2 + 1, min(self.n_cells, 1)
        return {"all": self.n_cells, "most": most, "some": some}[self.in_]

    @property
    def _needed_against(self) -> int:
        """Return in how many it must not hold for it to be wrong."""
        return self.n_cells - self._needed + 1

    @cached_property
    def supporting(self) -> list[Ruling]:
        """Return the cells that support it, as far as can be said of so many."""
        p_values = np.array([ruling.p_for for ruling in self.rulings])
        return self._significant(holm(p_values, max(self._needed, 1)))

    @cached_property
    def contradicting(self) -> list[Ruling]:
        """Return the cells that contradict it, likewise."""
        p_values = np.array([ruling.p_against for ruling in self.rulings])
        return self._significant(holm(p_values, self._needed_against) * self.n_statements)

    def _significant(self, p_values: FloatArray) -> list[Ruling]:
        pairs = zip(self.rulings, p_values, strict=True)
        return [ruling for ruling, p_value in pairs if p_value <= _LEVEL]

    @cached_property
    def undecided(self) -> list[Ruling]:
        """Return those that do neither."""
        decided = {id(ruling) for ruling in (*self.supporting, *self.contradicting)}
        return [ruling for ruling in self.rulings if id(ruling) not in decided]

    @property
    def compatible(self) -> list[Ruling]:
        """Return those of the undecided that the claimed size is compatible with."""
        return [ruling for ruling in self.undecided if ruling.compatible]

    @property
    def n_missing(self) -> int:
        """Return the cells that were not measured, or only in part, and so say nothing."""
        return self.n_cells - len(self.rulings) + sum(r.incomplete for r in self.undecided)

    @property
    def misses(self) -> bool:
        """Tell whether nothing but missing cells leaves it open."""
        return self.n_missing > 0 and all(ruling.incomplete for ruling in self.undecided)

    @property
    def verdict(self) -> Verdict:
        """Return what they say together."""
        if not self.rulings:
            return Verdict.NOT_MEASURED
        if len(self.contradicting) >= self._needed_against:
            return Verdict.CONTRADICTED
        if len(self.supporting) >= self._needed:
            return Verdict.SUPPORTED
        allowing = len(self.supporting) + len(self.compatible)
        return Verdict.COMPATIBLE if allowing >= self._needed else Verdict.UNDECIDED

    @property
    def rests_on_once(self) -> bool:
        """Tell whether the verdict would be another without the cells measured once."""
        without = tuple(
            replace(ruling, p_for=1.0, p_against=1.0, compatible=False) if ruling.once else ruling
            for ruling in self.rulings
        )
        return replace(self, rulings=without).verdict != self.verdict
