"""Whether a dataset supports a claim: computed from its cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from copycost.audit.claims.cells import Outcome, Ruling
from copycost.audit.claims.changes import judge_change
from copycost.audit.claims.statements import judge_measurements, judge_rank, judge_value
from copycost.audit.claims.vocabulary import Change, Claim, Measurements, Rank, Statement
from copycost.audit.dataset import Dataset
from copycost.audit.message import Message
from copycost.audit.plausibility import Finding

__all__ = ["JudgedClaim", "Verdict", "judge_claim"]


class Verdict(StrEnum):
    """What the cells say of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict.

    Attributes
    ----------
    claim
        The claim.
    verdict
        What the cells say.
    because
        Why.
    evidence
        Cells behind it, or findings on columns: those that contradict where any do.
    observed_once
        Whether the verdict rests on cells that were measured once.
    caution
        A finding by which what the claim rests on is no measurement; None for none.
    """

    claim: Claim
    verdict: Verdict
    because: Message
    evidence: tuple[Message | Finding, ...] = ()
    observed_once: bool = False
    caution: Finding | None = None


def judge_claim(claim: Claim, dataset: Dataset, findings: Sequence[Finding]) -> JudgedClaim:
    """Return the verdict on a claim.

    All parts of a claim have to hold in all cells that it is about and that were measured: one
    that surely does not contradicts it, one that is open leaves it undecided. A claim of which no
    cell was measured is not measured; so is one about a counter that counted nothing.
    """
    if not claim.statements:
        return JudgedClaim(claim, Verdict.UNDECIDED, Message("only_words"))
    rulings: list[Ruling] = []
    for statement in claim.statements:
        rulings += _rule(statement, claim, dataset, findings)
    by_outcome = {
        outcome: [ruling for ruling in rulings if ruling.outcome is outcome] for outcome in Outcome
    }
    n = len(rulings) - len(by_outcome[Outcome.NOT_MEASURED])
    against, open_, gaps = (
        by_outcome[key] for key in (Outcome.CONTRADICTS, Outcome.OPEN, Outcome.NOT_MEASURED)
    )
    if against:
        verdict, shown = Verdict.CONTRADICTED, against
        because = Message("contradicted", {"n_cells": len(against), "of_cells": n})
    elif not n:
        verdict, shown = Verdict.NOT_MEASURED, gaps
        because = Message("no_cells")
    elif open_:
        verdict, shown = Verdict.UNDECIDED, open_
        because = Message("left_open", {"n_cells": len(open_), "of_cells": n})
    elif any(ruling.required for ruling in gaps):
        verdict, shown = Verdict.UNDECIDED, gaps
        because = Message("cells_missing", {"n_cells": n, "of_cells": len(rulings)})
    else:
        verdict, shown = Verdict.SUPPORTED, by_outcome[Outcome.SUPPORTS]
        because = Message("supported", {"n_cells": n})
    return JudgedClaim(
        claim,
        verdict,
        next((ruling.reason for ruling in shown if ruling.reason is not None), because),
        tuple(ruling.evidence for ruling in shown if ruling.evidence is not None),
        any(ruling.once for ruling in rulings),
        None if _is_about_measuring(claim) else _caution(claim, findings),
    )


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


def _caution(claim: Claim, findings: Sequence[Finding]) -> Finding | None:
    """Return the gravest finding by which what a claim rests on is no measurement."""
    used = {
        statement.metric
        for statement in claim.statements
        if not isinstance(statement, Measurements)
    }
    refuting = (f for f in findings if f.refutes and used & set(f.quantities))
    return next(refuting, None)
