"""Claims about one value beside another: implementations, sizes or thread counts compared."""

import itertools
import math
from dataclasses import dataclass, replace

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
from copycost.audit.claims.vocabulary import Amount, Change, Claim, Is, Point
from copycost.audit.dataset import Dataset
from copycost.audit.dataset_analysis import STATISTICS
from copycost.audit.message import Message
from copycost.stats.ratios import Direction, Ratio, holm, paired_ratio

_WIDEST = (1e-150, 1e150)
"""Ends of intervals, so that they can be divided: those of a very wide one are 0 and infinite."""

COLLAPSED = 0.5
"""What falls below this share of what it was has collapsed."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two cells to compare, and what is claimed of the second."""

    before: Key
    after: Key
    is_: Is
    amount: Amount | None
    required: bool


def judge_change(change: Change, claim: Claim, dataset: Dataset) -> list[Ruling]:
    """Return what each pair of cells that a claim is about says of it."""
    nothing = counted_nothing(dataset, change.metric)
    if nothing is not None:
        return [nothing]
    cells = CellValues(dataset, change.metric)
    pairs = _pairs(change, claim, dataset, cells)
    if not pairs:
        return [Ruling(Outcome.NOT_MEASURED, reason=Message("no_pairs"))]
    found = [_ratio(cells, pair) for pair in pairs]
    # Many cells are searched for one that contradicts; some would by chance alone.
    corrected = holm(np.array([ratio.p_value for ratio in found]))
    rulings = []
    for pair, ratio, p_value in zip(pairs, found, corrected, strict=True):
        outcome = _outcome(pair, ratio)
        if outcome is Outcome.CONTRADICTS and p_value > 1.0 - STATISTICS.confidence:
            outcome = Outcome.OPEN
        rulings.append(
            Ruling(
                outcome,
                cells.evidence([pair.after, pair.before], ratio),
                ratio.direction is Direction.OBSERVED_ONCE,
                required=pair.required,
            )
        )
    return rulings


def _pairs(change: Change, claim: Claim, dataset: Dataset, cells: CellValues) -> list[_Pair]:
    """Return the pairs: cells that have one side, and those that the claim names anyway."""
    change = _with_known_names(change, dataset)
    keys = _scope(change, claim, cells)
    wanted = set(known_names(dataset, change.implementations))
    pairs: dict[tuple[Key, Key], _Pair] = {}
    for key in keys:
        if wanted and key[1] not in wanted:
            continue
        before, after = _moved(key, change.from_), _moved(key, change.to)
        if key not in (before, after):
            continue
        is_ = _claimed(change, key)
        if is_ is None:
            continue
        named = bool(claim.sizes or change.from_.msg_bytes) and bool(
            claim.threads or change.from_.n_threads
        )
        amount = change.amount if is_ is change.is_ else None
        pairs[before, after] = _Pair(before, after, is_, amount, required=named)
    # A cell that only one side has is a gap of the data; it was not claimed by name.
    return [pair for _, pair in sorted(pairs.items()) if _is_judged(pair, cells)]


def _is_judged(pair: _Pair, cells: CellValues) -> bool:
    return pair.required or (pair.before in cells and pair.after in cells)


def _scope(change: Change, claim: Claim, cells: CellValues) -> list[Key]:
    """Return the measured cells in scope, and those that lists of a claim add to them."""
    about = replace(
        claim,
        sizes=() if change.from_.msg_bytes else claim.sizes,
        threads=() if change.from_.n_threads else claim.threads,
    )
    keys = in_scope(cells.keys, about)
    if about.sizes and about.threads:
        heads = {(key[0], key[1]) for key in cells.keys}
        keys += [
            (*head, size, n) for head, size, n in itertools.product(heads, about.sizes,
                                                                    about.threads)
        ]  # fmt: skip
    return keys


def _with_known_names(change: Change, dataset: Dataset) -> Change:
    ends = []
    for point in (change.from_, change.to):
        name = point.implementation
        ends.append(
            point
            if name is None
            else replace(point, implementation=known_names(dataset, [name])[0])
        )
    return replace(change, from_=ends[0], to=ends[1])


def _moved(key: Key, point: Point) -> Key:
    return (
        key[0],
        point.implementation or key[1],
        point.msg_bytes or key[2],
        point.n_threads or key[3],
    )


def _claimed(change: Change, key: Key) -> Is | None:
    """Return what is claimed of a cell; None where nothing is."""
    if change.up_to_size is not None and key[2] > change.up_to_size:
        return None
    if change.from_size is not None and key[2] < change.from_size:
        return change.below
    return change.is_


def _ratio(cells: CellValues, pair: _Pair) -> Ratio:
    if pair.before not in cells or pair.after not in cells:
        return paired_ratio(np.empty(0), STATISTICS.confidence)
    logs = cells.log_ratios(pair.after, pair.before)
    if not np.isfinite(logs).any():
        # Measured in different rounds, or zero: what is left are the medians.
        low, high = cells.median(pair.before), cells.median(pair.after)
        logs = np.log([high / low]) if low > 0 and high > 0 else np.empty(0)
    return paired_ratio(logs, STATISTICS.confidence)


def _outcome(pair: _Pair, found: Ratio) -> Outcome:
    if found.direction is Direction.NOT_MEASURED:
        return Outcome.NOT_MEASURED
    once = found.direction is Direction.OBSERVED_ONCE
    low, high = (found.value, found.value) if once else (found.low, found.high)
    low, high = max(low, _WIDEST[0]), min(high, _WIDEST[1])
    if pair.amount is not None:
        return _within(pair.amount.low, pair.amount.high, found.value, low, high)
    if pair.is_ is Is.COLLAPSES:
        return _within(0.0, COLLAPSED, found.value, low, high)
    if pair.is_ is Is.SAME:
        return _same(found.value, low, high, once)
    above, below = low > 1.0, high < 1.0
    supports, contradicts = {
        Is.MORE: (above, below or (once and not above)),
        Is.LESS: (below, above or (once and not below)),
        Is.NOT_MORE: (below or (once and not above), above),
        Is.NOT_LESS: (above or (once and not below), below),
    }[pair.is_]
    if supports:
        return Outcome.SUPPORTS
    return Outcome.CONTRADICTS if contradicts else Outcome.OPEN


def _within(least: float, most: float, value: float, low: float, high: float) -> Outcome:
    """Return whether a value with its interval is in a range.

    An interval that reaches into the range supports the claim where it is short beside the effect
    that is claimed, or else lies around a value in the range.
    """
    if low > most or high < least:
        return Outcome.CONTRADICTS
    if least <= value <= most:
        return Outcome.SUPPORTS
    bounded = least > 0.0 and most < math.inf
    effect = abs(math.log(least * most)) / 2.0 if bounded else 0.0
    return Outcome.SUPPORTS if math.log(high / low) <= effect / 2.0 else Outcome.OPEN


def _same(value: float, low: float, high: float, once: bool) -> Outcome:
    if once:
        return Outcome.SUPPORTS if abs(value - 1.0) < 0.02 else Outcome.CONTRADICTS
    if low > 1.0 or high < 1.0:
        return Outcome.CONTRADICTS
    # Only a narrow interval around 1 shows that two things are the same.
    return Outcome.SUPPORTS if high / low < 1.1 else Outcome.OPEN
