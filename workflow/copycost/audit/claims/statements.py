"""Claims about ranks, about single values, and about columns being measurements."""

import math
from collections.abc import Sequence

import numpy as np

from copycost.audit.claims.cells import (
    CellValues,
    Key,
    Outcome,
    Ruling,
    counted_nothing,
    in_scope,
    known_names,
)
from copycost.audit.claims.vocabulary import Claim, Measurements, Rank, Value
from copycost.audit.dataset import Dataset
from copycost.audit.dataset_analysis import STATISTICS
from copycost.audit.message import Message
from copycost.audit.plausibility import Finding
from copycost.audit.plausibility.finding import Kind
from copycost.stats.ratios import Direction, paired_ratio


def judge_rank(rank: Rank, claim: Claim, dataset: Dataset) -> list[Ruling]:
    """Return, per size and thread count, whether one implementation leads or trails all others."""
    nothing = counted_nothing(dataset, rank.metric)
    if nothing is not None:
        return [nothing]
    cells = CellValues(dataset, rank.metric)
    name = known_names(dataset, [rank.implementation])[0]
    keys = in_scope(cells.keys, claim)
    rulings = []
    for cell in sorted({(key[0], key[2], key[3]) for key in keys}):
        rivals = [key for key in keys if (key[0], key[2], key[3]) == cell and key[1] != name]
        own = (cell[0], name, cell[1], cell[2])
        if own in cells and rivals:
            rulings.append(_rank_one(rank, cells, own, rivals))
    if not rulings:
        about = {"quantities": [rank.metric], "implementation": name}
        return [Ruling(Outcome.NOT_MEASURED, reason=Message("no_rivals", about))]
    return rulings


def _rank_one(rank: Rank, cells: CellValues, own: Key, rivals: Sequence[Key]) -> Ruling:
    outcomes = []
    once = False
    for rival in rivals:
        found = paired_ratio(cells.log_ratios(own, rival), STATISTICS.confidence)
        once = once or found.direction is Direction.OBSERVED_ONCE
        low, high = (found.value, found.value) if math.isnan(found.low) else (found.low, found.high)
        ahead, behind = (low > 1.0, high < 1.0) if rank.highest else (high < 1.0, low > 1.0)
        if math.isnan(low):
            outcomes.append(Outcome.OPEN)
        elif ahead:
            outcomes.append(Outcome.SUPPORTS)
        else:
            equal = found.direction is Direction.OBSERVED_ONCE and not behind
            outcomes.append(Outcome.CONTRADICTS if behind or equal else Outcome.OPEN)
    order = (Outcome.CONTRADICTS, Outcome.OPEN, Outcome.SUPPORTS)
    outcome = min(outcomes, key=order.index)
    return Ruling(outcome, cells.evidence([own, *rivals]), once)


def judge_value(value: Value, claim: Claim, dataset: Dataset) -> list[Ruling]:
    """Return, per cell, whether its median is what the claim says."""
    nothing = counted_nothing(dataset, value.metric)
    if nothing is not None:
        return [nothing]
    cells = CellValues(dataset, value.metric)
    wanted = set(known_names(dataset, value.implementations))
    rulings = []
    for key in in_scope(cells.keys, claim):
        if wanted and key[1] not in wanted:
            continue
        found = cells.median(key)
        holds = {
            "zero": found == 0.0,
            "not zero": found != 0.0,
            "above": found > value.than,
            "below": found < value.than,
        }[value.is_]
        outcome = Outcome.SUPPORTS if holds else Outcome.CONTRADICTS
        once = int(np.isfinite(cells.rounds(key)).sum()) == 1
        rulings.append(Ruling(outcome, cells.evidence([key]), once))
    return rulings or [Ruling(Outcome.NOT_MEASURED, reason=Message("no_cells"))]


def judge_measurements(
    said: Measurements, claim: Claim, dataset: Dataset, findings: Sequence[Finding]
) -> list[Ruling]:
    """Return, per column, whether the plausibility checks leave it a measurement."""
    rulings = []
    for metric in said.metrics:
        mine = [
            finding
            for finding in findings
            if metric in finding.quantities
            and (claim.dataset is None or finding.dataset == claim.dataset)
        ]
        refuting = [finding for finding in mine if finding.refutes]
        about = {"quantities": [metric]}
        if not dataset.has(metric) or any(f.kind is Kind.NOT_COUNTED for f in mine):
            rulings.append(Ruling(Outcome.NOT_MEASURED, Message("column_missing", about)))
        elif refuting:
            rulings.append(
                Ruling(Outcome.CONTRADICTS, refuting[0], reason=_refuted(said, findings))
            )
        else:
            rulings.append(
                Ruling(Outcome.OPEN, Message("column", about), reason=Message("not_refuted"))
            )
    return rulings


def _refuted(said: Measurements, findings: Sequence[Finding]) -> Message:
    refuted = [
        metric
        for metric in said.metrics
        if any(finding.refutes and metric in finding.quantities for finding in findings)
    ]
    return Message("refuted", {"quantities": refuted})
