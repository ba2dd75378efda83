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
from copycost.studies.profile.functions import (
    Categories,
    Chain,
    ChainNames,
    DataPath,
    Stack,
    goes_through,
    load_categories,
    load_chain_names,
    load_data_path,
    plain_name,
)
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.runs import Run, of_reference, runs_of

_Key = TypeVar("_Key")


@dataclass(slots=True)
class Share:
    """Two shares of a party's samples, 0 to 1."""

    inclusive: float = 0.0  # samples in which it is anywhere in the stack
    own: float = 0.0  # samples in which it is what the CPU was doing


class Shares(dict[_Key, Share]):
    """Shares by what was seen; whatever was not has the share 0."""

    def __missing__(self, _: _Key) -> Share:
        """Return the share of what was not seen."""
        return Share()


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of one party in one repetition, and their shares."""

    stacks: Mapping[Stack, int]  # weight by stack
    cpus: float  # CPUs that the party used
    ns_per_kib: float  # its CPU time per KiB received [ns]; NaN if nothing arrived
    # by call path, which is a tuple of frames
    paths: Shares[Stack]
    # by frame, wherever it was called from; one that calls itself counts once per sample
    functions: Shares[str]
    # by category; `own` shares add up to 1
    categories: Shares[str]
    # by box of the data path; `own` shares add up to 1, `inclusive` ones are the same
    boxes: Shares[str]
    # by box and name of the function that put samples there
    box_functions: Shares[tuple[str, str]]
    chains: Shares[str]  # by the published call path; `own` is 0


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of names that shares are made by."""

    categories: Categories
    data_path: DataPath
    chain_names: ChainNames
    published: tuple[dict[str, str], ...]  # rows of data/published/function-shares.csv
    chains: Mapping[str, Chain]  # every call chain of those, by its path


def load_lists(data: Path) -> Lists:
    """Return all lists of names: of data/functions, and the chains of data/published."""
    functions = data / "functions"
    names = load_chain_names(functions)
    with (data / "published" / "function-shares.csv").open(newline="", encoding="utf-8") as file:
        rows = tuple(csv.DictReader(file))
    chains = {row["call_path"]: names.chain(row["call_path"]) for row in rows}
    return Lists(load_categories(functions), load_data_path(functions), names, rows, chains)


def sample(stacks: Mapping[Stack, int], party: str, run: Run, lists: Lists) -> Samples:
    """Return what the stacks of a party in a run add up to."""
    categories = lists.categories
    boxes = {
        stack: (box, plain_name(function))
        for stack in stacks
        for box, function in [lists.data_path.of_stack(party, stack)]
    }

    def chains_in(stack: Stack) -> list[str]:
        return [path for path, chain in lists.chains.items() if goes_through(stack, chain)]

    def paths_to(stack: Stack) -> list[Stack]:
        return [stack[:depth] for depth in range(1, len(stack) + 1)]

    return Samples(
        stacks,
        run.cpus(party),
        run.ns_per_kib(party),
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
) -> Shares[_Key]:
    """Return the shares of all that stacks go `through`, and of what the CPU did there: `own`."""
    found: Shares[_Key] = Shares()
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
    """One profiled repetition: its record, its runs, and what was sampled of each party."""

    record: Record
    sampled: Run | None = None  # None unless measured
    plain: Run | None = None  # the same without sampling, right before or after it
    # by party; one that slept through the window has none, and nothing to share out
    samples: Mapping[str, Samples] = field(default_factory=dict)
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


def read_repetitions(records: Iterable[Path], lists: Lists) -> list[Repetition]:
    """Return all repetitions, sorted by cell and number; see `read_all`."""
    places = {Cell.from_path(str(path)): path for path in records}

    def repetition_of(record: Record) -> Repetition:
        path = folded_path(places[cell_of(record)])
        stacks = read_folded(path) if record["status"] == "measured" else {}
        both = zip(SIDES, REFERENCES, strict=True)
        its: dict[str, Any] = {side: stacks.pop(party, {}) for side, party in both}
        beside = of_reference(record)
        return _made_of(record, stacks, lists, beside and _made_of(beside, its, lists))

    found = read_all(places.values(), repetition_of)
    return sorted(found, key=lambda one: (one.key, one.record["cell"]["rep"]))


def _made_of(
    record: Record,
    stacks: Mapping[str, Mapping[Stack, int]],
    lists: Lists,
    reference: Repetition | None = None,
) -> Repetition:
    if (runs := runs_of(record)) is None:
        return Repetition(record, reference=reference)
    samples = {
        party: sample(weights, party, runs[0], lists)
        for party, weights in stacks.items()
        if weights
    }
    return Repetition(record, *runs, samples, reference)


def by_cell(repetitions: Iterable[Repetition]) -> dict[CellKey, list[Repetition]]:
    """Return the measured repetitions of each cell."""
    cells: dict[CellKey, list[Repetition]] = {}
    for one in repetitions:
        if one.samples:
            cells.setdefault(one.key, []).append(one)
    return cells


def samples_of(cell: Iterable[Repetition], party: str) -> list[Samples]:
    """Return the samples of a party in those repetitions that have any."""
    return [one.samples[party] for one in cell if party in one.samples]


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
        for side in sorted({side for one in cell for side in one.samples}):
            present = samples_of(cell, side)
            tables = [getattr(one, name.removeprefix("profile_")) for one in present]
            factors = np.array([(1.0, 100.0 * one.cpus, one.ns_per_kib) for one in present])
            for item in dict.fromkeys(item for table in tables for item in table):
                shares = [table[item] for table in tables]
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
