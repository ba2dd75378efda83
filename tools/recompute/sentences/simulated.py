"""Simulated counts."""

import re

from tools.recompute.simulated import LEVELS, Key
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says


@says(
    "With <impl>, <layer> fall most: at <size> to <x> per line from <x> with `two_copy`, <x> fewer"
)
def _falls_most(told: Told, name: str, layer: str, size: int, *_: Slot) -> Expected:
    counts, level = told.run.simulated, _level(layer)
    keys = _keys(told, name)
    most = max(counts.saved(key, each) for key in keys for each in LEVELS.values())
    key = next(key for key in keys if key.msg_bytes == size)
    saved = counts.saved(key, level)
    assert saved > most - 0.05, "another level or size falls more"
    return [None, None, size, counts.total(key, level), counts.before(key, level), saved]


@says("<layer> are fewer <at>, by up to <x>")
def _fewer(told: Told, layer: str, *_: Slot) -> Expected:
    return _changed(told, layer, 1)


@says("<layer> are more <at>, by up to <x>")
def _more(told: Told, layer: str, *_: Slot) -> Expected:
    return _changed(told, layer, -1)


@says("<impl> lowers <layer> most, by <x> per line at <size>")
def _lowers_most(told: Told, name: str, layer: str, _x: str, size: int) -> Expected:
    key = next(key for key in _keys(told, name) if key.msg_bytes == size)
    return [None, None, told.run.simulated.saved(key, _level(layer)), size]


@says("Of these, <x> are the application's and <x> the kernel's")
def _by_whom(told: Told, *_: Slot) -> Expected:
    layer, size = re.findall(
        r"(misses of the [\w -]+ cache) fall most: at (\S+ (?:[KM]i)?B)", told.sentence.before
    )[-1]
    name = _named(told)
    n_bytes = _bytes(size)
    key = next(key for key in _keys(told, name) if key.msg_bytes == n_bytes)
    cells, level = told.run.simulated.cells, _level(layer)
    before, after = cells[key._replace(implementation="two_copy")], cells[key]
    return [before[level, mode] - after[level, mode] for mode in (False, True)]


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
    return str(re.findall(r"With `(\w+)`, (?:misses|no level)", told.sentence.before)[-1])


def _level(layer: str) -> str:
    return next(level for word, level in LEVELS.items() if word in layer)


def _bytes(size: str) -> int:
    number, unit = size.split()
    return round(float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit])
