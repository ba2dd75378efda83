"""Simulated counts, read from their raw records: misses per line of payload."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

LEVELS = {"L1 data": "l1d", "L2": "l2", "last-level": "llc"}
"""By the word that tells a level."""

_BASELINE = "two_copy"
# fewer misses per line than this are told as no difference
_LEAST = 0.05


class Key(NamedTuple):
    """One cell with nothing changed."""

    testbed: str
    working_set: str
    implementation: str
    msg_bytes: int


Misses = Mapping[tuple[str, bool, str], float]
"""By level, whether the kernel's, and function (all of the application are one)."""


class Simulated:
    """The simulated cells of a results folder."""

    def __init__(self, results: Path) -> None:
        self.cells: dict[Key, Misses] = {}
        self.loads: dict[Key, Misses] = {}
        self.caches: Mapping[str, Any] = {}
        for path in sorted((results / "raw/simulated").rglob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            cell = record["cell"]
            if record["status"] == "measured" and cell["variant"] == "plain":
                key = Key(*(cell[name] for name in Key._fields))
                self.cells[key] = _misses(record, "load_misses", "store_misses")
                self.loads[key] = _misses(record, "load_misses")
                self.caches = record["counted"]["caches"]

    def sizes(self, testbed: str, working_set: str, implementation: str) -> list[int]:
        """Return the sizes at which it and `two_copy` were counted."""
        found = (
            {key.msg_bytes for key in self.cells if key[:3] == (testbed, working_set, name)}
            for name in (implementation, _BASELINE)
        )
        return sorted(set.intersection(*found))

    def total(self, key: Key, level: str) -> float:
        """Return a level's misses per line."""
        return sum(value for at, value in self.cells[key].items() if at[0] == level)

    def saved(self, key: Key, level: str) -> float:
        """Return by how much fewer these are than with `two_copy`."""
        return self.total(key._replace(implementation=_BASELINE), level) - self.total(key, level)

    def saved_in(
        self,
        key: Key,
        level: str,
        kernel: bool,
        function: str | None = None,
        *,
        loads: bool = False,
    ) -> float:
        """Return what is saved in one mode, or in one function of it; of loads alone or all."""
        counts = self.loads if loads else self.cells
        before, after = (
            sum(
                value
                for (at, in_kernel, name), value in counts[one].items()
                if at == level and in_kernel == kernel and function in (None, name)
            )
            for one in (key._replace(implementation=_BASELINE), key)
        )
        return before - after

    def before(self, key: Key, level: str) -> float:
        """Return a level's misses per line with `two_copy` in the same place."""
        return self.total(key._replace(implementation=_BASELINE), level)

    def changed(self, keys: list[Key], level: str, sign: int) -> tuple[tuple[int, ...], float]:
        """Return the sizes at which misses are fewer (1) or more (-1), and by how much at most."""
        found = {key.msg_bytes: sign * self.saved(key, level) for key in keys}
        return tuple(size for size, by in found.items() if by >= _LEAST), max(found.values())


def _misses(record: Mapping[str, Any], *kinds: str) -> Misses:
    counted = record["counted"]
    n_bytes = record["settings"]["messages"] * record["cell"]["msg_bytes"]
    lines = n_bytes / counted["caches"]["line_bytes"]
    found: dict[tuple[str, bool, str], float] = defaultdict(float)
    for side in ("sender", "receiver"):
        for row in counted["functions"][side]:
            for level in LEVELS.values():
                missed = sum(row[kind][level] for kind in kinds)
                found[level, row["kernel"], row["name"]] += missed / lines
    return found
