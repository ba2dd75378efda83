"""What a plausibility check looks at, and what it says."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from copycost.audit.dataset import CELL, Dataset
from copycost.audit.quantities import DATASET, IMPLEMENTATION, SIZE, THREADS, base_of, words_of
from copycost.stats.settings import FloatArray
from copycost.wording.filters import significant, size


class Sureness(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    VERY_LIKELY = "very likely"
    POSSIBLE = "possible"


class Kind(StrEnum):
    """What a finding means for the numbers."""

    NO_MEASUREMENT = "no measurement"
    IMPOSSIBLE = "impossible"
    CONTRADICTION = "contradiction"
    NOT_SEPARATE = "not measured separately"
    NOT_COUNTED = "not counted"
    DOUBTFUL = "doubtful"
    WEAK = "weak evidence"


_GRAVITY = tuple(Kind)
_SURE = tuple(Sureness)

REFUTING = (Kind.NO_MEASUREMENT, Kind.IMPOSSIBLE, Kind.NOT_SEPARATE)
"""Kinds that mean, unless only possible, that a column is no measurement of its own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that speaks against numbers being measurements.

    Attributes
    ----------
    check
        Name of the check, as docs/audit.md has it.
    kind, sureness
        What it means, and how sure that is.
    dataset
        The dataset of the file.
    quantities
        Columns concerned, as quantities.
    found
        What was found, a sentence.
    why
        Why that cannot, or hardly, be a measurement; a sentence.
    cells
        The cells that show it, where not all do.
    """

    check: str
    kind: Kind
    sureness: Sureness
    dataset: str
    quantities: tuple[str, ...]
    found: str
    why: str
    cells: tuple[str, ...] = ()

    @property
    def refutes(self) -> bool:
        """Tell whether the columns are, by this, no measurements of their own."""
        return self.kind in REFUTING and self.sureness is not Sureness.POSSIBLE

    @property
    def rank(self) -> tuple[int, int]:
        """Return the order of findings: gravest first, then surest."""
        return _GRAVITY.index(self.kind), _SURE.index(self.sureness)


@dataclass(frozen=True)
class Sample:
    """One dataset of a file.

    Attributes
    ----------
    name
        The dataset's name.
    table, steps
        Its rows of the file's tables, see `Dataset`.
    n_cpus
        CPUs of the host, None where not told.
    """

    name: str
    table: pd.DataFrame
    steps: pd.DataFrame
    n_cpus: int | None

    @property
    def quantities(self) -> list[str]:
        """Return the quantities with a value other than 0."""
        return [
            str(name) for name in self.steps.columns if (self.table[name].fillna(0.0) != 0.0).any()
        ]

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
        values = np.abs(self.table[name].to_numpy(dtype=np.float64))
        steps = self.steps[name].to_numpy(dtype=np.float64)
        common = common_step(values, steps)
        known = (values > 0.0) & (steps > 0.0)
        if not known.any():
            return np.where(np.isnan(values), np.nan, np.maximum(steps, common))
        digits = max(map(_n_digits, np.round(values[known] / steps[known])))
        exponents = np.floor(np.log10(np.where(known, values, 1.0)))
        by_digits = np.where(known, 10.0 ** (exponents - digits + 1), 0.0)
        rounded = np.maximum(np.maximum(steps, common), by_digits)
        return np.where(np.isnan(values), np.nan, rounded)


def _n_digits(units: float) -> int:
    """Return how many digits of a whole number there are before its last zeros."""
    return len(str(int(units)).rstrip("0"))


def samples_of(dataset: Dataset) -> Iterator[Sample]:
    """Yield the datasets of a file."""
    n_cpus = dataset.mapping.host.get("cpus")
    for name in dataset.datasets:
        mine = dataset.table[DATASET] == name
        yield Sample(
            name,
            dataset.table[mine].reset_index(drop=True),
            dataset.steps[mine].reset_index(drop=True),
            int(n_cpus) if n_cpus else None,
        )


def common_step(values: FloatArray, steps: FloatArray) -> float:
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


def cell_name(row: object) -> str:
    """Return a row's cell in words: ``two_copy, 64 KiB, 4 threads``."""
    n_threads = getattr(row, THREADS)
    noun = "thread" if n_threads == 1 else "threads"
    return f"{getattr(row, IMPLEMENTATION)}, {size(getattr(row, SIZE))}, {n_threads} {noun}"


def cell_names(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the cells of some rows in words, each once."""
    return tuple(dict.fromkeys(cell_name(row) for row in rows.itertuples()))


def cell_means(sample: Sample, name: str) -> pd.DataFrame:
    """Return the mean of a quantity per cell; `step` is its resolution, `finest` its last digit."""
    known = sample.table.assign(step=sample.resolution(name), finest=sample.steps[name])
    known = known.dropna(subset=[name])
    return known.groupby(list(CELL), as_index=False, sort=True)[[name, "step", "finest"]].mean()


def plain_number(value: float) -> str:
    """Return a number with up to four digits and no needless zeros: 5, 0.0156, 12,300."""
    text = significant(value, 4)
    return text.rstrip("0").rstrip(".") if "." in text else f"{int(text):,}"


def subject(name: str) -> str:
    """Return a quantity and its verb as a sentence begins: ``Cycles are``, ``Throughput is``."""
    words = words_of(name)
    plural = base_of(name).kind == "count"
    return f"{words[:1].upper()}{words[1:]} {'are' if plural else 'is'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return the first few of some names, and how many more there are."""
    shown = "; ".join(names[:most])
    return f"{shown}; and {len(names) - most} more" if len(names) > most else shown
