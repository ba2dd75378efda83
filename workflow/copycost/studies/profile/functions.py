"""What functions do, and where on the way of a message they are, by the lists of data/functions."""

import csv
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import yaml

from copycost.errors import DataError
from copycost.hosts.side import SIDES, is_hypervisor, side_near
from copycost.observers.perf.stacks import EMULATOR_MARK, HYPERVISOR_MARK, INLINED_MARK, KERNEL_MARK

UNCATEGORISED = "uncategorised"
"""The category of a function that no list names."""

ELSEWHERE = "elsewhere"
"""The box of what is on none of the boxes' ways: interrupts of others, say."""

# what `transparent` says of functions that copy and set memory
_MOVES_MEMORY = "memory of the kernel itself copied or set"
_HYPERVISOR = "hypervisor"

_Made = TypeVar("_Made")
Stack = tuple[str, ...]
"""Names of frames, outermost first, with their marks."""

# the keys of the lists that name functions, by whose they are
_LISTS = {
    "": "user",
    KERNEL_MARK: "functions",
    INLINED_MARK: "user",
    EMULATOR_MARK: "emulator",
    HYPERVISOR_MARK: "hypervisor",
}


@cache
def plain_name(frame: str) -> str:
    """Return the name of a frame's function without its mark."""
    return frame.removesuffix(_mark_of(frame))


def _mark_of(frame: str) -> str:
    return next((mark for mark in _LISTS if mark and frame.endswith(mark)), "")


def finder(
    rows: Iterable[tuple[str, Mapping[str, Sequence[str]]]], where: str
) -> Callable[[str], str | None]:
    """Return a function that tells what a frame stands for, None if no list has it.

    `rows` are pairs of what functions stand for, and their names and patterns by the key of their
    list; a name can be one thing only. `where` is their file, for messages.
    """
    known: dict[tuple[str, str], str] = {}
    for meaning, lists in rows:
        for key in _LISTS.values():
            for name in lists.get(key, ()):
                if known.setdefault((key, name), meaning) != meaning:
                    raise DataError(
                        f"{where}: {name} is both {known[key, name]} and {meaning};"
                        " a name can be one thing"
                    )
    # the longest pattern says most, so it is tried first
    ordered = sorted(known, key=lambda listed: (-len(listed[1]), listed))
    patterns = [
        (key, re.compile(translate(name)), known[key, name]) for key, name in ordered if "*" in name
    ]

    @cache
    def find(frame: str) -> str | None:
        listed, name = _LISTS[_mark_of(frame)], plain_name(frame)
        fitting = (
            meaning for key, pattern, meaning in patterns if key == listed and pattern.match(name)
        )
        return known.get((listed, name)) or next(fitting, None)

    return find


class Categories:
    """The categories of data/functions/categories.yaml."""

    def __init__(self, tree: Mapping[str, Any], where: str) -> None:
        rows = tree["categories"]
        # words for tables
        self.titles: dict[str, str] = {row["name"]: row["title"] for row in rows}
        self.titles[UNCATEGORISED] = "not categorised"
        self.colours: dict[str, str] = {row["name"]: row["colour"] for row in rows}
        self.colours[UNCATEGORISED] = "#f7f7f7"
        listed = [
            (row["name"], {key: function["names"]})
            for row in rows
            for key in _LISTS.values()
            for function in row.get(key, ())
        ]
        self._find = finder(listed, where)
        helpers = [(row["does"], {"functions": row["names"]}) for row in tree["transparent"]]
        self._helps = finder(helpers, where)

    def of_frame(self, frame: str) -> str | None:
        """Return the category of one function; None if it works for its caller."""
        found = self._find(frame)
        return None if found is None and self._helps(frame) else found or UNCATEGORISED

    def moves_memory(self, function: str) -> bool:
        """Tell whether a function of the kernel copies or sets memory for whoever calls it."""
        return self._helps(function + KERNEL_MARK) == _MOVES_MEMORY

    def working_frame(self, stack: Stack) -> str:
        """Return the innermost frame that does not just work for its caller."""
        frames = (frame for frame in reversed(stack) if self.of_frame(frame) is not None)
        return next(frames, stack[-1])

    def of_stack(self, stack: Stack) -> str:
        """Return what the CPU did in a sample: the category of its working frame."""
        return self.of_frame(self.working_frame(stack)) or UNCATEGORISED

    def within(self, stack: Stack) -> set[str]:
        """Return all categories that a stack goes through."""
        found = {self.of_frame(frame) for frame in stack}
        return {name for name in found if name is not None} or {UNCATEGORISED}


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the way of a message."""

    name: str
    title: str | dict[str, str]  # words for it, by transport (`stream`, `datagram`) if they differ
    # `down` from the sender, on the `link`, or `up` to the receiver; around guests, on the `host`
    # on neither way, `host_down` from the sender's or `host_up` to the receiver's
    lane: str
    copies: bool  # whether the bytes of messages are copied there


class DataPath:
    """The boxes of data/functions/data_path.yaml."""

    def __init__(self, tree: Mapping[str, Any], where: str) -> None:
        rows = tree["boxes"]
        self.boxes = [
            Box(row["name"], row["title"], row["lane"], row.get("copy", False)) for row in rows
        ]
        self._find = {
            place: finder(
                [(row["name"], row) for row in rows if row.get("side", usual) == place], where
            )
            # a hypervisor's boxes are those that are its alone
            for place, usual in (*zip(SIDES, SIDES, strict=True), (_HYPERVISOR, None))
        }

    def of_stack(self, party: str, stack: Stack) -> tuple[str, str]:
        """Return the box of a party's sample, and the function that puts it there."""
        find = self._find[_HYPERVISOR if is_hypervisor(party) else side_near(party)]
        boxes = ((find(frame), plain_name(frame)) for frame in reversed(stack))
        # a function that no box names is in its caller's
        known = [(box, function) for box, function in boxes if box is not None]
        if not known:
            return ELSEWHERE, plain_name(stack[-1])
        found, function = known[0]
        if is_hypervisor(party) and any(box.copies for box in self.boxes if box.name == found):
            # a host's copy is known by who asks for it: where the box begins
            *_, (_, function) = itertools.takewhile(lambda place: place[0] == found, known)
        return found, function


