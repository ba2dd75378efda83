"""What a plausibility check says: a record of one type, whose words are declared once."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from copycost.compare.audit.wording import TEMPLATES, say


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


@cache
def declared() -> Mapping[str, Mapping[str, str]]:
    """Return the rows of ``report/audit_findings.csv`` by code: all that a check can find.

    A row names the check, what a finding means and how sure that is (unless it says otherwise), and
    in Jinja what was found and why that can hardly be a measurement.
    """
    with (TEMPLATES / "audit_findings.csv").open(encoding="utf-8", newline="") as file:
        return {row["code"]: row for row in csv.DictReader(file)}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that speaks against numbers being measurements.

    `code`: of `declared`, which has its words. `numbers`: what these take. `cells`: the cells that
    show it, where not all do.
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
        return declared()[self.code]["check"]

    @property
    def refutes(self) -> bool:
        """Tell whether the columns are, by this, no measurements of their own."""
        refuting = (Kind.NO_MEASUREMENT, Kind.IMPOSSIBLE, Kind.NOT_SEPARATE)
        return self.kind in refuting and self.sureness is not Sureness.POSSIBLE

    @property
    def rank(self) -> tuple[int, int]:
        """Return the order of findings: gravest first, then surest."""
        return tuple(Kind).index(self.kind), tuple(Sureness).index(self.sureness)

    @property
    def found(self) -> str:
        """Return what was found, and in how many rows."""
        found = say(declared()[self.code]["found"], self.numbers)
        of_rows = self.numbers.get("of_rows")
        return f"{found}, in {self.numbers['n_rows']} of {of_rows} rows" if of_rows else found

    @property
    def why(self) -> str:
        """Return why what was found can hardly be a measurement."""
        return say(declared()[self.code]["why"], self.numbers)
