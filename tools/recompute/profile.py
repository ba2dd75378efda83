"""What the folded stacks of a profile come to: shares and costs by path, function, kind of work.

What functions do is told by the lists of data/functions.
"""

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from tools.recompute import estimates
from tools.recompute.raw import Settings, condition_of, settings_of

DATA = Path(__file__).parents[2] / "data"
UNNAMED = "uncategorised"

Stack = tuple[str, ...]
"""Frames from the outermost in; those of the kernel end with ``_[k]``, those of a hypervisor in
user mode with ``_[e]`` where it emulates and ``_[h]`` elsewhere."""


@cache
def _lists() -> dict[str, Any]:
    text = (DATA / "functions/categories.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@cache
def _names(where: str) -> dict[str, str]:
    """Return which kind of work names and patterns are, those of programs or of the kernel."""
    return {
        name: kind["name"]
        for kind in _lists()["categories"]
        for row in kind.get(where, ())
        for name in row["names"]
    }


def find(name: str, meanings: dict[str, str]) -> str | None:
    """Return what a name stands for: one written out goes first, then the longest pattern."""
    if name in meanings:
        return meanings[name]
    fitting = [one for one in meanings if "*" in one and fnmatchcase(name, one)]
    return meanings[max(fitting, key=len)] if fitting else None


@cache
def kind_of_function(frame: str) -> str:
    """Return what kind of work a function does; empty where it works for its caller."""
    name = re.sub(r"(_\[i\])?(_\[[keh]\])?$", "", frame)  # without the marks of a frame
    if not frame.endswith("_[k]"):
        where = {"_[e]": "emulator", "_[h]": "hypervisor"}.get(frame[-4:], "user")
        return find(name, _names(where)) or UNNAMED
    found = find(name, _names("functions"))
    if found is None:
        callers_work = (name for row in _lists()["transparent"] for name in row["names"])
        found = find(name, dict.fromkeys(callers_work, ""))
    return UNNAMED if found is None else found


@cache
def kind_of(stack: Stack) -> str:
    """Return what a sample is: what its innermost function does that does not serve its caller."""
    return next(filter(None, map(kind_of_function, reversed(stack))), UNNAMED)


@cache
def kinds_within(stack: Stack) -> tuple[str, ...]:
    """Return every kind of work that a stack goes through."""
    return tuple(dict.fromkeys(filter(None, map(kind_of_function, stack))))


SIDES = ("sender", "receiver")
_CELL = (
    "testbed",
    "implementation",
    "msg_bytes",
    "n_threads",
    "working_set",
    "receiver",
    "placement",
)
_KEY = ["condition", *_CELL, "side"]
# Paths and functions with less in every repetition are left out of the tables.
_LEAST = 0.001

Within = Callable[[Stack], Sequence[str]]
"""Everything that a stack goes through, the last of which is what the CPU was doing."""


@dataclass(frozen=True)
class Repetition:
    """A sampled run: CPU time by party [ns], what arrived, its length, and its stacks by party."""

    key: tuple[Any, ...]
    cpu_ns: dict[str, float]
    received_bytes: float
    window_s: float
    stacks: dict[str, Counter[Stack]]

    def factors(self, side: str) -> list[float]:
        """Return what a share is multiplied by: itself, use [% of a CPU], cost [ns/KiB]."""
        cpu_ns = self.cpu_ns[side]
        received_kib = self.received_bytes / 1024
        cost = cpu_ns / received_kib if received_kib else math.nan
        return [1.0, cpu_ns / self.window_s / 1e7, cost]


def repetitions(results: Path) -> list[Repetition]:
    """Return the measured repetitions of the profile, by cell and number."""
    found = []
    for path in sorted((results / "raw/profile").rglob("rep=*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["status"] == "measured":
            stacks: dict[str, Counter[Stack]] = defaultdict(Counter)
            folded = path.with_name(f"{path.stem}.folded.gz").read_bytes()
            for line in gzip.decompress(folded).decode().splitlines():
                stack, _, weight = line.rpartition(" ")
                side, *frames = stack.split(";")
                stacks[side][tuple(frames)] += int(weight)
            own = {side: each for side, each in stacks.items() if not side.startswith("reference_")}
            cell = record["cell"]
            key = (condition_of(cell), *(cell[name] for name in _CELL))
            found.append(Repetition(key, *_window(record), own))
    return found


def share_tables(results: Path) -> dict[str, tuple[pd.DataFrame, list[str]]]:
    """Return the tables of shares with their keys; empty ones where nothing was profiled.

    Each has the medians over the repetitions, their intervals, and by how much these may differ.
    """
    cells: dict[tuple[Any, ...], list[Repetition]] = defaultdict(list)
    for one in repetitions(results):
        cells[one.key].append(one)
    tables: dict[str, tuple[str, Within]] = {
        "profile_paths": ("call_path", _paths),
        "profile_functions": ("function", lambda stack: stack),
        "profile_categories": ("category", lambda stack: [*kinds_within(stack), kind_of(stack)]),
    }
    found, settings = {}, settings_of(results)
    for name, (about, within) in tables.items():
        rows = [row for one in cells.values() for row in _rows(one, about, within, settings)]
        found[name] = pd.DataFrame(rows), [*_KEY, about]
    return found


def _paths(stack: Stack) -> list[str]:
    return [";".join(stack[:depth]) for depth in range(1, len(stack) + 1)]


def _rows(
    cell: list[Repetition], about: str, within: Within, settings: Settings
) -> Iterator[dict[str, Any]]:
    """Yield a row per party of a cell and what its samples went through."""
    for side in sorted({side for one in cell for side in one.stacks}):
        present = [one for one in cell if one.stacks.get(side)]
        factors = np.array([one.factors(side) for one in present])
        shares = [_shares(one.stacks[side], within) for one in present]
        most = 100.0 * cell[0].key[4] if side in SIDES else math.inf
        for item in dict.fromkeys(item for one in shares for item in one):
            both = np.array([one.get(item, (0.0, 0.0)) for one in shares])
            if about != "category" and both.max() < _LEAST:
                continue
            row = {**dict(zip(_KEY, (*cell[0].key, side), strict=True)), about: item}
            row["n"] = len(present)
            for number, unit in enumerate(("share", "cpu_percent", "ns_per_kib")):
                for place, kind in enumerate(("inclusive", "own")):
                    values = both[:, place] * factors[:, number]
                    one = _estimate(values, settings.confidence, unit, most)
                    column = f"{kind}_{unit}"
                    row |= {column: one.value, f"{column}_low": one.low, f"{column}_high": one.high}
                    for end, scatter in zip(("low", "high"), one.scatter, strict=True):
                        row[f"{column}_{end}_scatter"] = settings.resampling * scatter
            yield row


def _shares(stacks: Counter[Stack], within: Within) -> dict[str, tuple[float, float]]:
    """Return, by what stacks go through, the share of the samples in it and of those at it."""
    inclusive, own, total = Counter[str](), Counter[str](), stacks.total()
    for stack, weight in stacks.items():
        items = within(stack)
        own[items[-1]] += weight
        for item in set(items):
            inclusive[item] += weight
    return {item: (n / total, own[item] / total) for item, n in inclusive.items()}


def _estimate(values: np.ndarray, confidence: float, unit: str, most: float) -> estimates.Estimate:
    """Return a median: of a share above a half the interval is that of the rest."""
    found = estimates.median(values, confidence)
    if unit == "share" and found.value > 0.5:
        found = estimates.median(1.0 - values, confidence).rest()
    return found.within({"share": 1.0, "cpu_percent": most}.get(unit, math.inf))


def _by_iperf3(record: dict[str, Any]) -> bool:
    return "pairs" in record["driver"]


def _window(record: dict[str, Any]) -> tuple[dict[str, float], float, float]:
    """Return the CPU time by party [ns], the bytes received, and the length [s]."""
    driver, perf = record["driver"], record["observed"]["perf_stat"]
    if _by_iperf3(record):
        used = record["observed"]["usage"]
        length_ns = record["window"]["end_ns"] - record["window"]["start_ns"]
        # what the kernel says was read, in a window that is a little longer
        received = round(used["receiver"]["read_bytes"] * length_ns / used["receiver"]["window_ns"])
    else:
        used = {side: driver[side] and driver[side]["process"] for side in SIDES}
        window = driver["sender"]["window"]
        length_ns = window["end_ns"] - window["start_ns"]
        received = (driver["receiver"] or driver["sender"])["in_window"]["bytes"]
        own = [one for one in driver.get("slices", ()) if one[0] == 0]
        if own:  # by turns, of which all has arrived over TCP
            length_ns = sum(one[2] - one[1] for one in own)
            if driver["sender"]["tcp"] is not None:
                received = sum(one[3] for one in own)
    if sink := driver.get("sink"):
        received = round(received * (1 - sink["lost_before_hook"] / sink["sent_datagrams"]))
    cpu_ns = {}
    for side in SIDES:
        if perf[side] is not None:
            counted = perf[side]["events"].get("task_clock_ns", {}).get("value")
            cpu_ns[side] = used[side]["cpu_ns"] if counted is None else counted
    for guest in record["observed"].get("hypervisor", {}).get("guests", []):
        cpu_ns |= _around(guest, cpu_ns, length_ns)
    return cpu_ns, received, length_ns / 1e9


def _around(guest: dict[str, Any], cpu_ns: dict[str, float], length_ns: float) -> dict[str, float]:
    """Return the CPU time of the rest of a guest and of its hypervisor, outside of guest mode."""
    sides = guest["sides"]
    prefix = f"{sides[0]}_" if len(sides) == 1 else ""
    busy = guest["inside"]["busy_ns"] / guest["inside"]["window_ns"] * length_ns
    kinds = guest["threads"].values()
    outside = sum(max(0, kind["cpu_ns"] - kind["guest_ns"]) for kind in kinds)
    return {
        f"{prefix}guest": max(0.0, busy - sum(cpu_ns[side] for side in sides)),
        f"{prefix}qemu": outside / guest["window_ns"] * length_ns,
    }
