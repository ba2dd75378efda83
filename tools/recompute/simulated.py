"""Simulated counts, read from their raw records: misses per line of payload."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tools.recompute.functions import kind_of_function

LEVELS = {"L1 data": "l1d", "L2": "l2", "last-level": "llc"}
"""By the word that tells a level."""
LEAST = 0.05
"""Fewer misses per line than this are told as no difference."""
BASELINE = "two_copy"
PLAIN = "plain"

# what such functions do, in the words of data/functions
_COPY = "copy in the kernel"
_ENTRY = "do_syscall_64"
_TYPICAL = 64 << 10
# of a line: what is missed as often as that is not found
_HALF = 0.5


class Key(NamedTuple):
    """One cell."""

    testbed: str
    working_set: str
    implementation: str
    msg_bytes: int
    variant: str = PLAIN

    @property
    def baseline(self) -> "Key":
        """The same with the copy that others save."""
        return self._replace(implementation=BASELINE)


class Change(NamedTuple):
    """The largest change against `two_copy`: where, at which level, by how much fewer."""

    key: Key
    level: str
    saved: float


class Copy(NamedTuple):
    """What a level misses of a copy, and why.

    `saved` is by how much fewer its misses are than with `two_copy`. `source` and `target` tell
    whether they are missed, `memory` whether the source is since it comes from there, and `large`
    whether they exceed the level together; `other` whether anything but `memory` is to be told as
    a reason.
    """

    saved: float
    source: bool
    target: bool
    memory: bool
    other: bool
    large: bool


Misses = Mapping[tuple[str, bool, str], float]
"""By level, whether the kernel's, and function (all of the application are one)."""


