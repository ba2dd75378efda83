"""Whether a dataset supports a claim: computed from its cells."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from copycost.audit.claims.cells import Measured
from copycost.audit.claims.rulings import Survey, Verdict
from copycost.audit.claims.statements import (
    judge_change,
    judge_crossing,
    judge_measurements,
    judge_value,
)
from copycost.audit.claims.vocabulary import Change, Claim, Crossing, In, Measurements, Value
from copycost.audit.dataset import Dataset, per_byte
from copycost.audit.plausibility import Finding
from copycost.audit.quantities import BYTES, TOTALS, base_of
from copycost.audit.wording import Message

__all__ = ["JudgedClaim", "Verdict", "judge_claim", "quick_verdict"]

_EQUAL_BYTES = 1.02
"""Runs whose bytes differ by less than this factor moved the same, so that totals compare."""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict.

    `evidence`: a line on each cell or column behind it: those that contradict where any do.
    `observed_once`: whether the verdict rests on cells that were measured once. `n_missing`: cells
    whose absence alone leaves it undecided. `caution`: a finding by which what the claim rests on
    is no measurement; None for none. `totals`: what to say of totals that were compared though they
    go with different numbers of bytes; None where that is not so.
    """

    claim: Claim
    verdict: Verdict
    because: Message
    evidence: tuple[str, ...] = ()
    observed_once: bool = False
    n_missing: int = 0
    caution: Finding | None = None
    totals: Message | None = None


def judge_claim(claim: Claim, dataset: Dataset, findings: Sequence[Finding]) -> JudgedClaim:
    """Return the verdict on a claim.

    All parts of a claim have to hold in all, most or some of the cells that it is about. A verdict
    is wrong in at most 5 % of tables of such cells, however many they are: it is contradicted
    where its cells surely say otherwise, supported where all that it needs surely say so,
    compatible where it names a place between measured sizes that they allow, and undecided else. A
    cell that is missing says neither. A claim of which no cell was measured is not measured; so is
    one about a counter that counted nothing.
    """
    if not claim.statements:
        return JudgedClaim(claim, Verdict.UNDECIDED, Message("only_words"))
    measured = Measured(dataset)
    parts = _weigh(claim, measured, findings)
    verdict = _verdict(parts)
    deciding = [
        part
        for part in parts
        if part.verdict is verdict
        or (verdict is Verdict.UNDECIDED and part.verdict is Verdict.NOT_MEASURED)
    ]
    because, evidence = _because(verdict, deciding, claim.in_)
    open_for_gaps = verdict is Verdict.UNDECIDED and because.code == "cells" and _misses(deciding)
    return JudgedClaim(
        claim,
        verdict,
        because,
        evidence,
        any(part.rests_on_once for part in deciding),
        sum(part.n_missing for part in deciding) if open_for_gaps else 0,
        _caution(claim, dataset, findings),
        _totals(claim, parts, measured, findings),
    )


def quick_verdict(claim: Claim, measured: Measured) -> Verdict:
    """Return the verdict on a claim about cells, without what it rests on."""
    return _verdict(_weigh(claim, measured, ()))


def _weigh(claim: Claim, measured: Measured, findings: Sequence[Finding]) -> list[Survey]:
    parts = []
    for statement in claim.statements:
        if isinstance(statement, Measurements):
            found = judge_measurements(statement, claim, measured.dataset, findings)
        else:
            nothing = measured.cells(statement.metric).counted_nothing()
            found = nothing or _JUDGES[type(statement)](statement, claim, measured)
        parts.append(replace(found, in_=claim.in_, n_statements=len(claim.statements)))
    return parts


_JUDGES: Mapping[type, Callable[[Any, Claim, Measured], Survey]] = {
    Change: judge_change, Crossing: judge_crossing, Value: judge_value,
}  # fmt: skip


