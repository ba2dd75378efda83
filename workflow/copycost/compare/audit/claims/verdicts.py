"""Whether a dataset supports a claim: computed from its cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from copycost.compare.audit.claims.cell_p_values import Measured, judge_change, judge_value
from copycost.compare.audit.claims.crossings import judge_crossing
from copycost.compare.audit.claims.rulings import Ruling, Survey, Verdict
from copycost.compare.audit.claims.statements import Change, Claim, Crossing, Measurements
from copycost.compare.audit.dataset import Dataset, per_byte
from copycost.compare.audit.plausibility import Finding
from copycost.compare.audit.plausibility.finding import Kind
from copycost.compare.audit.quantities import TOTALS, base_of, words_of
from copycost.compare.audit.wording import quantities

__all__ = ["JudgedClaim", "Verdict", "judge_claim", "quick_verdict"]

_EQUAL_BYTES = 1.02
"""Runs whose bytes differ by less than this factor moved the same, so that totals compare."""

_BETWEEN = (
    "The claimed size lies between the two measured sizes where the better one changes; no size in "
    "between was measured."
)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict.

    `evidence`: a line on each cell or column behind it: those that contradict where any do.
    `observed_once`: whether the verdict rests on cells that were measured once. `n_missing`: cells
    whose absence alone leaves it undecided. `caution`: a finding by which what the claim rests on
    is no measurement. `totals`: what to say of totals that were compared though they go with
    different numbers of bytes.
    """

    claim: Claim
    verdict: Verdict
    because: str
    evidence: tuple[str, ...] = ()
    observed_once: bool = False
    n_missing: int = 0
    caution: Finding | None = None
    totals: str = ""