class Simulated:
    """The simulated cells of a results folder."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.cells: dict[Key, Misses] = {}
        self.loads: dict[Key, Misses] = {}
        self.calls: dict[Key, float] = {}
        self.zero_copy: dict[Key, Mapping[str, Any] | None] = {}
        self.instructions: dict[Key, Mapping[bool, float]] = {}
        self.lost: list[Mapping[str, Any]] = []
        self.caches: Mapping[str, Any] = {}
        self.guest: Mapping[str, Any] = {}
        for path in sorted((results / "raw/simulated").rglob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["status"] != "measured":
                self.lost.append(record)
                continue
            key = Key(*(record["cell"][name] for name in Key._fields))
            self.cells[key] = _misses(record, "load_misses", "store_misses")
            self.loads[key] = _misses(record, "load_misses")
            self.instructions[key] = _instructions(record)
            entered = (
                row["calls"]
                for row in record["counted"]["functions"]["sender"]
                if row["name"] == _ENTRY
            )
            self.calls[key] = sum(entered) / record["settings"]["messages"]
            self.zero_copy[key] = record["sender"]["zero_copy"]
            if key.variant == PLAIN:
                self.guest = record["guest"]
                self.caches = record["counted"]["caches"]

    @cached_property
    def walks(self) -> list[Mapping[str, Any]]:
        """The walks with what was counted in each."""
        text = (self.results / "simulated/walks.json").read_text(encoding="utf-8")
        found: list[Mapping[str, Any]] = json.loads(text)["walks"]
        return found

    def sizes(self, testbed: str, working_set: str, implementation: str) -> list[int]:
        """Return the sizes at which it and `two_copy` were counted."""
        found = (
            {
                key.msg_bytes
                for key in self.cells
                if key[:3] == (testbed, working_set, name) and key.variant == PLAIN
            }
            for name in (implementation, BASELINE)
        )
        return sorted(set.intersection(*found))

    def total(self, key: Key, level: str) -> float:
        """Return a level's misses per line."""
        return sum(value for at, value in self.cells[key].items() if at[0] == level)

    def saved(self, key: Key, level: str) -> float:
        """Return by how much fewer these are than with `two_copy`."""
        return self.total(key.baseline, level) - self.total(key, level)

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
            for one in (key.baseline, key)
        )
        return before - after

    def before(self, key: Key, level: str) -> float:
        """Return a level's misses per line with `two_copy` in the same place."""
        return self.total(key.baseline, level)

    def functions(self, key: Key) -> set[tuple[bool, str]]:
        """Return whatever ran in a cell or with `two_copy`: whether the kernel's, and the name."""
        return {at[1:] for one in (key, key.baseline) for at in self.cells[one]}

    def changes(self, key: Key, kernel: bool, function: str) -> float:
        """Return the largest change of a function's misses, of all levels."""
        return max(abs(self.saved_in(key, level, kernel, function)) for level in LEVELS.values())

    def keys(self, testbed: str, working_set: str, implementation: str) -> list[Key]:
        """Return the cells that are compared with `two_copy`, by size."""
        sizes = self.sizes(testbed, working_set, implementation)
        return [Key(testbed, working_set, implementation, size) for size in sizes]

    def kinds(self, key: Key) -> dict[str, str]:
        """Return by level whether its misses are ``fewer`` than with `two_copy`, ``more``, or not.

        Not is ``same``.
        """
        saved = {level: self.saved(key, level) for level in LEVELS.values()}
        return {
            level: "fewer" if by >= LEAST else "more" if by <= -LEAST else "same"
            for level, by in saved.items()
        }

    def falling(self, key: Key, sign: int = 1) -> str | None:
        """Return the first level whose misses fall (-1: rise) as much as any; None without one."""
        by = {level: sign * self.saved(key, level) for level in LEVELS.values()}
        falls = {level: value for level, value in by.items() if value >= LEAST}
        if not falls:
            return None
        return next(level for level in falls if falls[level] > max(falls.values()) - LEAST)

    def most(self, keys: Iterable[Key]) -> Change | None:
        """Return the largest fall, at the size next to 64 KiB that has it.

        The largest rise where nothing falls, None where nothing changes.
        """
        here = list(keys)
        for sign in (1, -1):
            by = {
                key: max(sign * self.saved(key, level) for level in LEVELS.values())
                for key in here
                if self.falling(key, sign)
            }
            if by:
                large = [key for key in by if by[key] > max(by.values()) - LEAST]
                key = min(large, key=lambda one: (abs(one.msg_bytes - _TYPICAL), one.msg_bytes))
                level = self.falling(key, sign)
                assert level is not None
                return Change(key, level, self.saved(key, level))
        return None

    def copy(self, key: Key, level: str, kernel: bool = False) -> Copy:
        """Return what a level misses of copies that an implementation saves: whose, `kernel` says.

        The kernel's copy is what moves the bytes of messages; it reads what was just written.
        """
        names = {
            name
            for in_kernel, name in self.functions(key)
            if in_kernel == kernel and (not kernel or kind_of_function(f"{name}_[k]") == _COPY)
        }
        saved, loads = (
            sum(self.saved_in(key, level, kernel, name, loads=alone) for name in names)
            for alone in (False, True)
        )
        source, target = loads >= _HALF, saved - loads >= _HALF
        memory = source and key.working_set == "cold" and not kernel
        large = 2 * key.msg_bytes > self.caches[level]["size_bytes"]
        return Copy(saved, source, target, memory, target or (source and not memory), large)

    def told_kernel(self, parameter: str) -> int:
        """Return the number that the guest's kernel was told of a parameter last."""
        words = [word.partition("=") for word in self.guest["kernel_arguments"]]
        return int([value for name, _, value in words if name == parameter][-1])

    def copied(self, testbed: str, implementation: str) -> float | None:
        """Return which share of the completed zero-copy sends was copied; None: nobody knows."""
        found = [
            sends
            for key, sends in self.zero_copy.items()
            if sends
            and (key.testbed, key.implementation, key.variant) == (testbed, implementation, PLAIN)
        ]
        n = sum(sends["completed"] for sends in found)
        if not n or any(sends["copied"] is None for sends in found):
            return None
        return float(sum(sends["copied"] for sends in found) / n)

    def at_cold(self, testbed: str) -> int:
        """Return at which size hot and cold are compared: counted with all, and next to 64 KiB."""
        by_cell: dict[tuple[str, str], set[int]] = defaultdict(set)
        for key in self.cells:
            if key.testbed == testbed and key.variant == PLAIN:
                by_cell[key.working_set, key.implementation].add(key.msg_bytes)
        sizes = set.intersection(*by_cell.values())
        return min(sizes, key=lambda size: (abs(size - _TYPICAL), size))

    def more_when_cold(self, testbed: str, implementation: str, kernel: bool) -> float:
        """Return how many misses per line more the last level has with a cold message."""
        hot = Key(testbed, "hot", implementation, self.at_cold(testbed))
        first, last = (
            sum(by for at, by in self.cells[key].items() if at[:2] == ("llc", kernel))
            for key in (hot, hot._replace(working_set="cold"))
        )
        return last - first

    def payer(self, testbed: str, implementation: str) -> str:
        """Return who misses a cold message in the last level, in the words of a text."""
        paying = [
            name
            for name, kernel in (("the application", False), ("the kernel", True))
            if self.more_when_cold(testbed, implementation, kernel) >= LEAST
        ]
        return "both" if len(paying) > 1 else paying[0] if paying else "nobody"

    @cached_property
    def tried(self) -> dict[Key, list[Key]]:
        """By cell that is compared, the same with something changed, where that was counted."""
        found: dict[Key, list[Key]] = defaultdict(list)
        for key in self.cells:
            plain = key._replace(variant=PLAIN)
            both = {plain, plain.baseline, key.baseline}
            if key != plain and key.implementation != BASELINE and both <= self.cells.keys():
                found[plain].append(key)
        return dict(found)

    def turns(self, key: Key) -> bool:
        """Tell whether another level falls most than with nothing changed."""
        return self.falling(key) != self.falling(key._replace(variant=PLAIN))

    def fails(self, key: Key) -> bool:
        """Tell whether anything of a conclusion is another than with nothing changed."""
        plain = key._replace(variant=PLAIN)
        return self.turns(key) or self.kinds(key) != self.kinds(plain)


def _instructions(record: Mapping[str, Any]) -> Mapping[bool, float]:
    """Return instructions per message by whether they are the kernel's."""
    found: dict[bool, float] = {False: 0.0, True: 0.0}
    for side in ("sender", "receiver"):
        n_bytes = (record[side] or record["sender"])["bytes"]
        for row in record["counted"]["functions"][side]:
            found[row["kernel"]] += row["instructions"] / (n_bytes / record["cell"]["msg_bytes"])
    return found


def _misses(record: Mapping[str, Any], *kinds: str) -> Misses:
    counted = record["counted"]
    found: dict[tuple[str, bool, str], float] = defaultdict(float)
    for side in ("sender", "receiver"):
        # a receiver reads more or less than is sent in the window; where there is none, none counts
        n_bytes = (record[side] or record["sender"])["bytes"]
        lines = n_bytes / counted["caches"]["line_bytes"]
        for row in counted["functions"][side]:
            for level in LEVELS.values():
                missed = sum(row[kind][level] for kind in kinds)
                found[level, row["kernel"], row["name"]] += missed / lines
    return found
