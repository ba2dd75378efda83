"""Values by cell and round, and what one cell says of a claim."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from copycost.audit.claims.vocabulary import Claim
from copycost.audit.dataset import Dataset
from copycost.audit.mapping import implementation_name
from copycost.audit.message import Message
from copycost.audit.plausibility import Finding
from copycost.audit.quantities import DATASET, IMPLEMENTATION, REP, SIZE, THREADS, base_of
from copycost.audit.wording import cell_name, place, value_with_unit
from copycost.stats.ratios import Ratio
from copycost.stats.settings import FloatArray

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
    evidence
        The cell and its numbers, or the finding on a column; None for nothing to show.
    once
        Whether it rests on a single round.
    reason
        What to say instead of a count of cells, None for that.
    required
        Whether the claim names the cell, so that it cannot do without it.
    """

    outcome: Outcome
    evidence: Message | Finding | None = None
    once: bool = False
    reason: Message | None = None
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

    def log_ratios(self, key: Key, other: Key) -> FloatArray:
        """Return the logarithms of one cell's values over another's, not finite where a 0 is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs: FloatArray = np.log(self._values[key]) - np.log(self._values[other])
        return logs

    def median(self, key: Key) -> float:
        """Return a cell's median."""
        return float(np.nanmedian(self._values[key]))

    @property
    def keys(self) -> list[Key]:
        """Return the cells that were measured, in order."""
        return sorted(self._values)

    def text(self, key: Key) -> str:
        """Return a cell's median with its unit."""
        return value_with_unit(self.metric, self.median(key)) if key in self else "not measured"

    def evidence(self, keys: Sequence[Key], found: Ratio | None = None) -> Message:
        """Return some cells with their values, and the ratio of the first to the second."""
        places = {place(*key[2:]) for key in keys}
        shared = len(places) == 1
        names = [key[1] if shared else f"{cell_name(*key[1:])}:" for key in keys]
        numbers: dict[str, object] = {
            "place": places.pop() if shared else None,
            "sides": [f"{name} {self.text(key)}" for name, key in zip(names, keys, strict=True)],
        }
        if found is None or np.isnan(found.value):
            return Message("values_at" if shared else "values_of", numbers)
        known = bool(np.isfinite([found.low, found.high]).all())
        numbers |= {
            "ratio": found.value,
            "low": found.low if known else None,
            "high": found.high if known else None,
        }
        return Message("ratio_at" if shared else "ratio_of", numbers)


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
    about = {"quantities": [metric]}
    if not dataset.has(metric):
        return Ruling(Outcome.NOT_MEASURED, reason=Message("no_column", about))
    values = dataset.table[metric].dropna()
    if base_of(metric).kind != "share" and bool((values == 0.0).all()):
        return Ruling(Outcome.NOT_MEASURED, reason=Message("not_counting", about))
    return None
