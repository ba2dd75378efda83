"""Simulated counts."""

import re

from tools.recompute.simulated import BASELINE, LEAST, LEVELS, PLAIN, Key
from tools.recompute.simulated_tables import CHANGES, beside, both_of, condition_of
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says

# lines that a program which walks has on its stack, at most
OWN_LINES = 32
# by that share may system calls per message differ, and be told as the same
CALLS_DIFFER = 0.02


@says("<impl> lowers <layer> most, by <x> per line at <size>")
def _lowers_most(told: Told, name: str, layer: str, _x: str, size: int) -> Expected:
    counts, keys = told.run.simulated, keys_of(told, name)
    key = next(key for key in keys if key.msg_bytes == size)
    saved = counts.saved(key, level_of(layer))
    most = max(counts.saved(key, each) for key in keys for each in LEVELS.values())
    assert saved > most - 0.05, "another level or size falls more"
    return [None, None, saved, size]


@says("They fall <at>.")
def _fall_at(told: Told, *_: Slot) -> Expected:
    assert not _moving(told, -1)[0], "they rise at some"
    return [_moving(told, 1)]


@says("They fall <at>, and rise <at>.")
def _fall_and_rise_at(told: Told, *_: Slot) -> Expected:
    return [_moving(told, 1), _moving(told, -1)]


