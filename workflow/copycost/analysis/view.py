"""One testbed's cells, as the questions look at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from copycost.analysis.compare import paired_logs
from copycost.analysis.metrics import CostMetric, counted_share
from copycost.stats.ratios import Ratio, paired_ratio
from copycost.stats.settings import StatisticsSettings


@dataclass(frozen=True)
class View:
    """The rows of one testbed and what was meant to be measured there.

    Attributes
    ----------
    testbed
        Its name.
    rows
        Its rows of the cells table, whatever their status.
    summary, ratios
        Its rows of the derived tables.
    implementations, msg_bytes, n_threads
        The grid, as the config has it; sizes [bytes] and thread counts ascending.
    repetitions
        Rounds that the config asks for.
    settings
        Confidence, resamples, seed.
    cost
        What a byte's cost is in this run.
    caches
        Cache sizes of the host [bytes], by l1d_bytes, l2_bytes, llc_bytes; None where unknown.
    """

    testbed: str
    rows: pd.DataFrame
    summary: pd.DataFrame
    ratios: pd.DataFrame
    implementations: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    repetitions: int
    settings: StatisticsSettings
    cost: CostMetric
    caches: dict[str, int | None]

    @cached_property
    def measured(self) -> pd.DataFrame:
        """Return the rows that were measured."""
        return self.rows[self.rows["status"] == "measured"]

    @property
    def is_measured(self) -> bool:
        """Tell whether anything was measured on this testbed."""
        return not self.measured.empty

    def has(self, *implementations: str) -> bool:
        """Tell whether each of these has at least one measured repetition."""
        found = set(self.measured["implementation"])
        return all(name in found for name in implementations)

    def of(self, implementation: str) -> pd.DataFrame:
        """Return the measured rows of one implementation."""
        return self.measured[self.measured["implementation"] == implementation]

    def counted(self, column: str) -> bool:
        """Tell whether a counter counted; one that reads 0 everywhere did not."""
        return counted_share(self.measured, column) > 0.0

    def medians(self, metric: str) -> pd.DataFrame:
        """Return the summary's rows of a metric that have a value."""
        rows = self.summary[self.summary["metric"] == metric]
        return rows[rows["n"] > 0]

    def logs(self, metric: str, implementation: str, baseline: str) -> pd.DataFrame:
        """Return the log ratios round by round: index (msg_bytes, n_threads), columns rep."""
        return paired_logs(self.measured, metric, implementation, baseline)

    def verdicts(self, metric: str, implementation: str, baseline: str) -> pd.DataFrame:
        """Return the rows of the ratios table for one pair and metric."""
        rows = self.ratios
        return rows[
            (rows["metric"] == metric)
            & (rows["implementation"] == implementation)
            & (rows["baseline"] == baseline)
        ]

    def pooled(self, logs: pd.DataFrame) -> Ratio:
        """Return one ratio over many cells: each round's mean over the cells is one replicate.

        Cells of the same round share the state of the machine, so they are not independent;
        rounds are. Only cells that have every round count, or rounds would not be comparable.
        """
        complete = logs.dropna()
        if complete.empty:
            return paired_ratio(np.empty(0), self.settings.confidence)
        return paired_ratio(
            complete.to_numpy(dtype=np.float64).mean(axis=0), self.settings.confidence
        )

    def thread_logs(
        self, metric: str, implementation: str, more: int, fewer: int, sizes: Sequence[int] = ()
    ) -> pd.DataFrame:
        """Return log ratios of one implementation between two thread counts, per size and round."""
        rows = self.of(implementation)
        if sizes:
            rows = rows[rows["msg_bytes"].isin(list(sizes))]
        return _log_table(rows, "n_threads", "msg_bytes", metric, more, fewer)

    def size_logs(
        self, metric: str, implementation: str, larger: int, smaller: int
    ) -> pd.DataFrame:
        """Return log ratios of one implementation between two sizes, per thread count and round."""
        rows = self.of(implementation)
        return _log_table(rows, "msg_bytes", "n_threads", metric, larger, smaller)


def _log_table(
    rows: pd.DataFrame, along: str, index: str, metric: str, upper: int, lower: int
) -> pd.DataFrame:
    tables = []
    for value in (upper, lower):
        table = rows[rows[along] == value].pivot(index=index, columns="rep", values=metric)
        tables.append(table.where(table > 0.0))
    ratios = tables[0] / tables[1]
    logs = np.log(ratios.to_numpy(dtype=np.float64))
    table = pd.DataFrame(logs, index=ratios.index, columns=ratios.columns)
    return table.dropna(how="all").sort_index()