class PublishedChains:
    """Published call chains, and what their functions are called elsewhere.

    `rows` are those of data/published/function-shares.csv, the tree is data/functions/chains.yaml.
    """

    def __init__(
        self, rows: Sequence[Mapping[str, str]], tree: Mapping[str, Any], where: str
    ) -> None:
        self.rows = rows
        # what was profiled, as the beginning of a sentence
        self.source: str = tree["source"]
        # by published scenario, the testbeds of ours that are the same path
        self.scenarios: dict[str, list[str]] = tree["scenarios"]
        # by published side, whose function shares these are, where it is called otherwise
        self.parties: dict[str, str] = tree["sides"]
        # by side, the functions in whose presence it works on acknowledgements
        self.acknowledging: dict[str, list[str]] = tree["acknowledging"]
        # by published function
        self.names = {name: frozenset(row["names"]) for name, row in tree["functions"].items()}
        functions = {row["call_path"]: row["call_path"].split(";") for row in rows}
        unknown = {name for path in functions.values() for name in path} - self.names.keys()
        if unknown:
            raise DataError(
                f"{where}: no names for {', '.join(sorted(unknown))}, which"
                " data/published/function-shares.csv has; add them under `functions`"
            )
        self._chains = {path: [self.names[name] for name in its] for path, its in functions.items()}

    def is_in(self, call_path: str, stack: Stack) -> bool:
        """Tell whether a stack goes through all functions of a call path, in their order."""
        frames = map(plain_name, stack)
        # each function is looked for behind the one before: what was looked at is used up
        return all(any(frame in names for frame in frames) for names in self._chains[call_path])

    def within(self, stack: Stack) -> list[str]:
        """Return all call paths that a stack goes through."""
        return [path for path in self._chains if self.is_in(path, stack)]


@dataclass(frozen=True, slots=True)
class Lists:
    """All lists of names that shares are made by."""

    categories: Categories
    data_path: DataPath
    published: PublishedChains


def load_lists(data: Path) -> Lists:
    """Return all lists of names: of data/functions, and the chains of data/published."""
    folder = data / "functions"
    with (data / "published" / "function-shares.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return Lists(
        load_categories(folder),
        _load(folder / "data_path.yaml", DataPath),
        _load(folder / "chains.yaml", partial(PublishedChains, rows)),
    )


def load_categories(folder: Path) -> Categories:
    """Return the categories that a folder (data/functions) describes."""
    return _load(folder / "categories.yaml", Categories)


def _load(path: Path, make: Callable[[Any, str], _Made]) -> _Made:
    try:
        return make(yaml.safe_load(path.read_text(encoding="utf-8")), str(path))
    except (KeyError, TypeError, yaml.YAMLError) as error:
        raise DataError(f"{path}: {error!r}; expected the form that its head says") from error
