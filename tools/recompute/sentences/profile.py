"""Where the CPU time goes: how it was sampled, what each side does, and what a difference is."""

import re
from collections.abc import Sequence
from itertools import permutations

import numpy as np

from tools.recompute import estimates
from tools.recompute.account import Account, Part, Rounds, account, part, together
from tools.recompute.functions import UNNAMED
from tools.recompute.profile import SIDES, slug_of
from tools.recompute.profile_tables import PARTIES
from tools.recompute.told import Expected, Slot, Told, says


@says("<n> times per second of CPU time")
def _frequency(told: Told, _n: int) -> Expected:
    return [max(one.sampling["frequency_hz"] for one in told.run.profile.repetitions)]


@says("None of the <n> samples was lost")
def _samples(told: Told, _n: int) -> Expected:
    sampled = [one.sampling for one in told.run.profile.repetitions]
    assert not any(one["lost"] for one in sampled), "some were"
    return [sum(side["samples"] for one in sampled for side in one["sides"].values())]


@says(
    "In guests, samples come to <p> of the CPU time that the guest counted (by side and "
    "repetition, <ps>)"
)
def _complete_inside(told: Told, *_: Slot) -> Expected:
    return _completeness(told, inside=True)


@says(
    "together they come to <p> of the CPU time that was counted in the same window (by side and "
    "repetition, <ps>)"
)
def _complete(told: Told, *_: Slot) -> Expected:
    return _completeness(told, inside=False)


def _completeness(told: Told, *, inside: bool) -> Expected:
    shares = [
        sum(one.stacks[side].values()) / one.sampled.cpu_ns[side]
        for repetition in told.run.profile.repetitions
        for one in (repetition, repetition.reference)
        if one is not None
        for side in one.stacks
        if not side.endswith("guest") and one.is_inside(side) == inside
    ]
    return [float(np.median(shares)), (min(shares), max(shares))]


@says("<n> pairs of runs with and without it leave open: the sampled ones had <x> times the "
      "throughput <i>")  # fmt: skip
def _disturbing(told: Told, *_: Slot) -> Expected:
    found = _overhead(told)
    return [found.n, found.value, found]


@says("So sampling may cost up to <p> of it")
def _most_lost(told: Told, _p: str) -> Expected:
    return [1 - _overhead(told).low]


def _overhead(told: Told) -> estimates.Estimate:
    logs = [
        np.log(one.sampled.bits_per_s / one.unsampled.bits_per_s)
        for one in told.run.profile.repetitions
        if one.unsampled
    ]
    return estimates.ratio(np.array(logs), told.run.profile.confidence)


@says("have <p> of the samples where they have most (sender, <impl> on <impl>)")
@says("have <p> of the samples where they have most (receiver, <impl> on <impl>)")
@says(
    *(
        f"have <p> of the samples where they have most ({name}, <impl> on <impl>{emulated})"
        for name in PARTIES
        for emulated in ("", " (emulated)")
        if name not in SIDES or emulated
    )
)
def _unnamed(told: Told, _p: str, name: str, condition: str) -> Expected:
    share, *where = max(
        (one.own_shares(side)[UNNAMED], side, one.key[1], one.key[0])
        for one in told.run.profile.repetitions
        for side in one.stacks
        if not side.endswith("guest")
    )
    side = re.findall(r"most \(([^,]+),", told.sentence.text)[0]
    assert where == [PARTIES[side.lower()], name, condition], f"it is {where}"
    return [share, None, None]


@says(
    "<impl> with <size> and <threads> on <impl> received <rate> while sampled",
    "<impl> with <size> and <threads> on <impl> (emulated) received <rate> while sampled",
    "<impl> with <size> and <threads> on <impl> sent <rate> while sampled",
)
def _throughput(told: Told, name: str, size: int, threads: Slot, *where: str) -> Expected:
    cell = told.run.profile.cell(slug_of((where[0], name, size, threads[0])))
    return [None, None, None, None, float(np.median([one.sampled.bits_per_s for one in cell]))]


