"""What a plausibility check says."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Sureness(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    VERY_LIKELY = "very likely"
    POSSIBLE = "possible"


class Kind(StrEnum):
    """What a finding means for the numbers."""

    NO_MEASUREMENT = "no measurement"
    IMPOSSIBLE = "impossible"
    CONTRADICTION = "contradiction"
    NOT_SEPARATE = "not measured separately"
    NOT_COUNTED = "not counted"
    ODD = "odd, a question to the author"
    WEAK = "weak evidence"
    INCOMPLETE = "incomplete"


_GRAVITY = tuple(Kind)
_SURE = tuple(Sureness)

REFUTING = (Kind.NO_MEASUREMENT, Kind.IMPOSSIBLE, Kind.NOT_SEPARATE)
"""Kinds that mean, unless only possible, that a column is no measurement of its own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that speaks against numbers being measurements.

    Attributes
    ----------
    check
        Name of the check, as docs/audit.md has it.
    code
        The macro of ``report/_macros/audit_findings.j2`` that says what was found, and of
        ``audit_reasons.j2`` that says why that cannot, or hardly, be a measurement.
    kind, sureness
        What it means, and how sure that is.
    dataset
        The dataset of the file.
    quantities
        Columns concerned, as quantities.
    numbers
        The numbers and names that the sentences need.
    cells
        The cells that show it, where not all do.
    """

    check: str
    code: str
    kind: Kind
    sureness: Sureness
    dataset: str
    quantities: tuple[str, ...]
    numbers: Mapping[str, object]
    cells: tuple[str, ...] = ()

    @property
    def refutes(self) -> bool:
        """Tell whether the columns are, by this, no measurements of their own."""
        return self.kind in REFUTING and self.sureness is not Sureness.POSSIBLE

    @property
    def rank(self) -> tuple[int, int]:
        """Return the order of findings: gravest first, then surest."""
        return _GRAVITY.index(self.kind), _SURE.index(self.sureness)
