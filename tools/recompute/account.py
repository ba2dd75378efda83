"""The account of a difference between two profiled cells, by kind of work."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from tools.recompute.estimates import Estimate
from tools.recompute.functions import UNNAMED
from tools.recompute.profile import SIDES, Profile, Repetition, Sums, Window

# copying between application and kernel is told by side: the bytes are that side's
_BY_SIDE = "copy in the kernel"
# of what it is in the other cell: as good as nothing
_NOTHING = 0.01

Rounds = list[tuple[Repetition, Repetition]]


@dataclass(frozen=True)
class Part:
    """A line of the account: means before and after, and the change with its interval."""

    before: float
    after: float
    change: Estimate


@dataclass(frozen=True)
class Account:
    """All CPU time per KiB [ns]; what grew, what shrank, what is open, and what no list names."""

    total: Part
    grew: dict[str, Part]
    shrank: dict[str, Part]
    open: dict[str, Part]
    unnamed: Part
    unsampled: Estimate


def account(profile: Profile, rounds: Rounds) -> Account:
    """Return what a difference is made of."""
    costs = [[_costs(one) for one in both] for both in rounds]
    names = sorted({name for both in costs for table in both for name in table} - {UNNAMED})
    rows = {
        name: np.array([[table[name] for table in both] for both in costs])
        for name in (*names, UNNAMED)
    }
    parts = {name: part(profile, row) for name, row in rows.items()}
    groups: dict[str, dict[str, Part]] = {"grew": {}, "shrank": {}, "open": {}}
    for name in names:
        group = _group(rows[name], parts[name].change)
        groups[group][name] = _clipped(parts[name], group)
    total = part(profile, np.array([[sum(table.values()) for table in both] for both in costs]))
    plain = [[one.unsampled for one in both] for both in rounds]
    unsampled = [
        [sum(run.ns_per_kib(side) for side in _sides(run)) for run in both if run] for both in plain
    ]
    known = np.array([both for both in unsampled if len(both) == 2])
    without = part(profile, known).change if len(known) else Estimate(math.nan, n=0)
    return Account(total, **groups, unnamed=parts[UNNAMED], unsampled=without)


def part(profile: Profile, row: np.ndarray) -> Part:
    """Return a line from what was before and after in each round, shape (n_rounds, 2)."""
    before, after = (float(mean) for mean in row.mean(axis=0))
    return Part(before, after, profile.change(row[:, 1] - row[:, 0]))


def together(parts: Collection[Part]) -> Part:
    """Return the sum of some lines; of its change only the mean is known."""
    before, after = sum(one.before for one in parts), sum(one.after for one in parts)
    return Part(before, after, Estimate(after - before))


def _costs(one: Repetition) -> Sums:
    """Return the own CPU time per KiB of each kind of work, of all sides together [ns].

    What a side without a sample used, no list names.
    """
    found = Sums(float)
    for side in _sides(one.sampled):
        cost = one.sampled.ns_per_kib(side)
        if side not in one.stacks:
            found[UNNAMED] += cost
            continue
        for name, share in one.own_shares(side).items():
            found[f"{name} ({side})" if name == _BY_SIDE else name] += share * cost
    return found


def _sides(run: Window) -> list[str]:
    """Return the sides that there were; what is around them in guests is not in the account."""
    return [side for side in SIDES if side in run.cpu_ns]


def _group(row: np.ndarray, change: Estimate) -> str:
    before, after = row.T
    if ((before <= _NOTHING * after) & (after > 0)).all():
        return "grew"
    if ((after <= _NOTHING * before) & (before > 0)).all():
        return "shrank"
    low, high = (change.value, change.value) if change.n == 1 else (change.low, change.high)
    return "grew" if low > 0 else "shrank" if high < 0 else "open"


def _clipped(one: Part, group: str) -> Part:
    """Return a line whose interval does not reach to the other side of 0."""
    low, high = one.change.low, one.change.high
    if group == "grew":
        low = max(low, 0.0)
    elif group == "shrank":
        high = min(high, 0.0)
    return replace(one, change=replace(one.change, low=low, high=high))
