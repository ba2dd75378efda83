"""The way of a message, and published call chains, found in stacks: by lists of names as data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from copycost.errors import DataError
from copycost.hosts.side import SIDES, is_hypervisor, side_near
from copycost.studies.profile.functions import (
    KEYS,
    Names,
    Stack,
    list_of,
    load_lists_of,
    plain_name,
)

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
        key = list_of(frame)
        outside = is_hypervisor(party) or key not in _EVERYWHERE
        place = _HYPERVISOR if outside else side_near(party)
        return self._names[place, key].find(plain_name(frame))

    def of_stack(self, party: str, stack: Stack) -> tuple[str, str]:
        """Return the box of a sample, and the function that puts it there."""
        for depth in range(len(stack) - 1, -1, -1):
            found = self.box_of(party, stack[depth])
            if found is not None:
                outermost = is_hypervisor(party) and found in self._copies
                return found, stack[self._begin(party, stack, depth) if outermost else depth]
        return ELSEWHERE, stack[-1]

    def _begin(self, party: str, stack: Stack, depth: int) -> int:
        """Return where the box of a frame begins: a host's copy is known by who asks for it."""
        box, begin = self.box_of(party, stack[depth]), depth
        for outer in range(depth, -1, -1):
            found = self.box_of(party, stack[outer])
            if found == box:
                begin = outer
            elif found is not None:
                break
        return begin


@dataclass(frozen=True, slots=True)
class Chain:
    """A published call chain."""

    functions: tuple[str, ...]  # as published, outermost first
    names: tuple[frozenset[str], ...]  # for each of them, the names under which it may appear

    def is_in(self, stack: Stack) -> bool:
        """Tell whether a stack goes through all functions of the chain, in their order."""
        position = 0
        for frame in stack:
            if plain_name(frame) in self.names[position]:
                position += 1
                if position == len(self.names):
                    return True
        return False


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
        functions = tuple(call_path.split(";"))
        unknown = [name for name in functions if name not in self.names]
        if unknown:
            raise DataError(
                f"data/functions/chains.yaml: no names for {', '.join(unknown)}, which"
                " data/published/function-shares.csv has; add them under `functions`"
            )
        return Chain(functions, tuple(self.names[name] for name in functions))


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
