"""Whether a dataset supports a claim: computed from its cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from copycost.compare.audit.claims.cell_p_values import (
    Measured,
    judge_change,
    judge_crossing,
    judge_value,
)
from copycost.compare.audit.claims.rulings import Ruling, Survey, Verdict
from copycost.compare.audit.claims.statements import Change, Claim, Crossing, Measurements
from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.plausibility import Finding, Kind
from copycost.compare.audit.quantities import TOTALS, base_of, words_of
from copycost.compare.audit.wording import quantities
from copycost.wording.filters import n_threads, sentence, sizes
from copycost.wording.words import plural

_EQUAL_BYTES = 1.02
"""Runs whose bytes differ by less than this factor moved the same, so that totals compare."""

_BETWEEN = (
    "The claimed size lies between the two measured sizes where the better one changes; no size in "
    "between was measured."
)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict, as `audit.json` has it.

    `title`: the claim with the cells that it is about. `because`: why, and what is doubtful about
    that. `evidence`: a line on each cell or column behind it: those that contradict where any do.
    `observed_once`: whether the verdict rests on cells that were measured once. `label`: the
    verdict with this, or with the cells whose absence alone leaves it undecided.
    """

    text: str
    title: str
    verdict: Verdict
    because: str
    evidence: Sequence[str]
    observed_once: bool
    label: str


def judge_claim(claim: Claim, dataset: Dataset, findings: Sequence[Finding]) -> JudgedClaim:
    """Return the verdict on a claim.

    It is contradicted where one of its statements is, and supported where all are. A verdict is
    wrong in at most 5 % of tables of such cells, however many they are: cells contradict a
    statement where they surely say otherwise, and support it where all that it needs surely say so.
    It is compatible with a statement that names a size between measured ones, where they allow it.
    A cell that is missing says neither. A statement of which no cell was measured, or about a
    counter that counted nothing, is not measured.
    """
    measured = Measured(dataset)
    parts = _weigh(claim, measured, findings)
    verdict = _verdict(parts)
    alike = {verdict, Verdict.NOT_MEASURED} if verdict is Verdict.UNDECIDED else {verdict}
    deciding = [part for part in parts if part.verdict in alike]
    reason = next((part.reason for part in deciding if part.reason), "")
    if not parts:
        reason = ("It contains no statement in the vocabulary of docs/audit.md, so nothing could "
                  "be tested.")  # fmt: skip
    because = [
        reason or (_BETWEEN if verdict is Verdict.COMPATIBLE else _counts(deciding, claim)),
        _totals(claim, parts, measured, findings),
        _caution(claim, dataset, findings),
    ]
    observed_once = any(part.rests_on_once for part in deciding)
    label = verdict.value
    if verdict is Verdict.UNDECIDED and not reason and all(part.misses for part in deciding):
        label += f": {plural(sum(part.n_missing for part in deciding), 'cell')} missing"
    elif observed_once and verdict not in (Verdict.UNDECIDED, Verdict.NOT_MEASURED):
        label += ", observed once"
    at = f"at {sizes(claim.sizes)}" if claim.sizes else ""
    threads = f"with {n_threads(claim.threads)}" if claim.threads else ""
    where = f"{at} {threads}".strip()
    return JudgedClaim(
        claim.text,
        f"{claim.text} ({where})" if where else claim.text,
        verdict,
        " ".join(filter(None, because)),
        _evidence(verdict, deciding),
        observed_once,
        label,
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


def _evidence(verdict: Verdict, deciding: Sequence[Survey]) -> list[str]:
    """Return a line on each cell behind a verdict; of an open one, also on cells that are missing.

    Where nothing but missing cells leave it open, those are shown that were measured in part.
    """
    only_gaps = all(part.misses for part in deciding)
    lines = []
    for part in deciding:
        open_ones = [one for one in part.undecided if one.incomplete == only_gaps]
        shown = {
            Verdict.CONTRADICTED: part.contradicting,
            Verdict.SUPPORTED: part.supporting,
            Verdict.COMPATIBLE: part.compatible,
        }.get(verdict, open_ones)
        lines += [ruling.evidence() for ruling in shown]
    if verdict not in (Verdict.SUPPORTED, Verdict.CONTRADICTED):
        lines += [line for part in deciding for line in part.missing]
    return lines


def _caution(claim: Claim, dataset: Dataset, findings: Sequence[Finding]) -> str:
    """Return what to say if what a claim about cells rests on is no measurement."""
    used = set()
    for statement in claim.statements:
        if isinstance(statement, Measurements):
            return ""
        # What a file does not have follows from what it has.
        metric = statement.metric
        used.add(metric if dataset.has(metric) else base_of(metric).name)
    doubts = (one for one in findings if one.refutes and used & set(one.quantities))
    return next((f"What it rests on is doubtful. {sentence(quantities(doubt.quantities))}: "
                 f"{doubt.found}." for doubt in doubts), "")  # fmt: skip


def _totals(
    claim: Claim, parts: Sequence[Survey], measured: Measured, findings: Sequence[Finding]
) -> str:
    """Return what to say of totals of runs that moved different numbers of bytes.

    A run of a given time that moves more bytes counts more of everything, so that its totals say
    little of what a byte costs. The claim is judged as it is stated, and once more per byte.
    """
    statements = list(claim.statements)
    compared: dict[str, list[Ruling]] = {}
    for at, (statement, part) in enumerate(zip(claim.statements, parts, strict=True)):
        if isinstance(statement, Change | Crossing) and statement.metric in TOTALS:
            statements[at] = replace(statement, metric=f"{statement.metric}_per_byte")
            compared.setdefault(statement.metric, []).extend(part.rulings)
    about, moved, is_unequal = quantities(compared), measured["bytes"], False
    for keys in (ruling.keys for rulings in compared.values() for ruling in rulings):
        if not all(key in moved.rounds for key in keys):
            return (f"It is judged as stated, by totals of {about}; the file does not give the "
                    "number of bytes they belong to.")  # fmt: skip
        medians = [moved.median(key) for key in keys]
        is_unequal = is_unequal or max(medians) > _EQUAL_BYTES * min(medians)
    if not is_unequal:
        return ""
    beside = _verdict(_weigh(replace(claim, statements=tuple(statements)), measured, findings))
    return ("It is judged as stated, by totals of runs that moved different numbers of bytes; of "
            f"{about} per byte, it is {beside}.")  # fmt: skip