@says("The sender used <p> of a CPU, most of it for")
def _sender_used(told: Told, _p: str) -> Expected:
    return [_used(told, "sender")]


@says("The receiver used <p> of a CPU, most of it for")
def _receiver_used(told: Told, _p: str) -> Expected:
    return [_used(told, "receiver")]


def _party_used(name: str) -> None:
    @says(f"The {name} used <p> of a CPU, most of it for")
    def _used_so(told: Told, _p: str) -> Expected:
        return [_used(told, PARTIES[name])]


for _name in PARTIES.keys() - set(SIDES):
    _party_used(_name)


def _used(told: Told, side: str) -> float:
    """Return how many CPUs a side used, after a look at what it is told to have used them for."""
    where = r"`(\w+)` with ([\d.,]+ \w+) and (\d+) threads? on `([\w-]+)`"
    name, size, threads, condition = re.findall(where, told.sentence.before)[-1]
    profile = told.run.profile
    cell = profile.cell(slug_of((condition, name, profile.size(size), int(threads))))
    shares = [one.own_shares(side) for one in cell]
    names = {title for each in shares for title in each}
    kinds = {title: float(np.median([each[title] for each in shares])) for title in names}
    most = sorted(kinds, key=lambda title: -kinds[title])[:3]
    # those that take as much as another may stand in any order
    alike = [title for title in kinds if kinds[title] >= kinds[most[-1]]]
    orders = (
        order
        for order in permutations(alike, len(most))
        if [kinds[title] for title in order] == [kinds[title] for title in most]
    )
    told_so = any(f"most of it for {_listed(order)}" in told.sentence.text for order in orders)
    assert told_so, f"it is for {_listed(most)}"
    return float(np.median([one.sampled.cpus(side) for one in cell]))


def _listed(titles: Sequence[str]) -> str:
    return f"{', '.join(titles[:-1])} and {titles[-1]}" if len(titles) > 1 else titles[0]


@says(
    "<impl> and <impl> were compared with <size> and <threads> on <impl>, paired over <n> rounds",
    "<impl> and <impl> were compared with <size> and <threads> on <impl> (emulated), paired over "
    "<n> rounds",
)
def _compared(told: Told, a: str, b: str, *_: Slot) -> Expected:
    return [None, None, None, None, None, len(_rounds(told))]


@says("Where that CPU time goes was sampled with <size> and <threads>")
def _sampled_with(told: Told, size: int, threads: Slot) -> Expected:
    keys = {one.key[2:] for one in told.run.profile.repetitions}
    assert (size, threads[0]) in keys, f"it was {keys}"
    return [None, None]


def _rounds(told: Told) -> Rounds:
    """Return the rounds of the pair that was told last."""
    text = f"{told.sentence.before} {told.sentence.text}"
    load = r"with ([\d.,]+ \w+) and (\d+) threads?(?: on `([\w-]+)`)?"
    size, threads, condition = re.findall(load, text)[-1]
    if named := re.findall(r"`(\w+)` and `(\w+)` were compared", text):
        before, after = named[-1]
    else:
        after, before = re.findall(r"`(\w+)` takes .* than (?:that of )?`(\w+)`", text)[-1]
    profile = told.run.profile
    key = (condition or told.condition, before, profile.size(size), int(threads))
    return profile.rounds(f"{slug_of(key)}-to-{after.replace('_', '-')}")


def _account(told: Told) -> Account:
    return account(told.run.profile, _rounds(told))


@says("<impl> takes <x> ns per KiB <i> of CPU time more than <impl>: <x> instead of <x>")
@says(
    "The sender of <impl> takes <x> ns per KiB <i> of CPU time more than that of <impl>: <x> "
    "instead of <x>"
)
def _takes_more(told: Told, *_: Slot) -> Expected:
    total = _account(told).total
    return [None, total.change.value, total.change, None, total.after, total.before]


