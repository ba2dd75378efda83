"""Values by cell and round, and what one cell says of a claim."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from copycost.audit.claims.vocabulary import Claim
from copycost.audit.dataset import Dataset
from copycost.audit.mapping import implementation_name
from copycost.audit.plausibility.finding import plain_number
from copycost.audit.quantities import (
    DATASET,
    IMPLEMENTATION,
    REP,
    SIZE,
    THREADS,
    base_of,
    words_of,
)
from copycost.stats.settings import FloatArray
from copycost.wording.filters import gbps, n_threads, size

Key = tuple[str, str, int, int]
"""Dataset, implementation, message size [bytes], threads."""


class Outcome(StrEnum):
    """What one cell says."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    OPEN = "open"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one cell says of a claim.

    Attributes
    ----------
    outcome
        In one word.
    text
        The cell and its numbers in words.
    once
        Whether it rests on a single round.
    reason
        What to say instead of a count of cells, empty for that.
    required
        Whether the claim names the cell, so that it cannot do without it.
    """

    outcome: Outcome
    text: str
    once: bool = False
    reason: str = ""
    required: bool = False


class CellValues:
    """One quantity of a dataset by cell; each cell an array over the rounds, NaN where missing."""

    def __init__(self, dataset: Dataset, metric: str) -> None:
        """Gather the values of `metric`."""
        self.metric = metric
        self._values: dict[Key, FloatArray] = {}
        table = dataset.table
        if metric in table:
            wide = table.pivot(index=[DATASET, IMPLEMENTATION, SIZE, THREADS], columns=REP,
                               values=metric)  # fmt: skip
            wide = wide.dropna(how="all")
            self._values = {
                (str(key[0]), str(key[1]), int(key[2]), int(key[3])): row
                for key, row in zip(wide.index, wide.to_numpy(dtype=np.float64), strict=True)
            }

    def __contains__(self, key: Key) -> bool:
        """Tell whether a cell was measured."""
        return key in self._values

    def rounds(self, key: Key) -> FloatArray:
        """Return a cell's values, one per round."""
        return self._values[key]

    def median(self, key: Key) -> float:
        """Return a cell's median."""
        return float(np.nanmedian(self._values[key]))

    @property
    def keys(self) -> list[Key]:
        """Return the cells that were measured, in order."""
        return sorted(self._values)

    def text(self, key: Key) -> str:
        """Return a cell's median with its unit."""
        return value_text(self.metric, self.median(key))


def value_text(metric: str, value: float) -> str:
    """Return a value of a quantity as a sentence has it: ``34.89 Gbit/s``, ``96.62 µs``."""
    kind = base_of(metric).kind
    if metric == "throughput":
        return gbps(value, 4)
    if kind == "time" and metric == base_of(metric).name:
        for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if value >= factor:
                return f"{plain_number(value / factor)} {unit}"
        return f"{plain_number(value / 1e-9)} ns"
    return f"{plain_number(value)} {words_of(metric)}"


def place(msg_bytes: int | None, threads: int | None) -> str:
    """Return where a cell is: ``at 64 KiB with 8 threads``."""
    parts = []
    if msg_bytes is not None:
        parts.append(f"at {size(msg_bytes)}")
    if threads is not None:
        parts.append(f"with {n_threads([threads])}")
    return " ".join(parts)


def known_names(dataset: Dataset, names: Iterable[str]) -> list[str]:
    """Return implementations as the table calls them, however a claim calls them."""
    return [
        name
        if name in set(dataset.implementations.values())
        else dataset.implementations.get(name, implementation_name(name, dataset.mapping))
        for name in names
    ]


def in_scope(keys: Sequence[Key], claim: Claim) -> list[Key]:
    """Return the cells that a claim is about, sizes and threads as it says."""
    return [
        key
        for key in keys
        if (not claim.sizes or key[2] in claim.sizes)
        and (not claim.threads or key[3] in claim.threads)
        and (claim.dataset is None or key[0] == claim.dataset)
    ]


def counted_nothing(dataset: Dataset, metric: str) -> Ruling | None:
    """Return the ruling on a quantity that the file lacks, or that reads 0 throughout."""
    if not dataset.has(metric):
        return Ruling(Outcome.NOT_MEASURED, "", reason=f"The file has no {words_of(metric)}.")
    values = dataset.table[metric].dropna()
    if base_of(metric).kind != "share" and bool((values == 0.0).all()):
        return Ruling(
            Outcome.NOT_MEASURED,
            "",
            reason=f"The column of {words_of(metric)} is 0 in every cell, so it was not counting; "
            "nothing follows from it.",
        )
    return None