def _verdict(parts: Sequence[Survey]) -> Verdict:
    found = {part.verdict for part in parts}
    if Verdict.CONTRADICTED in found:
        return Verdict.CONTRADICTED
    if found == {Verdict.SUPPORTED, Verdict.COMPATIBLE}:
        return Verdict.COMPATIBLE
    return found.pop() if len(found) == 1 else Verdict.UNDECIDED


def _because(
    verdict: Verdict, deciding: Sequence[Survey], in_: In
) -> tuple[Message, tuple[str, ...]]:
    """Return why a claim has its verdict, and the cells behind it."""
    supporting = [ruling for part in deciding for ruling in part.supporting]
    against = [ruling for part in deciding for ruling in part.contradicting]
    open_ = [ruling for part in deciding for ruling in part.undecided]
    partly = [ruling for part in deciding for ruling in part.partly]
    counts = {
        "for it": len(supporting), "against": len(against), "open": len(open_),
        "missing": sum(part.n_missing for part in deciding),
    }  # fmt: skip
    shown = {
        Verdict.CONTRADICTED: against,
        Verdict.SUPPORTED: supporting,
        Verdict.COMPATIBLE: [ruling for part in deciding for ruling in part.compatible],
        Verdict.NOT_MEASURED: [],
        Verdict.UNDECIDED: partly if _misses(deciding) else open_,
    }[verdict]
    because = Message("compatible") if verdict is Verdict.COMPATIBLE else Message("cells", {
        "in_": in_.value, "of_cells": sum(part.n_cells for part in deciding),
        "counts": [f"{count} {what}" for what, count in counts.items() if count],
    })  # fmt: skip
    reason = next((part.reason for part in deciding if part.reason), because)
    lines = [ruling.evidence() for ruling in shown]
    if verdict not in (Verdict.SUPPORTED, Verdict.CONTRADICTED):
        lines += [line for part in deciding for line in part.missing]
    return reason, tuple(lines)


def _misses(deciding: Sequence[Survey]) -> bool:
    """Tell whether nothing but missing cells leaves a claim open."""
    return all(part.misses for part in deciding)


def _caution(claim: Claim, dataset: Dataset, findings: Sequence[Finding]) -> Finding | None:
    """Return the gravest finding by which what a claim about cells rests on is no measurement."""
    used = set()
    for statement in claim.statements:
        if isinstance(statement, Measurements):
            return None
        # What a file does not have follows from what it has.
        metric = statement.metric
        used.add(metric if dataset.has(metric) else base_of(metric).name)
    return next((f for f in findings if f.refutes and used & set(f.quantities)), None)


def _totals(
    claim: Claim, parts: Sequence[Survey], measured: Measured, findings: Sequence[Finding]
) -> Message | None:
    """Return what to say of totals of runs that moved different numbers of bytes.

    A run of a given time that moves more bytes counts more of everything, so that its totals say
    little of what a byte costs. The claim is judged as it is stated, and once more per byte.
    """
    compared = [
        (statement.metric, part)
        for statement, part in zip(claim.statements, parts, strict=True)
        if isinstance(statement, Change | Crossing) and statement.metric in TOTALS
    ]
    if not any(part.rulings for _, part in compared):
        return None
    about: dict[str, object] = {"quantities": list(dict.fromkeys(name for name, _ in compared))}
    moved = measured.cells(BYTES)
    unequal = False
    for ruling in (ruling for _, part in compared for ruling in part.rulings):
        if not all(key in moved for key in ruling.keys):
            return Message("totals_alone", about)
        medians = [moved.median(key) for key in ruling.keys]
        unequal = unequal or max(medians) > _EQUAL_BYTES * min(medians)
    if not unequal:
        return None
    statements = tuple(
        replace(statement, metric=per_byte(statement.metric))
        if isinstance(statement, Change | Crossing) and statement.metric in TOTALS
        else statement
        for statement in claim.statements
    )
    beside = _verdict(_weigh(replace(claim, statements=statements), measured, findings))
    return Message("totals_of_unequal", about | {"per_byte": beside.value})