@says("<impl> takes <x> ns per KiB <i> of CPU time less than <impl>: <x> instead of <x>")
@says(
    "The sender of <impl> takes <x> ns per KiB <i> of CPU time less than that of <impl>: <x> "
    "instead of <x>"
)
def _takes_less(told: Told, *_: Slot) -> Expected:
    total = _account(told).total
    less = _turned(total.change)
    return [None, less.value, less, None, total.after, total.before]


@says(
    "Whether <impl> takes more CPU time than <impl>, these rounds leave open: <x> instead of <x> "
    "ns per KiB, a change of <x> ns per KiB <i>"
)
def _takes_either(told: Told, *_: Slot) -> Expected:
    total = _account(told).total
    assert total.change.low <= 0 <= total.change.high, "they tell it"
    return [None, None, total.after, total.before, total.change.value, total.change]


def _turned(change: estimates.Estimate) -> estimates.Estimate:
    return estimates.Estimate(-change.value, -change.high, -change.low, n=change.n)


def _group(told: Told) -> dict[str, Part]:
    """Return what grew, or what shrank, as the sentence says."""
    made = _account(told)
    return made.grew if "What grew" in told.sentence.text else made.shrank


@says("What grew comes to <x> ns per KiB", "What shrank comes to <x> ns per KiB")
def _sum(told: Told, _x: str) -> Expected:
    return [abs(together(_group(told).values()).change.value)]


@says("<work> <x> <e>")
def _part(told: Told, name: str, *_: Slot) -> Expected:
    change = _group(told)[name].change
    shown = _turned(change) if change.value < 0 else change
    return [None, shown.value, shown]


@says("<n> smaller one <x>", "<n> smaller ones <x>")
def _smaller(told: Told, *_: Slot) -> Expected:
    group = _group(told)
    named = [name for name in group if re.search(rf"{re.escape(name)} [\d.]+", told.sentence.text)]
    others = [one for name, one in group.items() if name not in named]
    most = max(abs(one.change.value) for one in others)
    assert most <= min(abs(group[name].change.value) for name in named), "one is larger"
    return [len(others), abs(together(others).change.value)]


@says(
    "A change of <x> ns per KiB is left unexplained: <x> in <n> other kinds of work, whose changes "
    "the rounds do not tell from none, and <x> in functions",
    "A change of <x> ns per KiB is left unexplained: <x> in <n> other kind of work, whose changes "
    "the rounds do not tell from none, and <x> in functions",
)
def _unexplained(told: Told, *_: Slot) -> Expected:
    made = _account(told)
    left, unnamed = together(made.open.values()).change.value, made.unnamed.change.value
    return [left + unnamed, left, len(made.open), unnamed]


@says("The kernel marked <p> of its sends as copied after all")
def _copied(told: Told, _p: str) -> Expected:
    shares = {other.copied for _, other in _rounds(told)}
    assert len(shares) == 1, "they differ"
    return [shares.pop()]


@says("Without sampling, the change over the same rounds was <x> ns per KiB <i>")
def _unsampled(told: Told, *_: Slot) -> Expected:
    found = _account(told).unsampled
    return [found.value, found]


def _side(told: Told) -> Part:
    names = "|".join(sorted(map(re.escape, PARTIES), key=len, reverse=True))
    side = PARTIES[re.findall(rf"the ({names})", told.sentence.text.lower())[0]]
    costs = [[one.sampled.ns_per_kib(side) for one in both] for both in _rounds(told)]
    return part(told.run.profile, np.array(costs))


@says("CPU time per KiB changes was not seen: <x> ns with <impl>, <x> with <impl>")
def _side_even(told: Told, *_: Slot) -> Expected:
    found = _side(told)
    assert found.change.low <= 0 <= found.change.high, "it was"
    return [found.before, None, found.after, None]


@says("needs <x> ns of CPU time per KiB with <impl> instead of <x> with <impl>: <x> ns per KiB <i>")
def _side_needs(told: Told, *_: Slot) -> Expected:
    found = _side(told)
    less = "less" in told.sentence.text
    change = _turned(found.change) if less else found.change
    return [found.after, None, found.before, None, change.value, change]