def _moving(told: Told, sign: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes at which the misses that were named last fall (-1: rise), and all sizes."""
    counts, level = told.run.simulated, _most(told)[1]
    keys = keys_of(told, _named(told))
    moving = (key for key in keys if sign * counts.saved(key, level) >= LEAST)
    return tuple(key.msg_bytes for key in moving), tuple(key.msg_bytes for key in keys)


@says(
    "<layer>, which memory has to serve, fall by <x> of <x> per line at <size>",
    "<layer> fall too, by <x> of <x> per line at <size>",
)
def _deepest(told: Told, layer: str, _x: str, _of: str, size: int) -> Expected:
    counts, level, keys = told.run.simulated, level_of(layer), keys_of(told, _named(told))
    behind = list(LEVELS.values())[list(LEVELS.values()).index(level) + 1 :]
    assert level != _most(told)[1], "it was told before"
    assert all(counts.saved(key, each) < LEAST for key in keys for each in behind), "a deeper falls"
    key = next(key for key in keys if key.msg_bytes == size)
    saved = counts.saved(key, level)
    assert saved > max(counts.saved(one, level) for one in keys) - LEAST, "another size falls more"
    return [None, saved, counts.before(key, level), size]


@says(
    "the kernel runs <x> times as many instructions per message with <impl> as with <impl>"
    " at <size>"
)
def _price(told: Told, _x: str, name: str, other: str, size: int) -> Expected:
    return [_times(told, name, other, size), None, None, size]


@says("and <x> times as many at <size>.")
def _price_last(told: Told, _x: str, size: int) -> Expected:
    name, other = re.findall(r"`(\w+)`", told.sentence.text)[1:]
    return [_times(told, name, other, size), size]


def _times(told: Told, name: str, other: str, size: int) -> float:
    """Return how many times as many instructions the kernel runs; the size is the first or last."""
    known = told.run.simulated.instructions
    place = re.findall(r"On `(\w+)` with (hot|cold) messages", told.sentence.text)[-1]
    one, two = (
        {
            key.msg_bytes: kernel[True]
            for key, kernel in known.items()
            if key[:3] == (*place, way) and key.variant == PLAIN
        }
        for way in (name, other)
    )
    common = one.keys() & two.keys()
    assert size in (min(common), max(common)), "another size is at the end"
    return one[size] / two[size]


@says("<layer> rise most, by <x> per line at <size>")
def _rise_most(told: Told, layer: str, _x: str, size: int) -> Expected:
    counts, keys = told.run.simulated, keys_of(told, _named(told))
    key = next(key for key in keys if key.msg_bytes == size)
    risen = -counts.saved(key, level_of(layer))
    most = max(-counts.saved(key, each) for key in keys for each in LEVELS.values())
    assert risen > most - 0.05, "another level or size rises more"
    return [None, risen, size]


@says("The kernel has <x> fewer of loads and <x> fewer of stores")
def _loads_and_stores(told: Told, *_: Slot) -> Expected:
    key, level = _most(told)
    whole, loads = (
        told.run.simulated.saved_in(key, level, True, loads=alone) for alone in (False, True)
    )
    return [loads, whole - loads]


@says("The L2 cache had to serve <x> of what is saved")
def _served_by_l2(told: Told, *_: Slot) -> Expected:
    return _served(told, "l1d", "l2")


@says("The last-level cache had to serve <x> of what is saved")
def _served_by_llc(told: Told, *_: Slot) -> Expected:
    return _served(told, "l2", "llc")


@says("Memory had to serve <x> of what is saved")
def _served_by_memory(told: Told, *_: Slot) -> Expected:
    return _served(told, "llc", None)


def _served(told: Told, missed: str, found: str | None) -> Expected:
    counts, (key, _) = told.run.simulated, _most(told)
    return [counts.saved(key, missed) - (counts.saved(key, found) if found else 0.0)]


def _most(told: Told) -> tuple[Key, str]:
    """Return where most is saved, as the first sentence on a way to send has it."""
    found = re.findall(
        r"(misses of the [\w -]+ cache) (?:rise )?most, by \S+ per line at (\S+ \w+)",
        told.sentence.before,
        re.IGNORECASE,
    )
    if not found:
        raise NotRecomputedError("no level was told before")
    layer, size = found[-1]
    n_bytes, keys = _bytes(size), keys_of(told, _named(told))
    return next(key for key in keys if key.msg_bytes == n_bytes), level_of(layer)


def keys_of(told: Told, name: str) -> list[Key]:
    """Return the cells of one way to send, in the place that was named last."""
    text = f"{told.sentence.before} {told.sentence.text}"
    places = re.findall(r"On `(\w+)` with (hot|cold) messages", text)
    if not places:
        raise NotRecomputedError("no place was told before")
    testbed, working_set = places[-1]
    return told.run.simulated.keys(testbed, working_set, name)


def _named(told: Told) -> str:
    return str(re.findall(r"messages, `(\w+)` (?:lowers|changes)", told.sentence.before)[-1])


def level_of(layer: str) -> str:
    """Return which level a text names."""
    return next(level for word, level in LEVELS.items() if word in layer)


@says("less than <x> per line is taken for no difference")
def _least(_told: Told, *_: Slot) -> Expected:
    return [LEAST]


@says(
    "the L1 data cache of <size> in <n> ways, the L2 cache of <size> in <n> ways"
    " and the last-level cache of <size> in <n> ways"
)
def _caches(told: Told, *_: Slot) -> Expected:
    caches = told.run.simulated.caches
    return [caches[level][name] for level in LEVELS.values() for name in ("size_bytes", "ways")]


@says("through simulated caches of lines of <size>")
def _lines(told: Told, *_: Slot) -> Expected:
    return [told.run.simulated.caches["line_bytes"]]


@says("On <impl>, who reads a cold message first pays for it")
def _payers(told: Told, testbed: str) -> Expected:
    named = re.findall(r"(the application|the kernel|both|nobody) with `(\w+)`", told.sentence.text)
    counts = told.run.simulated
    assert named, "nobody is named"
    for payer, name in named:
        assert counts.payer(testbed, name) == payer, f"{name}: {counts.payer(testbed, name)}"
    return [None]


@says("On <impl>, nobody misses more in the last-level cache with cold messages")
def _no_payer(told: Told, testbed: str) -> Expected:
    counts = told.run.simulated
    names = {key.implementation for key in counts.cells if key.testbed == testbed}
    assert {counts.payer(testbed, name) for name in names} == {"nobody"}, "some do"
    return [None]


@says(
    "On <impl>, no completion in a window told whether the kernel copied after all what <impl> sent"
)
def _copied_unknown(told: Told, testbed: str, name: str) -> Expected:
    assert told.run.simulated.copied(testbed, name) is None, "some did"
    return [None, None]


@says("On <impl>, the kernel copied after all what <impl> sent")
def _copied_all(told: Told, testbed: str, name: str) -> Expected:
    assert told.run.simulated.copied(testbed, name) == 1, "not all of it"
    return [None, None]


@says("On <impl>, the kernel copied nothing of what <impl> sent")
def _copied_nothing(told: Told, testbed: str, name: str) -> Expected:
    assert told.run.simulated.copied(testbed, name) == 0, "some of it"
    return [None, None]


@says("On <impl>, the kernel copied after all <p> of what <impl> sent")
def _copied_some(told: Told, testbed: str, _: str, name: str) -> Expected:
    share = told.run.simulated.copied(testbed, name)
    assert share not in (None, 0, 1), "all, nothing, or nobody knows"
    return [None, share, None]


@says(
    "<n> conclusions (which level's misses one way to send lowers most at one size, and which"
    " levels' it raises or leaves as they are), at <sizes> with",
    "<n> conclusion (which level's misses one way to send lowers most at one size, and which"
    " levels' it raises or leaves as they are), at <sizes> with",
)
def _conclusions(told: Told, *_: Slot) -> Expected:
    tried = told.run.simulated.tried
    assert _said(told) == _variants(told), f"tried were {_variants(told)}"
    messages = re.findall(r" with ([\w ]+) messages", told.sentence.text)[0]
    assert set(messages.split(" and ")) == {key.working_set for key in tried}, "of other messages"
    return [len(tried), tuple(sorted({key.msg_bytes for key in tried}))]


@says("What was not tried:")
def _left_out(told: Told) -> Expected:
    left_out = set(CHANGES.values()) - {PLAIN} - _variants(told)
    assert _said(told) == left_out, f"not tried were {left_out}"
    return []


def _variants(told: Told) -> set[str]:
    return {key.variant for found in told.run.simulated.tried.values() for key in found}


def _said(told: Told) -> set[str]:
    """Return the changes that a sentence names."""
    return {name for text, name in CHANGES.items() if text in told.sentence.text}


@says("What the tables above tell is among them.")
def _all_reported(told: Told) -> Expected:
    reported, tried = _reported(told)
    assert reported == tried, "some is not"
    return []


@says(
    "Of what the tables above tell, <n> conclusions of <n> are among them",
    "Of what the tables above tell, <n> conclusion of <n> is among them",
)
def _some_reported(told: Told, *_: Slot) -> Expected:
    reported, tried = _reported(told)
    return [tried, reported]


@says("What the tables above tell is not among them")
def _none_reported(told: Told) -> Expected:
    assert _reported(told)[1] == 0, "some is"
    return []


def _reported(told: Told) -> tuple[int, int]:
    """Return how many conclusions the tables tell, and how many of them were tried again."""
    counts = told.run.simulated
    places = {key[:3] for key in counts.cells if key.implementation != BASELINE}
    most = [found.key for place in places if (found := counts.most(counts.keys(*place)))]
    return len(most), sum(key in counts.tried for key in most)


@says("The kernel zeroed each new page (`init_on_alloc=<x>`)")
def _zeroed(told: Told, *_: Slot) -> Expected:
    return [told.run.simulated.told_kernel("init_on_alloc")]


@says("The kernel zeroed no new page (`init_on_alloc=<x>`)")
def _zeroed_nothing(told: Told, *_: Slot) -> Expected:
    return [told.run.simulated.told_kernel("init_on_alloc")]


@says("not zeroed (`init_on_alloc=<x>`)")
def _not_zeroed(_told: Told, *_: Slot) -> Expected:
    return [0]


@says("the C library's from <size> up instead of AVX2")
def _from_size_up(_told: Told, *_: Slot) -> Expected:
    return [2048]


@says("by SSE2, <n> bytes at a time")
def _at_a_time(_told: Told, *_: Slot) -> Expected:
    return [16]


@says("The level that falls most stays the same under every change in <n> of <n> conclusions")
def _keeping(told: Told, *_: Slot) -> Expected:
    tried, turns = told.run.simulated.tried, told.run.simulated.turns
    return [sum(not any(map(turns, found)) for found in tried.values()), len(tried)]


@says("Which levels fall, rise or stay is the same under every change in <n> of <n> conclusions")
def _surviving(told: Told, *_: Slot) -> Expected:
    tried, fails = told.run.simulated.tried, told.run.simulated.fails
    return [sum(not any(map(fails, found)) for found in tried.values()), len(tried)]


@says("The level that falls most stays the same under every change.")
def _all_keeping(told: Told) -> Expected:
    tried, turns = told.run.simulated.tried, told.run.simulated.turns
    assert not any(turns(key) for found in tried.values() for key in found), "it does not"
    return []


@says("Which levels fall, rise or stay is the same under every change, too.")
def _all_surviving(told: Told) -> Expected:
    tried, fails = told.run.simulated.tried, told.run.simulated.fails
    assert not any(fails(key) for found in tried.values() for key in found), "it does not"
    return []


@says("another level falls most with <impl> at <size> under")
def _turning(told: Told, name: str, size: int) -> Expected:
    counts = told.run.simulated
    plain = next(key for key in keys_of(told, name) if key.msg_bytes == size)
    found = {key.variant for key in counts.tried[plain] if counts.turns(key)}
    assert _said(told) == found, f"it does under {found}"
    return [None, size]


@says("Walks through memory with known misses could not be counted")
def _no_walks(told: Told) -> Expected:
    assert not told.run.simulated.walks, "they were"
    return []


@says("<n> walks through memory")
def _walks(told: Told, *_: Slot) -> Expected:
    return [len(told.run.simulated.walks)]


@says("Each was counted right, but for <n> lines at most")
def _walked(told: Told, *_: Slot) -> Expected:
    off = _lines_off(told)
    assert max(off) <= OWN_LINES, "one was counted wrong"
    return [max(off)]


@says(
    "<n> walks were counted wrong, by up to <n> lines",
    "<n> walk was counted wrong, by up to <n> lines",
)
def _walked_wrong(told: Told, *_: Slot) -> Expected:
    off = _lines_off(told)
    return [sum(one > OWN_LINES for one in off), max(off)]


def _lines_off(told: Told) -> list[int]:
    """Return by how many lines each walk is off, at any level."""
    return [
        max(
            abs(known - counted)
            for level in LEVELS.values()
            for known, counted in zip(*both_of(walk, level), strict=True)
        )
        for walk in told.run.simulated.walks
    ]


@says("are those of the measured run in all <n> cells that both have")
def _all_calls(told: Told, *_: Slot) -> Expected:
    calls = list(_calls(told).values())
    assert all(map(_agree, calls)), "some differ"
    return [len(calls)]


@says("are those of the measured run in the one cell that both have")
def _one_call(told: Told) -> Expected:
    assert [_agree(calls) for calls in _calls(told).values()] == [True], "there is another, or none"
    return []


@says("are those of the measured run in <n> of <n> cells that both have")
def _some_calls(told: Told, *_: Slot) -> Expected:
    calls = list(_calls(told).values())
    return [sum(map(_agree, calls)), len(calls)]


@says("<impl> takes <x> of them at <size> in the guest, and <x> in the run")
def _takes(told: Told, name: str, _x: str, size: int, _y: str) -> Expected:
    key = next(key for key in keys_of(told, name) if key.msg_bytes == size)
    simulated, measured = _calls(told)[key]
    return [None, simulated, size, measured]


def _calls(told: Told) -> dict[Key, tuple[float, float]]:
    """Return system calls per message in the guest and in the measured run, by common cell."""
    found = {}
    for key, simulated in told.run.simulated.calls.items():
        if key.variant != PLAIN or condition_of(key) not in told.run.conditions:
            continue
        cell = (key.msg_bytes, 1)
        run = told.run.median(
            condition_of(key), key.implementation, cell, "sender_syscalls_per_message"
        )
        if run.n:
            found[key] = simulated, run.value
    return found


def _agree(calls: tuple[float, float]) -> bool:
    return abs(calls[0] - calls[1]) <= CALLS_DIFFER * calls[1]


@says("the model says <x> times as many per line")
def _one_ratio(told: Told, *_: Slot) -> Expected:
    ratios = _ratios(told)
    return [min(ratios)]


@says("the model says <x> to <x> times as many per line")
def _ratios_from_to(told: Told, *_: Slot) -> Expected:
    ratios = _ratios(told)
    return [min(ratios), max(ratios)]


def _ratios(told: Told) -> list[float]:
    """Return by how much simulated misses are more than counted ones, where both are."""
    keys = [
        key
        for key in told.run.simulated.cells
        if key.variant == PLAIN and condition_of(key) in told.run.conditions
    ]
    both = [beside(told.run, key, level) for key in keys for level in ("l1d", "llc")]
    return [simulated / counted for simulated, counted in both if counted > 0]


def _bytes(size: str) -> int:
    number, unit = size.split()
    return round(float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit])
