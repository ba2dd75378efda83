"""Simulated counts."""

import re

from tools.recompute.simulated import LEVELS, Key
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says


@says("<layer> are fewer <at>, by up to <x>")
def _fewer(told: Told, layer: str, *_: Slot) -> Expected:
    return _changed(told, layer, 1)


@says("<layer> are fewer <at>, by up to <x>, and more <at>, by up to <x>")
def _fewer_and_more(told: Told, layer: str, *_: Slot) -> Expected:
    fewer, more = (_changed(told, layer, sign) for sign in (1, -1))
    return [*fewer, *more[1:]]


@says("<layer> are more <at>, by up to <x>")
def _more(told: Told, layer: str, *_: Slot) -> Expected:
    return _changed(told, layer, -1)


@says("<impl> lowers <layer> most, by <x> per line at <size>")
def _lowers_most(told: Told, name: str, layer: str, _x: str, size: int) -> Expected:
    counts, keys = told.run.simulated, _keys(told, name)
    key = next(key for key in keys if key.msg_bytes == size)
    saved = counts.saved(key, _level(layer))
    most = max(counts.saved(key, each) for key in keys for each in LEVELS.values())
    assert saved > most - 0.05, "another level or size falls more"
    return [None, None, saved, size]


@says("<layer> rise most, by <x> per line at <size>")
def _rise_most(told: Told, layer: str, _x: str, size: int) -> Expected:
    counts, keys = told.run.simulated, _keys(told, _named(told))
    key = next(key for key in keys if key.msg_bytes == size)
    risen = -counts.saved(key, _level(layer))
    most = max(-counts.saved(key, each) for key in keys for each in LEVELS.values())
    assert risen > most - 0.05, "another level or size rises more"
    return [None, risen, size]


@says("<impl> misses <x> there, and `two_copy` <x>")
def _there(told: Told, *_: Slot) -> Expected:
    key, level = _most(told)
    return [None, told.run.simulated.total(key, level), told.run.simulated.before(key, level)]


@says("the application (<x>)")
def _application(told: Told, *_: Slot) -> Expected:
    return [_carried(told, False, None)]


@says("<impl> (<x>)")
def _function(told: Told, name: str, *_: Slot) -> Expected:
    return [None, _carried(told, True, name)]


@says("The kernel has <x> fewer of loads and <x> fewer of stores")
def _loads_and_stores(told: Told, *_: Slot) -> Expected:
    key, level = _most(told)
    whole, loads = (
        told.run.simulated.saved_in(key, level, True, loads=alone) for alone in (False, True)
    )
    return [loads, whole - loads]


@says("Together they exceed its <size>", "They would fit into its <size>")
def _cache(told: Told, *_: Slot) -> Expected:
    _, level = _most(told)
    return [told.run.simulated.caches[level]["size_bytes"]]


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


def _carried(told: Told, kernel: bool, function: str | None) -> float:
    if not told.sentence.text.startswith(("They fall in", "They rise in")):
        raise NotRecomputedError("no functions that carry a difference")
    key, level = _most(told)
    return abs(told.run.simulated.saved_in(key, level, kernel, function))


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
    n_bytes, keys = _bytes(size), _keys(told, _named(told))
    return next(key for key in keys if key.msg_bytes == n_bytes), _level(layer)


def _changed(told: Told, layer: str, sign: int) -> Expected:
    keys = _keys(told, _named(told))
    sizes, by = told.run.simulated.changed(keys, _level(layer), sign)
    return [None, (sizes, tuple(key.msg_bytes for key in keys)), by]


def _keys(told: Told, name: str) -> list[Key]:
    text = f"{told.sentence.before} {told.sentence.text}"
    places = re.findall(r"On `(\w+)` with (hot|cold) messages", text)
    if not places:
        raise NotRecomputedError("no place was told before")
    testbed, working_set = places[-1]
    sizes = told.run.simulated.sizes(testbed, working_set, name)
    return [Key(testbed, working_set, name, size) for size in sizes]


def _named(told: Told) -> str:
    return str(re.findall(r"messages, `(\w+)` (?:lowers|changes)", told.sentence.before)[-1])


def _level(layer: str) -> str:
    return next(level for word, level in LEVELS.items() if word in layer)


def _bytes(size: str) -> int:
    number, unit = size.split()
    return round(float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit])
