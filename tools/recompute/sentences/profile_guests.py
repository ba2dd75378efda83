"""How often a byte is copied on its way through guests."""

import re

import numpy as np

from tools.recompute import copies
from tools.recompute.copies import Place
from tools.recompute.profile import Repetition, slug_of
from tools.recompute.told import Expected, Slot, Told, says

_SIDES = ("sender", "receiver")
_WORDS: dict[str, Place] = {
    "by the sending application": ("application_copy", ""),
    "from the sending application to its kernel": ("copy_in", ""),
    "before local delivery": ("deferred_copy", ""),
    "from its kernel to the receiving application": ("copy_out", ""),
    "from the guest's memory to the host's kernel by the sender's QEMU": (
        "tap_copy_in", "sender_qemu",
    ),
    "out of the host's kernel by the receiver's QEMU": ("tap_copy_out", "receiver_qemu"),
    **{f"by the {side}'s QEMU itself": ("hypervisor_copy", f"{side}_qemu") for side in _SIDES},
}  # fmt: skip
_OF = "From the sending to the receiving application of <impl> with <size> and <threads> on <impl>"


def _cell(told: Told) -> list[Repetition]:
    """Return the cell that was named last."""
    text = f"{told.sentence.before} {told.sentence.text}"
    where = r"`(\w+)` with ([\d.,]+ \w+) and (\d+) threads? on `([\w-]+)`"
    name, size, threads, condition = re.findall(where, text)[-1]
    profile = told.run.profile
    return profile.cell(slug_of((condition, name, profile.size(size), int(threads))))


@says(*(f"{_OF}{emulated}, a byte is copied <n> times" for emulated in ("", " (emulated)")))
def _times(told: Told, *_: Slot) -> Expected:
    return [None, None, None, None, len(copies.counted(_cell(told)))]


_FEW = {"once": 1, "twice": 2}


@says(
    *(
        f"{_OF}{emulated}, a byte is copied {times}"
        for times in _FEW
        for emulated in ("", " (emulated)")
    )
)
def _few_times(told: Told, *_: Slot) -> Expected:
    (times,) = re.findall(r"a byte is copied (once|twice)", told.sentence.text)
    n = len(copies.counted(_cell(told)))
    assert n == _FEW[times], f"it is {n} times"
    return [None] * 4


@says(
    *(
        f"guest's kernel marked <ps> of the zero-copy sends of <impl> with <size> and <threads> on "
        f"<impl>{emulated}"
        for emulated in ("", " (emulated)")
    )
)
def _marked(told: Told, *_: Slot) -> Expected:
    shares = [one.copied for one in _cell(told) if one.copied is not None]
    return [(min(shares), max(shares)), None, None, None, None]


@says(
    *(
        f"guest's kernel marked none of the zero-copy sends of <impl> with <size> and <threads> on "
        f"<impl>{emulated} as copied"
        for emulated in ("", " (emulated)")
    )
)
def _marked_none(told: Told, *_: Slot) -> Expected:
    shares = {one.copied for one in _cell(told)}
    assert shares == {0}, f"copied after all were {shares}"
    return [None] * 4


def _copied(words: str, place: Place) -> None:
    @says(f"{words} (<impl>, <x> ns per KiB)")
    def _at(told: Told, name: str, _x: str) -> Expected:
        cell = _cell(told)
        function, cost = copies.told(cell, place)
        assert name == function, f"it is {function}"
        enough = place in copies.counted(cell)
        assert enough == ("is copied" in told.sentence.text), "it counts otherwise"
        return [None, cost]


for _words, _place in _WORDS.items():
    _copied(_words, _place)


@says("in its stead: <x> ns per KiB in <impl>, <p> of the samples of the sender's QEMU")
@says("the bytes once more: <x> ns per KiB in <impl>, <p> of the samples of the sender's QEMU")
def _tap(told: Told, _x: str, name: str, _p: str) -> Expected:
    cell, place = _cell(told), ("tap_copy_in", "sender_qemu")
    function, cost = copies.told(cell, place)
    assert name == function, f"it is {function}"
    shares = {one.copied for one in cell}
    spared = "marked none" in told.sentence.text
    assert not spared or shares == {0}, f"copied after all were {shares}"
    return [cost, None, copies.share(cell, place)]


@says("at least <x> ns per KiB in each repetition, since no core copies faster")
def _least(_told: Told, _x: str) -> Expected:
    return [copies.LEAST]


@says("Functions without a name take <x> ns per KiB of the sending application")
def _unnamed(told: Told, _x: str) -> Expected:
    cell = _cell(told)
    assert ("application_copy", "") not in copies.counted(cell), "its own copy was seen"
    return [float(np.median([copies.unnamed(one) for one in cell]))]
