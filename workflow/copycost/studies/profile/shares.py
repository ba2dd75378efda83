"""What the stacks of one side add up to: shares by call path, function, category, box and chain."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from copycost.studies.profile.functions import Categories, Stack, plain_name
from copycost.studies.profile.paths import Chain, DataPath

_Key = TypeVar("_Key")


@dataclass(slots=True)
class Share:
    """Two shares of a side's samples, 0 to 1."""

    inclusive: float = 0.0  # samples in which it is anywhere in the stack
    own: float = 0.0  # samples in which it is what the CPU was doing


@dataclass(frozen=True, slots=True)
class SideShares:
    """The shares of one side in one repetition; what was not seen is not in them."""

    # by call path, which is a tuple of frames
    paths: dict[Stack, Share] = field(default_factory=dict)
    # by frame, wherever it was called from; one that calls itself counts once per sample
    functions: dict[str, Share] = field(default_factory=dict)
    # by category; `own` shares add up to 1
    categories: dict[str, Share] = field(default_factory=dict)
    # by box of the data path; `own` shares add up to 1, `inclusive` ones are the same
    boxes: dict[str, Share] = field(default_factory=dict)
    # by box, the share of each function that put samples there
    box_functions: dict[str, dict[str, float]] = field(default_factory=dict)
    chains: dict[str, Share] = field(default_factory=dict)  # by the published call path; `own` is 0


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of names that shares are made by."""

    categories: Categories
    data_path: DataPath
    chains: tuple[Chain, ...] = ()
    acknowledging: Mapping[str, frozenset[str]] = field(default_factory=dict)


def shares_of(stacks: Mapping[Stack, int], side: str, lists: Lists) -> SideShares:
    """Add up the stacks of one side."""
    found = SideShares()
    total = sum(stacks.values())
    for stack, weight in stacks.items():
        for depth in range(1, len(stack) + 1):
            _add(found.paths, (stack[:depth],), weight)
        found.paths[stack].own += weight
        _add(found.functions, dict.fromkeys(stack), weight)
        found.functions[stack[-1]].own += weight
        category = lists.categories.of_stack(stack)
        _add(found.categories, sorted(lists.categories.within(stack)), weight)
        found.categories[category].own += weight
        box, function = lists.data_path.of_stack(side, stack)
        _add(found.boxes, (box,), weight)
        found.boxes[box].own += weight
        functions = found.box_functions.setdefault(box, {})
        name = plain_name(function)
        functions[name] = functions.get(name, 0.0) + weight
        chains = [";".join(chain.functions) for chain in lists.chains if chain.is_in(stack)]
        _add(found.chains, chains, weight)
    # divided last: a share of all samples is 1, and not a little less
    for table in (found.paths, found.functions, found.categories, found.boxes, found.chains):
        for entry in table.values():
            entry.inclusive /= total
            entry.own /= total
    for functions in found.box_functions.values():
        functions.update({name: weight / total for name, weight in functions.items()})
    return found


def _add(table: dict[_Key, Share], keys: Iterable[_Key], weight: int) -> None:
    for key in keys:
        entry = table.get(key)
        if entry is None:
            entry = table[key] = Share()
        entry.inclusive += weight
