"""What a plausibility check says: a record of one type, whose words are declared once."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from copycost.checkout import ROOT


class Sureness(StrEnum):
    """How sure a finding is, the surest first."""

    CERTAIN = "certain"
    VERY_LIKELY = "very likely"
    POSSIBLE = "possible"


class Kind(StrEnum):
    """What a finding means for the numbers, the gravest first."""

    NO_MEASUREMENT = "no measurement"
    IMPOSSIBLE = "impossible"
    CONTRADICTION = "contradiction"
    NOT_SEPARATE = "not measured separately"
    NOT_COUNTED = "not counted"
    ODD = "odd, a question to the author"
    WEAK = "weak evidence"
    INCOMPLETE = "incomplete"


REFUTING = (Kind.NO_MEASUREMENT, Kind.IMPOSSIBLE, Kind.NOT_SEPARATE)
"""Kinds that mean, unless only possible, that a column is no measurement of its own."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A row of ``report/audit_findings.csv``: all that is said of a code is said there, once.

    `kind`, `sureness`: what it means and how sure that is, unless a finding says otherwise.
    `found`, `why`: what was found of the columns, and why that cannot, or hardly, be a measurement:
    plain text with the finding's numbers, as templates have them.
    """

    check: str
    kind: Kind
    sureness: Sureness
    found: str
    why: str


@cache
def declared() -> Mapping[str, Declared]:
    """Return all that a check can find, by its code."""
    with (ROOT / "report" / "audit_findings.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["code"]: Declared(
                row["check"], Kind(row["kind"]), Sureness(row["sureness"]), row["found"], row["why"]
            )
            for row in csv.DictReader(file)
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that speaks against numbers being measurements.

    `code`: of `declared`, which has its words. `kind`, `sureness`: what it means, and how sure that
    is. `cells`: the cells that show it, where not all do.
    """

    code: str
    kind: Kind
    sureness: Sureness
    dataset: str
    quantities: tuple[str, ...]
    numbers: Mapping[str, object]
    cells: tuple[str, ...] = ()

    @property
    def check(self) -> str:
        """Return the name of the check."""
        return declared()[self.code].check

    @property
    def refutes(self) -> bool:
        """Tell whether the columns are, by this, no measurements of their own."""
        return self.kind in REFUTING and self.sureness is not Sureness.POSSIBLE

    @property
    def rank(self) -> tuple[int, int]:
        """Return the order of findings: gravest first, then surest."""
        return tuple(Kind).index(self.kind), tuple(Sureness).index(self.sureness)
