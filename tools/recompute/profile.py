"""What the folded stacks of a profile come to, by the lists of data/functions."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tools.recompute import estimates
from tools.recompute.estimates import Estimate
from tools.recompute.functions import Stack, kind_of, plain, worker_of
from tools.recompute.raw import condition_of
from tools.recompute.slots import read

SIDES = ("sender", "receiver")

Sums = defaultdict[str, float]
"""What names add up to; nothing, where one is not there."""
Key = tuple[str, str, int, int]
"""Condition, implementation, size [bytes], threads."""


@dataclass(frozen=True)
class Window:
    """What one run came to: CPU time by party [ns], bytes received, length of the window [s]."""

    cpu_ns: dict[str, float]
    received_bytes: float
    window_s: float

    @property
    def bits_per_s(self) -> float:
        """The throughput."""
        return self.received_bytes * 8 / self.window_s

    def ns_per_kib(self, side: str) -> float:
        """Return a side's CPU time per KiB received."""
        return self.cpu_ns[side] / (self.received_bytes / 1024)

    def cpus(self, side: str) -> float:
        """Return how many CPUs a side used."""
        return self.cpu_ns[side] / (self.window_s * 1e9)


@dataclass(frozen=True)
class Repetition:
    """A sampled run, its stacks by party with their weights, and the run without sampling.

    Where a reference took turns with it, that has the same of its own.
    """

    key: Key
    rep: int
    sampled: Window
    unsampled: Window | None
    stacks: dict[str, Counter[Stack]]
    sampling: dict[str, Any]
    copied: float | None
    reference: "Repetition | None" = None

    def is_inside(self, party: str) -> bool:
        """Tell whether a party runs in a guest."""
        guests = {"guest", f"{party.partition('_')[0]}_guest"}
        return not party.endswith("qemu") and bool(guests & self.stacks.keys())

    def own_shares(self, side: str) -> Sums:
        """Return which share of a side's samples each kind of work has."""
        return _shares(self.stacks[side], kind_of)

    def own_costs(self, side: str) -> Sums:
        """Return the CPU time per KiB of each function that works for itself [ns]."""
        cost = self.sampled.ns_per_kib(side)
        shares = _shares(self.stacks[side], worker_of)
        return Sums(float, {name: share * cost for name, share in shares.items()})

    def through(self, side: str, chain: Iterable[Iterable[str]]) -> float:
        """Return the share of a side's samples whose stacks go through a chain of functions."""
        steps = [frozenset(names) for names in chain]
        stacks = self.stacks[side]
        return sum(w for stack, w in stacks.items() if _goes_through(stack, steps)) / stacks.total()