def judge_claim(claim: Claim, dataset: Dataset, findings: Sequence[Finding]) -> JudgedClaim:
    """Return the verdict on a claim.

    It is contradicted where one of its statements is, and supported where all are. A verdict is
    wrong in at most 5 % of tables of such cells, however many they are: cells contradict a
    statement where they surely say otherwise, and support it where all that it needs surely say so.
    It is compatible with a statement that names a size between measured ones, where they allow it.
    A cell that is missing says neither. A statement of which no cell was measured, or about a
    counter that counted nothing, is not measured.
    """
    if not claim.statements:
        return JudgedClaim(claim, Verdict.UNDECIDED, "It contains no statement in the vocabulary "
                           "of docs/audit.md, so nothing could be tested.")  # fmt: skip
    measured = Measured(dataset)
    parts = _weigh(claim, measured, findings)
    verdict = _verdict(parts)
    deciding = [
        part
        for part in parts
        if part.verdict is verdict
        or (verdict is Verdict.UNDECIDED and part.verdict is Verdict.NOT_MEASURED)
    ]
    reason = next((part.reason for part in deciding if part.reason), "")
    only_gaps = verdict is Verdict.UNDECIDED and all(part.misses for part in deciding)
    return JudgedClaim(
        claim,
        verdict,
        reason or (_BETWEEN if verdict is Verdict.COMPATIBLE else _counts(deciding, claim)),
        _evidence(verdict, deciding),
        any(part.rests_on_once for part in deciding),
        sum(part.n_missing for part in deciding) if only_gaps and not reason else 0,
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
            found = _judge_columns(statement, claim, measured.dataset, findings)
        elif nothing := measured[statement.metric].counted_nothing():
            found = nothing
        elif isinstance(statement, Change):
            found = judge_change(statement, claim, measured)
        elif isinstance(statement, Crossing):
            found = judge_crossing(statement, claim, measured)
        else:
            found = judge_value(statement, claim, measured)
        parts.append(replace(found, in_=claim.in_, n_statements=len(claim.statements)))
    return parts


def _verdict(parts: Sequence[Survey]) -> Verdict:
    found = {part.verdict for part in parts}
    if Verdict.CONTRADICTED in found:
        return Verdict.CONTRADICTED
    if found == {Verdict.SUPPORTED, Verdict.COMPATIBLE}:
        return Verdict.COMPATIBLE
    return found.pop() if len(found) == 1 else Verdict.UNDECIDED


def _judge_columns(
    said: Measurements, claim: Claim, dataset: Dataset, findings: Sequence[Finding]
) -> Survey:
    """Return, per column, whether the plausibility checks leave it a measurement."""
    rulings: list[Ruling] = []
    missing: list[str] = []
    refuted: list[str] = []
    for metric in said.metrics:
        line = words_of(metric)
        mine = [
            finding
            for finding in findings
            if metric in finding.quantities and claim.dataset in (None, finding.dataset)
        ]
        if not dataset.has(metric) or any(one.kind is Kind.NOT_COUNTED for one in mine):
            missing.append(f"{line}: not measured")
            continue
        refuting = next((finding for finding in mine if finding.refutes), None)
        if refuting is not None:
            refuted.append(metric)
            line = f"{line}: {refuting.kind}, {refuting.sureness}"
        rulings.append(Ruling(1.0, float(refuting is None), line.__str__))
    reason = "No check contradicts it, which does not prove that it was measured."
    if refuted:
        reason = ("The plausibility checks rule out that these are measurements: "
                  f"{quantities(refuted)}.")  # fmt: skip
    return Survey(tuple(rulings), len(said.metrics), tuple(missing), reason if rulings else "")


def _counts(deciding: Sequence[Survey], claim: Claim) -> str:
    """Return of how many cells a verdict is made."""
    counts = {
        "for it": sum(len(part.supporting) for part in deciding),
        "against": sum(len(part.contradicting) for part in deciding),
        "open": sum(not one.incomplete for part in deciding for one in part.undecided),
        "missing": sum(part.n_missing for part in deciding),
    }
    told = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    return f"Cells: {told}; {claim.in_} of {sum(part.n_cells for part in deciding)} needed."


def _evidence(verdict: Verdict, deciding: Sequence[Survey]) -> tuple[str, ...]:
    """Return a line on each cell behind a verdict; of an open one, also on cells that are missing.

    Where nothing but missing cells leave it open, those are shown that were measured in part.
    """
    if verdict is Verdict.CONTRADICTED:
        shown = [ruling for part in deciding for ruling in part.contradicting]
    elif verdict is Verdict.SUPPORTED:
        shown = [ruling for part in deciding for ruling in part.supporting]
    elif verdict is Verdict.COMPATIBLE:
        shown = [ruling for part in deciding for ruling in part.compatible]
    else:
        only_gaps = all(part.misses for part in deciding)
        shown = [one for part in deciding for one in part.undecided if one.incomplete == only_gaps]
    lines = [ruling.evidence() for ruling in shown]
    if verdict not in (Verdict.SUPPORTED, Verdict.CONTRADICTED):
        lines += [line for part in deciding for line in part.missing]
    return tuple(lines)


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
) -> str:
    """Return what to say of totals of runs that moved different numbers of bytes.

    A run of a given time that moves more bytes counts more of everything, so that its totals say
    little of what a byte costs. The claim is judged as it is stated, and once more per byte.
    """
    statements = [
        replace(statement, metric=per_byte(statement.metric))
        if isinstance(statement, Change | Crossing) and statement.metric in TOTALS
        else statement
        for statement in claim.statements
    ]
    compared = [
        (statement.metric, part)
        for statement, other, part in zip(claim.statements, statements, parts, strict=True)
        if isinstance(statement, Change | Crossing) and other is not statement
    ]
    about = quantities(dict.fromkeys(metric for metric, _ in compared))
    moved = measured["bytes"]
    is_unequal = False
    for ruling in (ruling for _, part in compared for ruling in part.rulings):
        if not all(key in moved.rounds for key in ruling.keys):
            return (f"It is judged as stated, by totals of {about}; the file does not give the "
                    "number of bytes they belong to.")  # fmt: skip
        medians = [moved.median(key) for key in ruling.keys]
        is_unequal = is_unequal or max(medians) > _EQUAL_BYTES * min(medians)
    if not is_unequal:
        return ""
    beside = _verdict(_weigh(replace(claim, statements=tuple(statements)), measured, findings))
    return ("It is judged as stated, by totals of runs that moved different numbers of bytes; of "
            f"{about} per byte, it is {beside}.")  # fmt: skip
