"""From records and stacks to tidy tables: shares with intervals over the repetitions."""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from copycost.analysis.stats.estimates import intervals
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.config.cells import Cell
from copycost.hosts.side import REFERENCES, SIDES
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.studies.profile.columns import CPU, KEY, LEAST_SHARE, QUANTITIES, SHARE_TABLES, SHARES
from copycost.studies.profile.folded import folded_path, read_folded
from copycost.studies.profile.functions import Lists, Stack, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.runs import Run, of_reference, runs_of

_Item = TypeVar("_Item")
_NO_CHAIN = ""


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of one party in one repetition."""

    stacks: Mapping[Stack, int]  # weight by stack
    cpus: float  # CPUs that the party used
    ns_per_kib: float  # its CPU time per KiB received [ns]; NaN if nothing arrived

    def inclusive(self, items_in: Callable[[Stack], Iterable[_Item]]) -> dict[_Item, float]:
        """Return by item the share of the samples whose stacks it is in, 0 to 1.

        Items are what `items_in` finds in a stack; those of no stack have the share 0.
        """
        weights: dict[_Item, int] = defaultdict(int)
        for stack, weight in self.stacks.items():
            for item in set(items_in(stack)):
                weights[item] += weight
        # divided last: a share of all samples is 1, and not a little less
        total = sum(self.stacks.values())
        return defaultdict(float, {item: weight / total for item, weight in weights.items()})

    def own(self, item_of: Callable[[Stack], _Item]) -> dict[_Item, float]:
        """Return the shares of what the CPU was doing, which is one item of each stack."""
        return self.inclusive(lambda stack: (item_of(stack),))


@dataclass(frozen=True)
class Repetition:
    """One profiled repetition: its record, its runs, and what was sampled of each party."""

    record: Record
    runs: tuple[Run, ...]  # sampled, and right before or after it not; empty unless measured
    stacks: Mapping[str, Mapping[Stack, int]]  # by party, the weight of each stack
    # the reference's own, which took turns with it; None where it ran alone
    reference: "Repetition | None" = None

    @property
    def key(self) -> CellKey:
        """The cell, without the number of the repetition."""
        return CellKey.of(cell_of(self.record))

    @property
    def run(self) -> Run:
        """The sampled run of a repetition that was measured."""
        return self.runs[0]

    @property
    def plain(self) -> Run:
        """The run without sampling of a repetition that was measured."""
        return self.runs[1]

    @cached_property
    def samples(self) -> dict[str, Samples]:
        """Samples by party; one that slept through the window has none, and nothing to share."""
        return {
            party: Samples(weights, self.run.cpus(party), self.run.ns_per_kib(party))
            for party, weights in self.stacks.items()
            if self.runs and weights
        }


def read_repetitions(records: Iterable[Path]) -> list[Repetition]:
    """Return all repetitions, sorted by cell and number; see `read_all`."""
    places = {Cell.from_path(str(path)): path for path in records}

    def read(record: Record) -> Repetition:
        path = folded_path(places[cell_of(record)])
        stacks = read_folded(path) if record["status"] == "measured" else {}
        both = zip(SIDES, REFERENCES, strict=True)
        its: dict[str, dict[Stack, int]] = {side: stacks.pop(party, {}) for side, party in both}
        beside = of_reference(record)
        reference = None if beside is None else Repetition(beside, runs_of(beside), its)
        return Repetition(record, runs_of(record), stacks, reference)

    found = read_all(places.values(), read)
    return sorted(found, key=lambda one: (one.key, one.record["cell"]["rep"]))


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
    """Return one of the tables of shares: a row per cell, side, and what the table is about."""
    definition, about = SHARES[name], SHARE_TABLES[name][0]
    parts = [
        _shares_of(name, key, side, samples_of(cell, side), lists, settings)
        for key, cell in by_cell(repetitions).items()
        for side in sorted({side for one in cell for side in one.samples})
    ]
    table = pd.concat(parts or [pd.DataFrame(columns=definition.names)])
    if name == "profile_paths":
        table["depth"] = table[about].str.count(";") + 1
        table["function"] = [plain_name(path.split(";")[-1]) for path in table[about]]
    elif name == "profile_functions":
        categories = map(lists.categories.of_frame, table[about])
        table["category"] = [category or "transparent" for category in categories]
    return table[list(definition.names)].sort_values(
        [*definition.order, "inclusive_share", about],
        ascending=[*(True for _ in definition.order), False, True],
        ignore_index=True,
    )


def _shares_of(
    name: str,
    key: CellKey,
    side: str,
    present: Sequence[Samples],
    lists: Lists,
    settings: StatisticsSettings,
) -> pd.DataFrame:
    """Return the rows of a side. What a repetition has no sample of has the share 0 there."""
    items_in = _items(name, side, lists)
    # a row per item, a column per repetition; sorted, since its place decides how a row is rounded
    inclusive = pd.DataFrame([one.inclusive(items_in) for one in present]).fillna(0.0).T
    inclusive = inclusive.sort_index()
    inclusive = inclusive.drop(index=_NO_CHAIN, errors="ignore")
    if name in ("profile_paths", "profile_functions"):
        inclusive = inclusive[inclusive.max(axis=1) >= LEAST_SHARE]
    own = pd.DataFrame([one.own(lambda stack: items_in(stack)[-1]) for one in present]).T
    shares = {"inclusive": inclusive, "own": own.reindex(inclusive.index).fillna(0.0)}
    used = np.array([(1.0, 100.0 * one.cpus, one.ns_per_kib) for one in present]).T
    scales = dict(zip(("1", CPU, "ns/KiB"), used, strict=True))
    rows = pd.DataFrame({SHARE_TABLES[name][0]: inclusive.index})
    rows[[*KEY, "side", "n"]] = (*key, side, len(present))
    for one in QUANTITIES:
        values = shares[one.name.partition("_")[0]].to_numpy() * scales[one.unit]
        most = 100.0 * key.n_threads if one.unit == CPU and side in SIDES else math.inf
        found = intervals(values, settings, is_share=one.unit == "1", most=most)
        rows[one.name] = found.median
        rows[f"{one.name}_low"], rows[f"{one.name}_high"] = found.low, found.high
    return rows


def _items(name: str, party: str, lists: Lists) -> Callable[[Stack], Sequence[str]]:
    """Return what finds all that a table tells of in a stack, last what the CPU was doing."""
    categories = lists.categories
    functions: dict[str, Callable[[Stack], Sequence[str]]] = {
        "profile_paths": lambda stack: [*itertools.accumulate(stack, "{};{}".format)],
        "profile_functions": lambda stack: stack,
        "profile_categories": lambda stack: [
            *categories.within(stack), categories.of_stack(stack)
        ],
        "profile_boxes": lambda stack: [lists.data_path.of_stack(party, stack)[0]],
        # of a published chain only all below it is told
        "profile_chains": lambda stack: [*lists.published.within(stack), _NO_CHAIN],
    }  # fmt: skip
    return functions[name]
