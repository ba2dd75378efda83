"""From records and stacks to tidy tables: shares with intervals over the repetitions."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from copycost.config.cells import Cell
from copycost.hosts.parties import REFERENCES
from copycost.hosts.side import SIDES
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.stats.estimates import intervals
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.profile.columns import CPU, KEY, LEAST_SHARE, QUANTITIES, SHARE_TABLES
from copycost.studies.profile.folded import folded_path, read_folded
from copycost.studies.profile.functions import Categories, Stack, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.paths import Chain, DataPath
from copycost.studies.profile.runs import Run, of_reference, runs_of

_Key = TypeVar("_Key")
KIB = 1024.0


@dataclass(slots=True)
class Share:
    """Two shares of a side's samples, 0 to 1."""

    inclusive: float = 0.0  # samples in which it is anywhere in the stack
    own: float = 0.0  # samples in which it is what the CPU was doing


@dataclass(frozen=True, slots=True)
class SideShares:
    """The shares of one side in one repetition; what was not seen is not in them."""

    # by call path, which is a tuple of frames
    paths: dict[Stack, Share] = field(default_factory=dict)
    # by frame, wherever it was called from; one that calls itself counts once per sample
    functions: dict[str, Share] = field(default_factory=dict)
    # by category; `own` shares add up to 1
    categories: dict[str, Share] = field(default_factory=dict)
    # by box of the data path; `own` shares add up to 1, `inclusive` ones are the same
    boxes: dict[str, Share] = field(default_factory=dict)
    # by box, the share of each function that put samples there
    box_functions: dict[str, dict[str, float]] = field(default_factory=dict)
    chains: dict[str, Share] = field(default_factory=dict)  # by the published call path; `own` is 0


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of names that shares are made by."""

    categories: Categories
    data_path: DataPath
    chains: tuple[Chain, ...] = ()
    acknowledging: Mapping[str, frozenset[str]] = field(default_factory=dict)


def shares_of(stacks: Mapping[Stack, int], side: str, lists: Lists) -> SideShares:
    """Add up the stacks of one side."""
    found = SideShares()
    total = sum(stacks.values())
    for stack, weight in stacks.items():
        for depth in range(1, len(stack) + 1):
            _add(found.paths, (stack[:depth],), weight)
        found.paths[stack].own += weight
        _add(found.functions, dict.fromkeys(stack), weight)
        found.functions[stack[-1]].own += weight
        category = lists.categories.of_stack(stack)
        _add(found.categories, sorted(lists.categories.within(stack)), weight)
        found.categories[category].own += weight
        box, function = lists.data_path.of_stack(side, stack)
        _add(found.boxes, (box,), weight)
        found.boxes[box].own += weight
        functions = found.box_functions.setdefault(box, {})
        name = plain_name(function)
        functions[name] = functions.get(name, 0.0) + weight
        chains = [";".join(chain.functions) for chain in lists.chains if chain.is_in(stack)]
        _add(found.chains, chains, weight)
    # divided last: a share of all samples is 1, and not a little less
    for table in (found.paths, found.functions, found.categories, found.boxes, found.chains):
        for entry in table.values():
            entry.inclusive /= total
            entry.own /= total
    for functions in found.box_functions.values():
        functions.update({name: weight / total for name, weight in functions.items()})
    return found


def _add(table: dict[_Key, Share], keys: Iterable[_Key], weight: int) -> None:
    for key in keys:
        entry = table.get(key)
        if entry is None:
            entry = table[key] = Share()
        entry.inclusive += weight


@dataclass(frozen=True, slots=True)
class Repetition:
    """One profiled repetition: its record, and per side what its stacks add up to."""

    record: Record
    sampled: Run | None  # None unless measured
    plain: Run | None  # the same without sampling, right before or after it
    stacks: dict[str, dict[Stack, int]]  # weight by stack, by side; empty unless measured
    shares: dict[str, SideShares]  # by side
    # the reference's own, which took turns with it; None where it ran alone
    reference: "Repetition | None" = None

    @property
    def key(self) -> CellKey:
        """The cell, without the number of the repetition."""
        return CellKey.of(cell_of(self.record))

    @property
    def run(self) -> Run:
        """The sampled run of a repetition that was measured."""
        assert self.sampled is not None
        return self.sampled

    def cpus(self, side: str) -> float:
        """CPUs that a side used in the window of the sampled run (1: one CPU, all of the time)."""
        return self.run.cpu_ns[side] / (self.run.window_s * 1e9)

    def ns_per_kib(self, side: str) -> float:
        """CPU time of a side per KiB received in the sampled run [ns]; NaN if nothing arrived."""
        received_kib = self.run.received_bytes / KIB
        return self.run.cpu_ns[side] / received_kib if received_kib else math.nan


def read_repetitions(records: Iterable[Path], lists: Lists) -> list[Repetition]:
    """Return all repetitions, sorted by cell and number; see `read_all`."""
    places = {Cell.from_path(str(path)): path for path in records}

    def repetition_of(measured: Record) -> Repetition:
        path = folded_path(places[cell_of(measured)])
        stacks = read_folded(path) if measured["status"] == "measured" else {}
        its = {side: stacks.pop(party, {}) for side, party in zip(SIDES, REFERENCES, strict=True)}
        beside = of_reference(measured)
        return made_of(measured, stacks, beside and made_of(beside, its))

    def made_of(
        record: Record, stacks: Mapping[Any, dict[Stack, int]], reference: Repetition | None = None
    ) -> Repetition:
        # a side that slept through the window has no stacks, and nothing to share out
        shares = {side: shares_of(one, side, lists) for side, one in stacks.items() if one}
        sampled, plain = runs_of(record) or (None, None)
        return Repetition(record, sampled, plain, {**stacks}, shares, reference)

    found = read_all(places.values(), repetition_of)
    return sorted(found, key=lambda one: (one.key, one.record["cell"]["rep"]))


def by_cell(repetitions: Iterable[Repetition]) -> dict[CellKey, list[Repetition]]:
    """Return the measured repetitions of each cell."""
    cells: dict[CellKey, list[Repetition]] = {}
    for one in repetitions:
        if one.shares:
            cells.setdefault(one.key, []).append(one)
    return cells


def share_table(
    name: str, repetitions: Iterable[Repetition], lists: Lists, settings: StatisticsSettings
) -> pd.DataFrame:
    """Return one of the tables of shares: a row per cell, side, and what the table is about.

    What a repetition has no sample of has the share 0 there.
    """
    pick, words = _PICKS[name]
    rows: list[tuple[object, ...]] = []
    values: dict[int, list[tuple[int, FloatArray]]] = {}
    most: list[float] = []
    for key, cell in by_cell(repetitions).items():
        for side in sorted({side for one in cell for side in one.shares}):
            present = [one for one in cell if side in one.shares]
            tables = [pick(one.shares[side]) for one in present]
            factors = np.array(
                [(1.0, 100.0 * one.cpus(side), one.ns_per_kib(side)) for one in present]
            )
            for item in dict.fromkeys(item for table in tables for item in table):
                shares = [table.get(item, Share()) for table in tables]
                if name in _SHORTENED and max(one.inclusive for one in shares) < LEAST_SHARE:
                    continue
                both = np.array([(one.inclusive, one.own) for one in shares])
                # (repetition, scale, inclusive or own) to one row per quantity
                scaled = factors[:, :, None] * both[:, None, :]
                values.setdefault(len(present), []).append((len(rows), scaled.reshape(-1, 6).T))
                rows.append((*key, side, *words(item, lists), len(present)))
                most.append(100.0 * key.n_threads if side in SIDES else math.inf)
    columns = [*KEY, "side", *SHARE_TABLES[name], "n"]
    table = pd.DataFrame(rows, columns=columns)
    for column, numbers in _quantities(values, np.array(most), settings).items():
        table[column] = numbers
    order = [*KEY, "side"]
    return table.sort_values(
        [*order, "inclusive_share", *SHARE_TABLES[name][:1]],
        ascending=[True] * len(order) + [False, True],
        ignore_index=True,
    )


def _quantities(
    values: Mapping[int, Sequence[tuple[int, FloatArray]]],
    most: FloatArray,
    settings: StatisticsSettings,
) -> dict[str, FloatArray]:
    """Return the columns of medians and intervals; rows of equally many repetitions at a time.

    `most` is by row what its party can have used at most [% of one CPU].
    """
    columns = {
        f"{quantity.name}{end}": np.full(most.size, np.nan)
        for quantity in QUANTITIES
        for end in ("", "_low", "_high")
    }
    for entries in values.values():
        places = np.array([place for place, _ in entries])
        numbers = np.stack([number for _, number in entries])  # (row, quantity, repetition)
        for index, quantity in enumerate(QUANTITIES):
            bound = most[places] if quantity.unit == CPU else math.inf
            found = intervals(
                numbers[:, index, :], settings, is_share=quantity.unit == "1", most=bound
            )
            columns[quantity.name][places] = found.median
            columns[f"{quantity.name}_low"][places] = found.low
            columns[f"{quantity.name}_high"][places] = found.high
    return columns


_SHORTENED = frozenset({"profile_paths", "profile_functions"})

# a stack, or a name
_Words = Callable[[Any, Lists], tuple[object, ...]]
_Pick = Callable[[SideShares], Mapping[Any, Share]]

_PICKS: dict[str, tuple[_Pick, _Words]] = {
    "profile_paths": (
        lambda shares: shares.paths,
        lambda path, _: (";".join(path), len(path), plain_name(path[-1])),
    ),
    "profile_functions": (
        lambda shares: shares.functions,
        lambda frame, lists: (frame, lists.categories.of_frame(frame) or "transparent"),
    ),
    "profile_categories": (lambda shares: shares.categories, lambda name, _: (name,)),
    "profile_boxes": (lambda shares: shares.boxes, lambda name, _: (name,)),
    "profile_chains": (lambda shares: shares.chains, lambda path, _: (path,)),
}
"""By table, the shares that it is of, and the words of its columns for one of them."""