def repetitions(results: Path) -> list[Repetition]:
    """Return the measured repetitions of the profile, by cell and number."""
    found = []
    for path in sorted((results / "raw/profile").rglob("rep=*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["status"] == "measured":
            found.append(_repetition(record, path.with_name(f"{path.stem}.folded.gz")))
    return sorted(found, key=lambda one: (one.key, one.rep))


def _repetition(record: dict[str, Any], folded: Path) -> Repetition:
    stacks: dict[str, Counter[Stack]] = {}
    for line in gzip.decompress(folded.read_bytes()).decode().splitlines():
        stack, _, weight = line.rpartition(" ")
        side, *frames = stack.split(";")
        stacks.setdefault(side, Counter())[tuple(frames)] += int(weight)
    its = {side: stacks.pop(f"reference_{side}") for side in SIDES if f"reference_{side}" in stacks}
    plain = record["undisturbed"]
    if plain is not None and plain["status"] != "measured":
        plain = None
    beside = None
    if "reference" in record["driver"]:
        beside = _repetition_of(_beside(record), plain and _beside(plain), its, None)
    return _repetition_of(record, plain, stacks, beside)


def _beside(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record that the reference of a repetition would have."""
    driver = record["driver"]
    its = driver["reference"]
    slices = [[1 - one[0], *one[1:]] for one in driver["slices"]]
    cell = record["cell"] | {"implementation": its["implementation"]}
    observed = record["observed"] | {"perf_stat": its["perf_stat"]}
    return record | {"cell": cell, "driver": its | {"slices": slices}, "observed": observed}


def _repetition_of(
    record: dict[str, Any],
    plain: dict[str, Any] | None,
    stacks: dict[str, Counter[Stack]],
    reference: Repetition | None,
) -> Repetition:
    cell = record["cell"]
    sends = None if _by_iperf3(record) else record["driver"]["sender"]["zero_copy"]
    return Repetition(
        (condition_of(cell), cell["implementation"], cell["msg_bytes"], cell["n_threads"]),
        cell["rep"],
        _window(record),
        None if plain is None else _window(plain),
        stacks,
        record["observed"]["sampling"],
        sends["copied"] / sends["completed"] if sends else None,
        reference,
    )


def _by_iperf3(record: dict[str, Any]) -> bool:
    return "pairs" in record["driver"]


def _window(record: dict[str, Any]) -> Window:
    driver, perf = record["driver"], record["observed"]["perf_stat"]
    if _by_iperf3(record):
        used = record["observed"]["usage"]
        length_ns = record["window"]["end_ns"] - record["window"]["start_ns"]
        # what the kernel says was read, in a window that is a little longer
        received = used["receiver"]["read_bytes"] * length_ns / used["receiver"]["window_ns"]
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
    return Window(cpu_ns, received, length_ns / 1e9)


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


def _shares(stacks: Counter[Stack], name_of: Callable[[Stack], str]) -> Sums:
    found, total = Sums(float), stacks.total()
    for stack, weight in stacks.items():
        found[name_of(stack)] += weight / total
    return found


def _goes_through(stack: Stack, steps: list[frozenset[str]]) -> bool:
    at = 0
    for frame in stack:
        at += at < len(steps) and plain(frame) in steps[at]
    return at == len(steps)


class Profile:
    """The profile of a run: its cells, and the pairs of them that are compared."""

    def __init__(self, results: Path, config: dict[str, Any]) -> None:
        self.repetitions = repetitions(results)
        self.confidence = config["statistics"]["confidence"]
        self.section = config["profile"]

    def cell(self, slug: str) -> list[Repetition]:
        """Return the repetitions of a cell by its name: ``veth-two-copy-65536-1``."""
        found = [one for one in self.repetitions if slug_of(one.key) == slug]
        if not found:
            raise LookupError(f"no cell is called {slug}")
        return found

    def rounds(self, slug: str) -> list[tuple[Repetition, Repetition]]:
        """Return the rounds of a pair: ``veth-two-copy-65536-1-to-zero-copy``."""
        before, _, after = slug.rpartition("-to-")
        first = self.cell(before)
        condition, _, size, threads = first[0].key
        second = self.cell(slug_of((condition, after, size, threads)))
        turns = [(one.reference, one) for one in second]
        paired = [(each, one) for each, one in turns if each and each.key == first[0].key]
        if paired:
            return paired
        by_rep = {one.rep: one for one in second}
        return [(one, by_rep[one.rep]) for one in first if one.rep in by_rep]

    def size(self, text: str) -> int:
        """Return which of the sizes a text means, which may be rounded."""
        return int(read("size", text, [one.key[2] for one in self.repetitions]))

    def change(self, differences: np.ndarray) -> Estimate:
        """Return the mean change over the rounds, with Student's interval."""
        return estimates.difference(differences, self.confidence)

    def estimate(self, values: list[float]) -> Estimate:
        """Return the median of a quantity over repetitions."""
        return estimates.median(np.array(values), self.confidence)

    def share(self, values: list[float]) -> Estimate:
        """Return the median of a share: above a half its interval is that of the rest."""
        found = self.estimate(values)
        if found.value > 0.5:
            found = self.estimate([1 - value for value in values]).rest()
        return found.within(1.0)


def slug_of(key: Key) -> str:
    """Return the name of a cell as ids of tables have it."""
    return "-".join(map(str, key)).replace("_", "-")
