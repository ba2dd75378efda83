"""Simulated counts in detail."""

from tools.recompute.sentences.simulated import keys_of, level_of
from tools.recompute.simulated import Copy, Key
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says


@says("<store> of <size> has both source and target of the application's copy <at>")
def _has_both(told: Told, store: str, *_: Slot) -> Expected:
    return [None, _size(told, store), _sizes(told, store, (False, False))]


@says("In <store> of <size>, the application's copy finds neither its source nor its target <at>")
def _has_neither(told: Told, store: str, *_: Slot) -> Expected:
    copies = _copies(told, store)
    assert all(one.source == one.target for one in copies.values()), "one of them at some sizes"
    return [None, _size(told, store), _sizes(told, store, (True, None))]


@says(
    "In <store> of <size>, the application's copy misses its source <at>, and its target <at>",
)
def _misses_both(told: Told, store: str, *_: Slot) -> Expected:
    source, target = (_sizes(told, store, which) for which in ((True, None), (None, True)))
    return [None, _size(told, store), source, target]


@says("In <store> of <size>, the application's copy misses its source <at>, and finds its target")
def _misses_source(told: Told, store: str, *_: Slot) -> Expected:
    assert not _sizes(told, store, (None, True))[0], "the target is missed too"
    return [None, _size(told, store), _sizes(told, store, (True, None))]


@says("In <store> of <size>, the application's copy misses its target <at>, and finds its source")
def _misses_target(told: Told, store: str, *_: Slot) -> Expected:
    assert not _sizes(told, store, (True, None))[0], "the source is missed too"
    return [None, _size(told, store), _sizes(told, store, (None, True))]


@says("A cold message has to come from memory")
def _from_memory(told: Told) -> Expected:
    assert any(one.memory for one in _copies(told, _last(told)).values()), "it does not"
    return []


@says("Message and copy exceed it together <at>")
def _beyond(told: Told, *_: Slot) -> Expected:
    copies = _copies(told, _last(told))
    return [_where(copies, {key for key, one in copies.items() if one.other and one.large})]


@says("They would fit <at>, but what is touched in between")
def _displaced(told: Told, *_: Slot) -> Expected:
    copies = _copies(told, _last(told))
    return [_where(copies, {key for key, one in copies.items() if one.other and not one.large})]


@says("They exceed it together <at>, and are found all the same")
def _found_beyond(told: Told, *_: Slot) -> Expected:
    copies = _copies(told, _last(told))
    found = {key for key, one in copies.items() if one.large and not (one.source or one.target)}
    return [_where(copies, found)]


@says("From hot to cold, on <impl> at <size>")
def _from_hot_to_cold(told: Told, testbed: str, _: int) -> Expected:
    return [None, told.run.simulated.at_cold(testbed)]


@says("With <impl>, no line more is missed in the last-level cache")
def _nobody(told: Told, name: str) -> Expected:
    return _paid(told, name, "nobody")


@says("With <impl>, the application reads it first, and misses <x> more per line")
def _application(told: Told, name: str, *_: Slot) -> Expected:
    return _paid(told, name, "the application", False)


@says("With <impl>, the kernel reads it first, and misses <x> more per line")
def _kernel(told: Told, name: str, *_: Slot) -> Expected:
    return _paid(told, name, "the kernel", True)


@says(
    "With <impl>, both miss more in the last-level cache: the application <x> per line,"
    " the kernel <x>"
)
def _both(told: Told, name: str, *_: Slot) -> Expected:
    return _paid(told, name, "both", False, True)


def _paid(told: Told, name: str, payer: str, *kernel: bool) -> Expected:
    """Return what the application and the kernel miss more; each `kernel` is one of them."""
    counts, testbed = told.run.simulated, told.sentence.before.partition("`")[2].partition("`")[0]
    assert counts.payer(testbed, name) == payer, f"{counts.payer(testbed, name)} does"
    return [None, *(counts.more_when_cold(testbed, name, mode) for mode in kernel)]


def _copies(told: Told, store: str) -> dict[Key, Copy]:
    """Return what a level misses of the copy that `one_copy` saves, by cell."""
    keys = keys_of(told, "one_copy")
    return {key: told.run.simulated.copy(key, level_of(store)) for key in keys}


def _size(told: Told, store: str) -> int:
    return int(told.run.simulated.caches[level_of(store)]["size_bytes"])


def _sizes(
    told: Told, store: str, which: tuple[bool | None, bool | None]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes at which source and target are missed so (None: either), and all sizes."""
    copies = _copies(told, store)
    found = {
        key
        for key, one in copies.items()
        if which[0] in (None, one.source) and which[1] in (None, one.target)
    }
    return _where(copies, found)


def _where(copies: dict[Key, Copy], found: set[Key]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(key.msg_bytes for key in found), tuple(key.msg_bytes for key in copies)


def _last(told: Told) -> str:
    """Return the level that was named last."""
    text = told.sentence.before
    names = ("L1 data cache of", "L2 cache of", "last-level cache of")
    found = max(names, key=text.rfind)
    if found not in text:
        raise NotRecomputedError("no level was told before")
    return found
