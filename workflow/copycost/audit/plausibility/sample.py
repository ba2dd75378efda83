"""What a plausibility check looks at: one dataset of a file, and how precise its digits are."""

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from copycost.audit.dataset import CELL, Dataset, column_of
from copycost.audit.plausibility.finding import Finding, Kind, Sureness, declared
from copycost.audit.quantities import DATASET
from copycost.audit.wording import cell_names
from copycost.stats.settings import FloatArray

SETTINGS = frozenset({"duration", "copied_share"})
GIVEN = SETTINGS | {"bytes", "messages"}
"""What an experiment sets, or counts of what it did."""


@dataclass(frozen=True)
class Sample:
    """One dataset of a file.

    `table`, `steps`: its rows of the file's tables, see `Dataset`. `times`: when each row was
    measured, see `Dataset`. `n_cpus`: CPUs of the host, None where not told. `defined`: quantities
    that are known to be computed from others, and not called measured apart. `explained`: those
    that were found to be computed.
    """

    name: str
    table: pd.DataFrame
    steps: pd.DataFrame
    times: pd.DataFrame
    n_cpus: int | None
    defined: frozenset[str] = frozenset()
    explained: frozenset[str] = frozenset()
    _resolutions: dict[str, FloatArray] = field(default_factory=dict, repr=False)
    _means: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False)

    @cached_property
    def quantities(self) -> list[str]:
        """Return the quantities with a value other than 0, but for those that are explained."""
        return [
            str(name)
            for name in self.steps.columns
            if name not in self.explained and (self.table[name].fillna(0.0) != 0.0).any()
        ]

    def measured(
        self, left_out: Collection[str] = GIVEN, coarsest: float = math.inf
    ) -> Iterator[str]:
        """Yield the quantities that may be called measured, if their digits are fine enough.

        `left_out`: what is set, or follows from the program alone. `coarsest`: relative step of the
        digits.
        """
        for name in self.quantities:
            if name not in left_out and not self.relative_step(name) > coarsest:
                yield name

    def without(self, computed: Iterable[Finding]) -> "Sample":
        """Return the same without the quantities that were found to be computed."""
        names = (name for finding in computed for name in finding.quantities)
        return replace(self, explained=self.explained.union(names))

    def column(self, name: str) -> pd.Series:
        """Return a column of the table, NaN throughout where it has none."""
        return column_of(self.table, name)

    def found(
        self,
        code: str,
        *quantities: str,
        rows: pd.DataFrame | None = None,
        cells: tuple[str, ...] = (),
        kind: Kind | None = None,
        sureness: Sureness | None = None,
        **numbers: object,
    ) -> Finding:
        """Return a finding on columns of this dataset, shown by some rows or cells.

        It is of the declared kind and sureness where nothing else is said.
        """
        cells, said = cells if rows is None else cell_names(rows), declared()[code]
        return Finding(code, kind or said.kind, sureness or said.sureness, self.name, quantities,
                       numbers, cells)  # fmt: skip

    def known(self, *names: str) -> pd.DataFrame:
        """Return the rows that have a value of every one of the quantities."""
        if any(name not in self.table for name in names):
            return self.table.iloc[:0].reindex(
                columns=list(dict.fromkeys([*self.table.columns, *names]))
            )
        return self.table.dropna(subset=list(names))

    def resolution(self, name: str) -> FloatArray:
        """Return the step that each value of a quantity was rounded to, NaN where there is none.

        That is its last digit as written, unless all values end in zeros, or none has more than so
        many digits that are not 0: 880000000 beside 1780000000 has three digits, not nine.
        """
        if name not in self._resolutions:
            self._resolutions[name] = self._find_resolution(name)
        return self._resolutions[name]

    def relative_step(self, name: str) -> float:
        """Return the usual resolution of a quantity's values over them, 0 for exact ones."""
        values = self.table[name].abs().to_numpy(dtype=np.float64)
        known = values > 0.0
        return (
            float(np.median(self.resolution(name)[known] / values[known])) if known.any() else 0.0
        )

    def means(self, name: str) -> pd.DataFrame:
        """Return a quantity's mean per cell; `step` is its resolution, `finest` its last digit."""
        if name not in self._means:
            known = self.table.assign(step=self.resolution(name), finest=self.steps[name])
            cells = known.dropna(subset=[name]).groupby(list(CELL), as_index=False, sort=True)
            self._means[name] = cells[[name, "step", "finest"]].mean()
        return self._means[name]

    def _find_resolution(self, name: str) -> FloatArray:
        values = np.abs(self.table[name].to_numpy(dtype=np.float64))
        steps = self.steps[name].to_numpy(dtype=np.float64)
        common = _common_step(values, steps)
        known = (values > 0.0) & (steps > 0.0)
        if not known.any():
            return np.where(np.isnan(values), np.nan, np.maximum(steps, common))
        units = np.round(values[known] / steps[known])
        digits = max(len(str(int(unit)).rstrip("0")) for unit in units)
        exponents = np.floor(np.log10(np.where(known, values, 1.0)))
        by_digits = np.where(known, 10.0 ** (exponents - digits + 1), 0.0)
        rounded = np.maximum(np.maximum(steps, common), by_digits)
        return np.where(np.isnan(values), np.nan, rounded)


def samples_of(dataset: Dataset) -> Iterator[Sample]:
    """Yield the datasets of a file."""
    n_cpus = dataset.mapping.host.get("cpus")
    # In tables of copycost, the mean service time is the window over the messages.
    defined = frozenset({"latency"} if dataset.copycost_cells is not None else ())
    for name in dataset.datasets:
        mine = dataset.table[DATASET] == name
        table, steps, times = (
            rows[mine].reset_index(drop=True)
            for rows in (dataset.table, dataset.steps, dataset.times)
        )
        yield Sample(name, table, steps, times, int(n_cpus) if n_cpus else None, defined)


def _common_step(values: FloatArray, steps: FloatArray) -> float:
    """Return the largest power of ten times the finest step that divides every value."""
    known = (values != 0.0) & ~np.isnan(values)
    finest = steps[known].min(initial=math.inf)
    if not math.isfinite(finest) or finest <= 0.0:
        return 0.0
    units = np.round(np.abs(values[known]) / finest)
    factor = 1.0
    while factor < 1e12 and np.all(units % (factor * 10.0) == 0.0):
        factor *= 10.0
    return float(finest * factor)
