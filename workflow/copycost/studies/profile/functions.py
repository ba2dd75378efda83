"""What functions do, and where on the way of a message they are, by the lists of data/functions."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from copycost.errors import DataError
from copycost.hosts.side import SIDES, is_hypervisor, side_near
from copycost.perf.stacks import EMULATOR_MARK, HYPERVISOR_MARK, INLINED_MARK, KERNEL_MARK, UNKNOWN

UNCATEGORISED = "uncategorised"
"""The category of a function that no list names."""

# what `transparent` says of functions that copy and set memory
_MOVES_MEMORY = "memory of the kernel itself copied or set"

_Made = TypeVar("_Made")
Stack = tuple[str, ...]
"""Names of frames, outermost first, with their marks."""

_LISTS = {
    KERNEL_MARK: "functions",
    INLINED_MARK: "user",
    EMULATOR_MARK: "emulator",
    HYPERVISOR_MARK: "hypervisor",
}
KEYS = tuple(_LISTS.values())
"""The keys of the lists that name functions, by whose they are."""


def split_frame(frame: str) -> tuple[str, str]:
    """Return the name of a frame's function without its mark, and the key of its lists."""
    mark = next((mark for mark in _LISTS if frame.endswith(mark)), "")
    return frame.removesuffix(mark), _LISTS.get(mark, "user")


def plain_name(frame: str) -> str:
    """Return the name of a frame's function without its mark."""
    return split_frame(frame)[0]


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


class Categories:
    """The categories of data/functions/categories.yaml."""

    def __init__(self, tree: Mapping[str, Any], where: str) -> None:
        rows = tree["categories"]
        # words for tables
        self.titles = {str(row["name"]): str(row["title"]) for row in rows}
        self.titles[UNCATEGORISED] = "not categorised"
        self._names = {
            key: Names(
                (
                    (name, row["name"])
                    for row in rows
                    for function in row.get(key, ())
                    for name in function["names"]
                ),
                where,
            )
            for key in KEYS
        }
        self._transparent = Names(
            ((name, row["does"]) for row in tree["transparent"] for name in row["names"]), where
        )

    def of_frame(self, frame: str) -> str | None:
        """Return the category of one function; None if it works for its caller."""
        name, key = split_frame(frame)
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


Lane = Literal["down", "link", "up", "host", "host_down", "host_up"]

ELSEWHERE = "elsewhere"
"""The box of what is on none of the boxes' ways: interrupts of others, say."""

_HYPERVISOR = "hypervisor"
# what names functions of any party; the rest names those of hypervisors alone
_EVERYWHERE = ("functions", "user")
_FORM = "the form that its head describes"


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the way of a message."""

    name: str  # identifier
    titles: dict[str, str]  # words for it, by transport (`stream`, `datagram`)
    # where it lies: down from the sender, on the link, or up to the receiver; around guests, on the
    # host on neither way, down from the sender's or up to the receiver's
    lane: Lane
    copies: bool  # whether the bytes of messages are copied there


class DataPath:
    """The boxes of data/functions/data_path.yaml."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], where: str) -> None:
        self.boxes = tuple(_box(row) for row in rows)
        self._copies = frozenset(box.name for box in self.boxes if box.copies)
        self._names = {
            (place, key): Names(_names(rows, key, place), where)
            for place in (*SIDES, _HYPERVISOR)
            for key in KEYS
            if place == _HYPERVISOR or key in _EVERYWHERE
        }

    def box_of(self, party: str, frame: str) -> str | None:
        """Return the box that a function begins, or belongs to; None if it is in its caller's."""
        name, key = split_frame(frame)
        outside = is_hypervisor(party) or key not in _EVERYWHERE
        return self._names[_HYPERVISOR if outside else side_near(party), key].find(name)

    def of_stack(self, party: str, stack: Stack) -> tuple[str, str]:
        """Return the box of a sample, and the function that puts it there."""
        boxes = ((self.box_of(party, frame), frame) for frame in reversed(stack))
        known = [(box, frame) for box, frame in boxes if box is not None]
        if not known:
            return ELSEWHERE, stack[-1]
        found, function = known[0]
        if is_hypervisor(party) and found in self._copies:
            # a host's copy is known by who asks for it: where the box begins
            *_, (_, function) = itertools.takewhile(lambda place: place[0] == found, known)
        return found, function


Chain = tuple[frozenset[str], ...]
"""A published call chain: for each of its functions, the names under which it may appear."""


def goes_through(stack: Stack, chain: Chain) -> bool:
    """Tell whether a stack goes through all functions of a chain, in their order."""
    frames = map(plain_name, stack)
    # each function is looked for behind the one before: what was looked at is used up
    return all(any(frame in names for frame in frames) for names in chain)


@dataclass(frozen=True, slots=True)
class ChainNames:
    """What published functions are called elsewhere (data/functions/chains.yaml)."""

    names: dict[str, frozenset[str]]  # by published function
    source: str  # what was profiled, as the beginning of a sentence
    # by published scenario, the testbeds of ours to compare it with, and which are one path
    scenarios: dict[str, dict[str, list[str]]]
    # by published side, whose function shares these are, where it is called otherwise
    parties: dict[str, str]
    # by side, the functions in whose presence it works on acknowledgements
    acknowledging: dict[str, frozenset[str]]

    def chain(self, call_path: str) -> Chain:
        """Return the chain of a published call path (``tcp_sendmsg;tcp_sendmsg_locked``)."""
        functions = call_path.split(";")
        unknown = [name for name in functions if name not in self.names]
        if unknown:
            raise DataError(
                f"data/functions/chains.yaml: no names for {', '.join(unknown)}, which"
                " data/published/function-shares.csv has; add them under `functions`"
            )
        return tuple(self.names[name] for name in functions)


def load_data_path(folder: Path) -> DataPath:
    """Return the boxes that a folder (data/functions) describes."""
    path = folder / "data_path.yaml"
    return load_lists_of(path, lambda tree: DataPath(tree["boxes"], str(path)), _FORM)


def load_chain_names(folder: Path) -> ChainNames:
    """Return the names of published functions that a folder (data/functions) describes."""

    def made_of(tree: Mapping[str, Any]) -> ChainNames:
        return ChainNames(
            {name: frozenset(row["names"]) for name, row in tree["functions"].items()},
            tree["source"],
            tree["scenarios"],
            tree["sides"],
            {side: frozenset(found) for side, found in tree["acknowledging"].items()},
        )

    return load_lists_of(folder / "chains.yaml", made_of, _FORM)


def _box(row: Mapping[str, Any]) -> Box:
    title = row["title"]
    titles = title if isinstance(title, dict) else {"stream": title, "datagram": title}
    return Box(row["name"], titles, row["lane"], bool(row.get("copy", False)))


def _names(rows: Iterable[Mapping[str, Any]], key: str, place: str) -> list[tuple[str, str]]:
    """Return names and their boxes; a hypervisor's boxes are those that are its alone."""
    everywhere = None if place == _HYPERVISOR else place
    return [
        (name, row["name"])
        for row in rows
        if row.get("side", everywhere) == place
        for name in row.get(key, ())
    ]
