"""What rules on the configuration look at, and what they yield."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycost.config.testbeds import Transport

# The names, and indices in lists, on the way to a value.
KeyPath = tuple[str | int, ...]
Problem = tuple[KeyPath, str]

DEFAULTS = Path("workflow/config/defaults.yaml")
COMMAND_LINE = "--config"

GRIDS = ("streams", "udp", "round_trips")
TRANSPORTS: dict[str, Transport] = {
    "streams": "stream",
    "udp": "datagram",
    "round_trips": "stream",
}
DRIVEN: dict[str, Transport] = {"cpu_budget": "stream", "datagrams": "datagram"}
"""The studies whose senders may be iperf3, by what these send over."""


@dataclass(frozen=True, slots=True)
class Source:
    """Part of the configuration: its name, what it states, and its file if it is one."""

    name: str
    content: Mapping[str, Any]
    file: Path | None = None

    def states(self, path: KeyPath) -> bool:
        """Tell whether a value is stated here; lists are never merged, so their items are not."""
        node: Any = self.content
        for part in path:
            if not isinstance(part, str):
                break
            if not isinstance(node, Mapping) or part not in node:
                return False
            node = node[part]
        return True


class Sound:
    """The configuration as far as the schema has nothing against it."""

    def __init__(self, tree: Mapping[str, Any], bad: Collection[KeyPath]) -> None:
        self._tree = tree
        self._bad = bad

    def get(self, *path: str | int) -> Any:  # noqa: ANN401 - whatever the schema allows there
        """Return the value, or None where it, or what holds it, is missing or wrong.

        A list comes without the items that are wrong.
        """
        if any(path[: len(wrong)] == wrong for wrong in self._bad):
            return None
        value = value_at(self._tree, path)
        if isinstance(value, list):
            unsound = {wrong[len(path)] for wrong in self._bad if wrong[: len(path)] == path}
            return [item for index, item in enumerate(value) if index not in unsound]
        return value

    def list(self, *path: str) -> Sequence[Any]:
        """Return the sound items of a list, none where there is no list."""
        value = self.get(*path)
        return value if isinstance(value, list) else []


def value_at(tree: Any, path: KeyPath) -> Any:  # noqa: ANN401 - any node of a YAML file
    """Return the value at `path`, None where there is none."""
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the configuration has to fit.

    These are the ways to send that there are, the CPUs that this process may run on, and the host's
    memory [bytes], None where it is not known.
    """

    strategies: Collection[str]
    usable_cpus: Collection[int]
    memory_bytes: int | None = None
