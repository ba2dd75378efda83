"""The way of a message, and published call chains, found in stacks: by lists of names as data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from copycost.errors import DataError
from copycost.studies.profile.functions import Names, Stack, in_kernel, plain_name

Lane = Literal["down", "link", "up"]

ELSEWHERE = "elsewhere"
"""The box of what is on none of the boxes' ways: interrupts of others, say."""


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the way of a message.

    Attributes
    ----------
    name : str
        Identifier.
    titles : dict
        Words for it, by transport (`stream`, `datagram`).
    lane : str
        Where it lies: down from the sender, on the link, or up to the receiver.
    copies : bool
        Whether the bytes of messages are copied there.
    """

    name: str
    titles: dict[str, str]
    lane: Lane
    copies: bool


class DataPath:
    """The boxes of data/functions/data_path.yaml."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], where: str) -> None:
        self.boxes = tuple(_box(row) for row in rows)
        sides = ("sender", "receiver")
        self._kernel = {side: Names(_names(rows, "functions", side), where) for side in sides}
        self._user = {side: Names(_names(rows, "user", side), where) for side in sides}

    def box_of(self, side: str, frame: str) -> str | None:
        """Return the box that a function begins, or belongs to; None if it is in its caller's."""
        names = self._kernel if in_kernel(frame) else self._user
        return names[side].find(plain_name(frame))

    def of_stack(self, side: str, stack: Stack) -> tuple[str, str]:
        """Return the box of a sample, and the function that puts it there."""
        for frame in reversed(stack):
            found = self.box_of(side, frame)
            if found is not None:
                return found, frame
        return ELSEWHERE, stack[-1]


@dataclass(frozen=True, slots=True)
class Chain:
    """A published call chain.

    Attributes
    ----------
    functions : tuple of str
        As published, outermost first.
    names : tuple of frozenset of str
        For each of them, the names under which it may appear.
    """

    functions: tuple[str, ...]
    names: tuple[frozenset[str], ...]

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
    """What published functions are called elsewhere (data/functions/chains.yaml).

    Attributes
    ----------
    names, notes : dict
        Names, and a note or None, by published function.
    source : str
        What was profiled, as the beginning of a sentence.
    scenarios : dict
        By published scenario, the testbeds of ours to compare it with, and which are one path.
    acknowledging : dict
        By side, the functions in whose presence it works on acknowledgements.
    """

    names: dict[str, frozenset[str]]
    notes: dict[str, str | None]
    source: str
    scenarios: dict[str, dict[str, list[str]]]
    acknowledging: dict[str, frozenset[str]]

    def chain(self, call_path: str) -> Chain:
        """Return the chain of a published call path (``tcp_sendmsg;tcp_sendmsg_locked``).

        Raises
        ------
        DataError
            If a function of it is not in the lists.
        """
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
    with _Explained(path):
        return DataPath(_tree(path)["boxes"], str(path))


def load_chain_names(folder: Path) -> ChainNames:
    """Return the names of published functions that a folder (data/functions) describes."""
    path = folder / "chains.yaml"
    with _Explained(path):
        tree = _tree(path)
        functions = tree["functions"]
        return ChainNames(
            {name: frozenset(row["names"]) for name, row in functions.items()},
            {name: row.get("note") for name, row in functions.items()},
            tree["source"],
            tree["scenarios"],
            {side: frozenset(found) for side, found in tree["acknowledging"].items()},
        )


def _tree(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    return yaml.safe_load(path.read_text(encoding="utf-8"))


class _Explained:
    """Turn errors of form into one sentence about the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        """Explain what went wrong."""
        if isinstance(error, KeyError | TypeError | yaml.YAMLError):
            raise DataError(
                f"{self._path}: {error!r}; expected the form that its head describes"
            ) from error


def _box(row: Mapping[str, Any]) -> Box:
    title = row["title"]
    titles = title if isinstance(title, dict) else {"stream": title, "datagram": title}
    return Box(row["name"], titles, row["lane"], bool(row.get("copy", False)))


def _names(rows: Iterable[Mapping[str, Any]], key: str, side: str) -> list[tuple[str, str]]:
    return [
        (name, row["name"])
        for row in rows
        if row.get("side", side) == side
        for name in row.get(key, ())
    ]
