"""From records and stacks to tidy tables: shares with intervals over the repetitions."""

import csv
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from copycost.config.cells import Cell
from copycost.hosts.side import REFERENCES, SIDES
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.stats.estimates import intervals
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.profile.columns import CPU, KEY, LEAST_SHARE, QUANTITIES, SHARE_TABLES
from copycost.studies.profile.folded import folded_path, read_folded
from copycost.studies.profile.functions import Categories, Stack, load_categories, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.paths import (
    Chain,
    ChainNames,
    DataPath,
    load_chain_names,
    load_data_path,
)
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
    # by box and name of the function that put samples there
    box_functions: dict[tuple[str, str], Share] = field(default_factory=dict)
    chains: dict[str, Share] = field(default_factory=dict)  # by the published call path; `own` is 0


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of names that shares are made by."""

    categories: Categories
    data_path: DataPath
    chain_names: ChainNames
    published: tuple[dict[str, str], ...]  # rows of data/published/function-shares.csv
    chains: tuple[Chain, ...]  # every call chain of those, once


def load_lists(data: Path) -> Lists:
    """Return all lists of names: of data/functions, and the chains of data/published."""
    functions = data / "functions"
    names = load_chain_names(functions)
    with (data / "published" / "function-shares.csv").open(newline="", encoding="utf-8") as file:
        rows = tuple(csv.DictReader(file))
    paths = dict.fromkeys(row["call_path"] for row in rows)
    chains = tuple(names.chain(path) for path in paths)
    return Lists(load_categories(functions), load_data_path(functions), names, rows, chains)


def shares_of(stacks: Mapping[Stack, int], side: str, lists: Lists) -> SideShares:
    """Add up the stacks of one side."""
    categories = lists.categories
    boxes = {
        stack: (box, plain_name(function))
        for stack in stacks
        for box, function in [lists.data_path.of_stack(side, stack)]
    }

    def chains_in(stack: Stack) -> list[str]:
        return [";".join(chain.functions) for chain in lists.chains if chain.is_in(stack)]

    def paths_to(stack: Stack) -> list[Stack]:
        return [stack[:depth] for depth in range(1, len(stack) + 1)]

    return SideShares(
        paths=_add_up(stacks, paths_to, lambda stack: stack),
        functions=_add_up(stacks, dict.fromkeys, lambda stack: stack[-1]),
        categories=_add_up(
            stacks, lambda stack: sorted(categories.within(stack)), categories.of_stack
        ),
        boxes=_add_up(stacks, lambda stack: boxes[stack][:1], lambda stack: boxes[stack][0]),
        box_functions=_add_up(stacks, lambda stack: [boxes[stack]], lambda stack: boxes[stack]),
        chains=_add_up(stacks, chains_in, None),
    )


def _add_up(
    stacks: Mapping[Stack, int],
    through: Callable[[Stack], Iterable[_Key]],
    own: Callable[[Stack], _Key] | None,
) -> dict[_Key, Share]:
    """Return the shares of all that stacks go `through`, and of what the CPU did there: `own`."""
    found: dict[_Key, Share] = {}
    for stack, weight in stacks.items():
        for key in through(stack):
            found.setdefault(key, Share()).inclusive += weight
        if own is not None:
            found[own(stack)].own += weight
    # divided last: a share of all samples is 1, and not a little less
    total = sum(stacks.values())
    for share in found.values():
        share.inclusive /= total
        share.own /= total
    return found


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
    rows: list[tuple[object, ...]] = []
    values: list[FloatArray] = []  # by row, of shape (quantity, repetition)
    most: list[float] = []  # by row, what its party can have used [% of one CPU]
    for key, cell in by_cell(repetitions).items():
        for side in sorted({side for one in cell for side in one.shares}):
            present = [one for one in cell if side in one.shares]
            tables = [getattr(one.shares[side], name.removeprefix("profile_")) for one in present]
            factors = np.array(
                [(1.0, 100.0 * one.cpus(side), one.ns_per_kib(side)) for one in present]
            )
            for item in dict.fromkeys(item for table in tables for item in table):
                shares = [table.get(item, Share()) for table in tables]
                if name in _SHORTENED and max(one.inclusive for one in shares) < LEAST_SHARE:
                    continue
                both = np.array([(one.inclusive, one.own) for one in shares])
                # (repetition, scale, inclusive or own) to one row per quantity
                values.append((factors[:, :, None] * both[:, None, :]).reshape(-1, 6).T)
                words = _WORDS[name](item, lists) if name in _WORDS else (item,)
                rows.append((*key, side, *words, len(present)))
                most.append(100.0 * key.n_threads if side in SIDES else math.inf)
    order = [*KEY, "side"]
    table = pd.DataFrame(rows, columns=[*order, *SHARE_TABLES[name], "n"])
    columns = [f"{one.name}{end}" for one in QUANTITIES for end in ("", "_low", "_high")]
    table[columns] = np.nan
    # rows of equally many repetitions at a time
    for places in table.groupby("n").indices.values():
        numbers = np.stack([values[place] for place in places])
        for index, one in enumerate(QUANTITIES):
            bound = np.array(most)[places] if one.unit == CPU else math.inf
            found = intervals(numbers[:, index, :], settings, is_share=one.unit == "1", most=bound)
            table.loc[places, columns[3 * index : 3 * index + 3]] = np.column_stack(
                (found.median, found.low, found.high)
            )
    return table.sort_values(
        [*order, "inclusive_share", *SHARE_TABLES[name][:1]],
        ascending=[True] * len(order) + [False, True],
        ignore_index=True,
    )


_SHORTENED = frozenset({"profile_paths", "profile_functions"})

_WORDS: dict[str, Callable[[Any, Lists], tuple[object, ...]]] = {
    "profile_paths": lambda path, _: (";".join(path), len(path), plain_name(path[-1])),
    "profile_functions": lambda frame, lists: (
        frame,
        lists.categories.of_frame(frame) or "transparent",
    ),
}
"""By table, the words of its columns for a stack, or a name; of others these are the name alone."""
