"""Whether a dataset supports a claim: computed from its cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from copycost.audit.claims.cells import Outcome, Ruling
from copycost.audit.claims.changes import judge_change
from copycost.audit.claims.statements import judge_measurements, judge_rank, judge_value
from copycost.audit.claims.vocabulary import Change, Claim, Measurements, Rank, Statement
from copycost.audit.dataset import Dataset
from copycost.audit.plausibility import Finding
from copycost.wording.plurals import plural

__all__ = ["Judged", "Verdict", "judge"]


class Verdict(StrEnum):
    """What the cells say of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict.

    Attributes
    ----------
    claim
        The claim.
    verdict
        What the cells say.
    because
        Why, in a sentence or two.
    evidence
        Cells behind it, each in words: those that contradict where any do.
    observed_once
        Whether the verdict rests on cells that were measured once.
    caution
        Findings on the columns that the claim rests on; empty for none.
    """

    claim: Claim
    verdict: Verdict
    because: str
    evidence: tuple[str, ...]
    observed_once: bool
    caution: str = ""


def judge(claim: Claim, dataset: Dataset, findings: Sequence[Finding]) -> Judged:
    """Return the verdict on a claim.

    All parts of a claim have to hold in all cells that it is about and that were measured: one
    that surely does not contradicts it, one that is open leaves it undecided. A claim of which no
    cell was measured is not measured; so is one about a counter that counted nothing.
    """
    if not claim.statements:
        return Judged(claim, Verdict.UNDECIDED, claim.problem or "Not understood.", (), False)
    rulings: list[Ruling] = []
    for statement in claim.statements:
        rulings += _rule(statement, claim, dataset, findings)
    by_outcome = {
        outcome: [ruling for ruling in rulings if ruling.outcome is outcome] for outcome in Outcome
    }
    once = any(ruling.once for ruling in rulings)
    caution = "" if _is_about_measuring(claim) else _caution(claim, findings)
    n = len(rulings) - len(by_outcome[Outcome.NOT_MEASURED])
    against, open_, gaps = (
        by_outcome[key] for key in (Outcome.CONTRADICTS, Outcome.OPEN, Outcome.NOT_MEASURED)
    )
    if against:
        verdict, shown = Verdict.CONTRADICTED, against
        because = (
            f"{_of(len(against), n)} {'contradicts' if len(against) == 1 else 'contradict'} it."
        )
    elif not n:
        verdict, shown = Verdict.NOT_MEASURED, gaps
        because = "None of the cells that it is about was measured."
    elif open_:
        verdict, shown = Verdict.UNDECIDED, open_
        because = f"{_of(len(open_), n)} {'leaves' if len(open_) == 1 else 'leave'} it open."
    elif any(ruling.required for ruling in gaps):
        verdict, shown = Verdict.UNDECIDED, gaps
        because = f"{_of(n, len(rulings))} supported it; the others were not measured."
    else:
        verdict, shown = Verdict.SUPPORTED, by_outcome[Outcome.SUPPORTS]
        because = "The one cell supports it." if n == 1 else f"All {n} cells support it."
    reasons = list(dict.fromkeys(ruling.reason for ruling in shown if ruling.reason))
    if reasons:
        because = reasons[0]
    return Judged(
        claim, verdict, because, tuple(ruling.text for ruling in shown if ruling.text), once,
        caution,
    )  # fmt: skip


def _of(part: int, whole: int) -> str:
    return f"{part} of {plural(whole, 'cell')}" if whole > 1 else "The one cell"


def _rule(
    statement: Statement, claim: Claim, dataset: Dataset, findings: Sequence[Finding]
) -> list[Ruling]:
    if isinstance(statement, Measurements):
        return judge_measurements(statement, claim, dataset, findings)
    if isinstance(statement, Change):
        return judge_change(statement, claim, dataset)
    if isinstance(statement, Rank):
        return judge_rank(statement, claim, dataset)
    return judge_value(statement, claim, dataset)


def _is_about_measuring(claim: Claim) -> bool:
    return any(isinstance(statement, Measurements) for statement in claim.statements)


def _caution(claim: Claim, findings: Sequence[Finding]) -> str:
    """Return a sentence if what the claim rests on is no measurement."""
    used = {
        statement.metric
        for statement in claim.statements
        if not isinstance(statement, Measurements)
    }
    refuted = [
        finding for finding in findings if finding.refutes and used & set(finding.quantities)
    ]
    if not refuted:
        return ""
    return f"What it rests on is doubtful: {refuted[0].found[:1].lower()}{refuted[0].found[1:]}"
