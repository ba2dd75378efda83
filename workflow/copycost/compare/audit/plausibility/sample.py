"""What the plausibility checks look at, one dataset of a file, and what they say of it."""

import csv
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import special  # scipy.stats takes a second to import, which a small audit feels

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.dataset import CELL, Dataset
from copycost.compare.audit.quantities import BY_NAME, TOTALS
from copycost.compare.audit.wording import TEMPLATES, cell_names, say

SETTINGS = frozenset({"duration", "copied_share"})
GIVEN = SETTINGS | {"bytes", "messages"}
"""What an experiment sets, or counts of what it did."""

CHANCE = 1e-6
"""Below this probability, what chance would have to do, it does not."""


class Sureness(StrEnum):
    """How sure a finding is, the surest first."""

    CERTAIN = "certain"
    VERY_LIKELY = "very likely"
    POSSIBLE = "possible"


class Kind(StrEnum):
    """What a finding means for the numbers, the gravest first."""

    NO_MEASUREMENT = "no measurement"
    IMPOSSIBLE = "impossible"
    CONTRADICTION = "contradiction"
    NOT_SEPARATE = "not measured separately"
    NOT_COUNTED = "not counted"
    ODD = "odd, a question to the author"
    WEAK = "weak evidence"
    INCOMPLETE = "incomplete"


@cache
def declared() -> Mapping[str, Mapping[str, str]]:
    """Return the rows of ``report/audit_findings.csv`` by code: all that a check can find.

    A row names the check, what a finding means and how sure that is (unless it says otherwise), and
    in Jinja what was found and why that can hardly be a measurement. Of a bound it has the columns
    that it is on, several apart by semicolons, the value of each, and where that is beyond it.
    """
    with (TEMPLATES / "audit_findings.csv").open(encoding="utf-8", newline="") as file:
        return {row["code"]: row for row in csv.DictReader(file)}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that speaks against numbers being measurements.

    `code`: of `declared`, which has its words. `found`: what was found, and in how many rows.
    `why`: why that can hardly be a measurement. `numbers`: what these words take. `cells`: the
    cells that show it, where not all do.
    """

    check: str
    code: str
    kind: Kind
    sureness: Sureness
    found: str
    why: str
    dataset: str
    quantities: tuple[str, ...]
    numbers: Mapping[str, object]
    cells: tuple[str, ...]

    @property
    def refutes(self) -> bool:
        """Tell whether the columns are, by this, no measurements of their own."""
        refuting = (Kind.NO_MEASUREMENT, Kind.IMPOSSIBLE, Kind.NOT_SEPARATE)
        return self.kind in refuting and self.sureness is not Sureness.POSSIBLE

    @property
    def rank(self) -> tuple[int, int]:
        """Return the order of findings: gravest first, then surest."""
        return tuple(Kind).index(self.kind), tuple(Sureness).index(self.sureness)


@dataclass(frozen=True)
class Sample:
    """One dataset of a file.

    `table`: its rows; a column for every quantity, NaN throughout where the file lacks it. `steps`:
    of the quantities that the file has, the last digit of each value. `resolutions`: the step that
    each value was rounded to, likewise. `n_cpus`: CPUs of the host, if told. `defined`: quantities
    that are known to be computed from others, and not called measured apart. `explained`: those
    that were found to be computed.
    """

    name: str
    table: pd.DataFrame
    steps: pd.DataFrame
    resolutions: pd.DataFrame
    n_cpus: int | None = None
    defined: frozenset[str] = frozenset()
    explained: frozenset[str] = frozenset()

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

    def found(
        self,
        code: str,
        *quantities: str,
        rows: pd.DataFrame | None = None,
        of_rows: int | None = None,
        kind: Kind | None = None,
        sureness: Sureness | None = None,
        **numbers: Any,  # noqa: ANN401 - whatever the words of a finding take
    ) -> Finding:
        """Return a finding on columns of this dataset, shown by some rows, of so many.

        It is of the declared kind and sureness where nothing else is said.
        """
        row = declared()[code]
        found = say(row["found"], numbers)
        if rows is not None and of_rows is not None:
            numbers |= {"n_rows": len(rows), "of_rows": of_rows}
            found = f"{found}, in {len(rows)} of {of_rows} rows"
        return Finding(
            row["check"], code, kind or Kind(row["kind"]), sureness or Sureness(row["sureness"]),
            found, say(row["why"], numbers), self.name, quantities, numbers,
            () if rows is None else cell_names(rows),
        )  # fmt: skip

    def relative_step(self, name: str) -> float:
        """Return the usual resolution of a quantity's values over them, 0 for exact ones."""
        values = self.table[name].abs()
        known = values > 0.0
        steps = self.resolutions[name][known] / values[known]
        return float(np.median(steps)) if known.any() else 0.0

    def means(self, name: str) -> pd.DataFrame:
        """Return a quantity's mean per cell; `step` is its resolution, `finest` its last digit."""
        rows = self.table[[*CELL, name]].dropna(subset=[name])
        rows = rows.assign(step=self.resolutions[name], finest=self.steps[name])
        cells = rows.groupby(list(CELL), as_index=False, sort=True)
        return cells[[name, "step", "finest"]].mean()


