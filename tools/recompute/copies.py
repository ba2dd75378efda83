"""How often a byte is copied on its way through guests, by the lists of data/functions."""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import yaml

from tools.recompute.functions import DATA, Stack, find, plain
from tools.recompute.profile import Repetition, Sums

# less than this of CPU time per KiB [ns] is no copy of every byte
LEAST = 5.0
_MARKS = {"_[k]": "functions", "_[e]": "emulator", "_[h]": "hypervisor"}

Place = tuple[str, str]
"""A box of the way, and the hypervisor whose it is; empty inside of guests."""

WAY: tuple[Place, ...] = (
    ("application_copy", ""),
    ("copy_in", ""),
    ("hypervisor_copy", "sender_qemu"),
    ("tap_copy_in", "sender_qemu"),
    ("tap_copy_out", "receiver_qemu"),
    ("hypervisor_copy", "receiver_qemu"),
    ("deferred_copy", ""),
    ("copy_out", ""),
)
"""Where bytes may be copied, in the order of the way."""


@cache
def _boxes() -> list[dict[str, Any]]:
    text = (DATA / "functions/data_path.yaml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = yaml.safe_load(text)["boxes"]
    return found


@cache
def _names(place: str, key: str) -> dict[str, str]:
    """Return what names and patterns stand for in the stacks of a side or of a hypervisor."""
    everywhere = () if place == "hypervisor" else (None,)
    return {
        name: box["name"]
        for box in _boxes()
        if box.get("side") in (place, *everywhere)
        for name in box.get(key, ())
    }


@cache
def _box_of(party: str, stack: Stack) -> tuple[str, str]:
    """Return the box of a sample, and the function that it is known by there."""
    outside = party.endswith("qemu")
    place = "hypervisor" if outside else party.partition("_")[0].replace("guest", "sender")
    boxes = [find(plain(frame), _names(place, _MARKS.get(frame[-4:], "user"))) for frame in stack]
    depth = next((at for at in reversed(range(len(stack))) if boxes[at]), None)
    if depth is None:
        return "", ""
    box = boxes[depth] or ""
    copies = any(one["name"] == box and one.get("copy") for one in _boxes())
    if outside and copies:
        others = [at for at in range(depth) if boxes[at] not in (None, box)]
        first = max(others, default=-1) + 1
        depth = next(at for at in range(first, depth + 1) if boxes[at] == box)
    return box, plain(stack[depth])


def cost(one: Repetition, place: Place) -> float:
    """Return the CPU time of copying at a place [ns per KiB received]."""
    return sum(_at(one, place).values())


def _at(one: Repetition, place: Place) -> Sums:
    """Return the CPU time of copying at a place by function [ns per KiB received]."""
    box, hypervisor = place
    parties = [hypervisor] if hypervisor else [p for p in one.stacks if not p.endswith("qemu")]
    found = Sums(float)
    for party in parties:
        stacks = one.stacks.get(party, Counter())
        for stack, weight in stacks.items():
            its_box, function = _box_of(party, stack)
            if its_box == box:
                found[function] += weight / stacks.total() * one.sampled.ns_per_kib(party)
    return found


def told(cell: list[Repetition], place: Place) -> tuple[str, float]:
    """Return the function that most copying at a place is by, and its CPU time [ns per KiB]."""
    functions = Sums(float)
    for one in cell:
        for name, ns in _at(one, place).items():
            functions[name] += ns * one.sampled.received_bytes / one.sampled.window_s
    most = min(functions, key=lambda name: (-functions[name], name))
    return most, float(np.median([cost(one, place) for one in cell]))


def share(cell: list[Repetition], place: Place) -> float:
    """Return which share of a hypervisor's samples a copy has."""
    party = place[1]
    return float(np.median([cost(one, place) / one.sampled.ns_per_kib(party) for one in cell]))


def counted(cell: list[Repetition]) -> list[Place]:
    """Return where every byte is copied, in the order of the way."""
    inside = any("guest" in one.stacks for one in cell)
    way = [place for place in WAY if not (inside and place[1])]
    return [place for place in way if min(cost(one, place) for one in cell) >= LEAST]


def unnamed(one: Repetition) -> float:
    """Return the CPU time of the sender's functions without a name [ns per KiB received]."""
    stacks = one.stacks["sender"]
    weight = sum(weight for stack, weight in stacks.items() if stack[-1] == "[unknown]")
    return weight / stacks.total() * one.sampled.ns_per_kib("sender")
