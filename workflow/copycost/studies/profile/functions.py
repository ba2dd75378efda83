"""What functions do, by the lists of data/functions, which hold all the names of a function."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Any, TypeVar

import yaml

from copycost.errors import DataError
from copycost.perf.stacks import EMULATOR_MARK, HYPERVISOR_MARK, INLINED_MARK, KERNEL_MARK, UNKNOWN

UNCATEGORISED = "uncategorised"
"""The category of a function that no list names."""

# what `transparent` says of functions that copy and set memory
_MOVES_MEMORY = "memory of the kernel itself copied or set"

_Made = TypeVar("_Made")
Stack = tuple[str, ...]
"""Names of frames, outermost first, with their marks."""

_MARKS = (KERNEL_MARK, INLINED_MARK, EMULATOR_MARK, HYPERVISOR_MARK)
_LISTS = {KERNEL_MARK: "functions", EMULATOR_MARK: "emulator", HYPERVISOR_MARK: "hypervisor"}
KEYS = (*_LISTS.values(), "user")
"""The keys of the lists that name functions: the kernel's, those of a hypervisor, and others."""


def plain_name(frame: str) -> str:
    """Return the name of a frame's function without its mark."""
    return frame.removesuffix(mark_of(frame))


def mark_of(frame: str) -> str:
    """Return the mark at the end of a frame, '' if there is none."""
    return next((mark for mark in _MARKS if frame.endswith(mark)), "")


def list_of(frame: str) -> str:
    """Return the key of the lists that name a frame's function."""
    return _LISTS.get(mark_of(frame), "user")


class Names:
    """Finds what a name stands for, by names and patterns; what it found is remembered.

    `meanings` are pairs of a name or pattern and what it stands for, which can be one thing only;
    `where` is their file, for messages.
    """

    def __init__(self, meanings: Iterable[tuple[str, str]], where: str) -> None:
        exact: dict[str, str] = {}
        patterns: dict[str, str] = {}
        for name, meaning in meanings:
            table = patterns if "*" in name else exact
            if table.setdefault(name, meaning) != meaning:
                raise DataError(
                    f"{where}: {name} is both {table[name]} and {meaning}; a name can be one thing"
                )
        # the longest pattern says most, so it is tried first
        ordered = sorted(patterns.items(), key=lambda item: (-len(item[0]), item[0]))
        self._patterns = [(re.compile(translate(name)), meaning) for name, meaning in ordered]
        self._found: dict[str, str | None] = {**exact}

    def find(self, name: str) -> str | None:
        """Return what a name stands for, None if no list has it."""
        if name not in self._found:
            self._found[name] = next(
                (meaning for pattern, meaning in self._patterns if pattern.match(name)), None
            )
        return self._found[name]


@dataclass(frozen=True, slots=True)
class Category:
    """One kind of work: its identifier, and words for tables."""

    name: str
    title: str


class Categories:
    """The categories of data/functions/categories.yaml."""

    def __init__(self, tree: Mapping[str, Any], where: str) -> None:
        rows = tree["categories"]
        self.all: tuple[Category, ...] = (
            *(Category(row["name"], row["title"]) for row in rows),
            Category(UNCATEGORISED, "not categorised"),
        )
        self._names = {key: Names(_meanings(rows, key), where) for key in KEYS}
        self._transparent = Names(
            ((name, row["does"]) for row in tree["transparent"] for name in row["names"]), where
        )

    def of_frame(self, frame: str) -> str | None:
        """Return the category of one function; None if it works for its caller."""
        name, key = plain_name(frame), list_of(frame)
        if name == UNKNOWN and key == "functions":
            return UNCATEGORISED
        found = self._names[key].find(name)
        if found is None and key == "functions" and self._transparent.find(name) is not None:
            return None
        return found or UNCATEGORISED

    def moves_memory(self, function: str) -> bool:
        """Tell whether a function of the kernel copies or sets memory for whoever calls it."""
        return self._transparent.find(function) == _MOVES_MEMORY

    def of_stack(self, stack: Stack) -> str:
        """Return what the CPU did in a sample: the category of its innermost function."""
        found = (self.of_frame(frame) for frame in reversed(stack))
        return next((name for name in found if name is not None), UNCATEGORISED)

    def within(self, stack: Stack) -> set[str]:
        """Return all categories that a stack goes through."""
        found = {self.of_frame(frame) for frame in stack}
        return {name for name in found if name is not None} or {UNCATEGORISED}


def _meanings(rows: Sequence[Mapping[str, Any]], key: str) -> list[tuple[str, str]]:
    return [
        (name, row["name"])
        for row in rows
        for function in row.get(key, ())
        for name in function["names"]
    ]


def load_categories(folder: Path) -> Categories:
    """Return the categories that a folder (data/functions) describes."""
    path, form = folder / "categories.yaml", "lists of functions by category"
    return load_lists_of(path, lambda tree: Categories(tree, str(path)), form)


def load_lists_of(path: Path, make: Callable[[Any], _Made], form: str) -> _Made:
    """Return what is made of a file of lists, or raise `DataError`, which says its form."""
    try:
        return make(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, yaml.YAMLError) as error:
        raise DataError(f"{path}: {error!r}; expected {form}") from error