def samples_of(dataset: Dataset) -> Iterator[Sample]:
    """Yield the datasets of a file."""
    n_cpus = dataset.mapping.host.get("cpus")
    # In tables of copycost, the mean service time is the window over the messages.
    defined = frozenset({"latency"} if dataset.copycost_cells is not None else ())
    known = (*dataset.table, *BY_NAME, *(f"{name}_per_byte" for name in TOTALS))
    whole = dataset.table.reindex(columns=list(dict.fromkeys(known)))
    for name, table in whole.groupby("dataset", sort=False):
        steps = dataset.steps.loc[table.index].reset_index(drop=True)
        table = table.reset_index(drop=True)
        resolutions = pd.DataFrame({column: _resolution(table[column], steps[column])
                                    for column in steps}, index=steps.index)  # fmt: skip
        yield Sample(str(name), table, steps, resolutions, int(n_cpus) if n_cpus else None, defined)


def _resolution(column: pd.Series, last_digits: pd.Series) -> FloatArray:
    """Return the step that each value of a quantity was rounded to, NaN where there is none.

    That is its last digit as written, unless all values end in zeros, or none has more than so
    many digits that are not 0: 880000000 beside 1780000000 has three digits, not nine.
    """
    values = np.abs(column.to_numpy(dtype=np.float64))
    steps = last_digits.to_numpy(dtype=np.float64)
    rounded = np.maximum(steps, _common_step(values, steps))
    known = (values > 0.0) & (steps > 0.0)
    if known.any():
        units = np.round(values[known] / steps[known])
        digits = max(len(str(int(unit)).rstrip("0")) for unit in units)
        exponents = np.floor(np.log10(np.where(known, values, 1.0)))
        rounded = np.maximum(rounded, np.where(known, 10.0 ** (exponents - digits + 1), 0.0))
    return np.where(np.isnan(values), np.nan, rounded)


def _common_step(values: FloatArray, steps: FloatArray) -> float:
    """Return the largest power of ten times the finest step that divides every value."""
    known = (values != 0.0) & ~np.isnan(values)
    finest = steps[known].min(initial=math.inf)
    if not math.isfinite(finest) or finest <= 0.0:
        return 0.0
    units = np.round(values[known] / finest)
    factor = 1.0
    while factor < 1e12 and np.all(units % (factor * 10.0) == 0.0):
        factor *= 10.0
    return float(finest * factor)


def by_chance(n_hits: int, expected: float, of: int | None = None) -> float:
    """Return the probability of so many coincidences or more where so many are expected.

    They are Poisson distributed, or, `of` so many tries, binomially.
    """
    if of is None:
        return float(special.pdtrc(n_hits - 1, expected))
    return float(special.bdtrc(n_hits - 1, of, expected / of))


def all_by_chance(n_values: int, share: float) -> bool:
    """Tell whether chance puts so many values all into a place that has this share of the room."""
    return n_values * math.log10(min(share, 1.0)) > math.log10(CHANCE)


def solve(matrix: FloatArray, values: FloatArray) -> FloatArray:
    """Return the coefficients of the least squares, of columns of any scale."""
    norms = np.linalg.norm(matrix, axis=0)
    scaled, *_ = np.linalg.lstsq(matrix / norms, values, rcond=None)
    found: FloatArray = scaled / norms
    return found
