"""The cells of one condition, as the questions look at them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.conditions import POINT, Studied
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import THROUGHPUT, CostMetric, counted_share
from copycost.analysis.ratio_facts import complete_block, pooled_rounds, together
from copycost.analysis.stats.estimates import Mean, mean_estimate
from copycost.analysis.stats.ratios import Ratio, family_ratios, paired_ratio
from copycost.analysis.stats.settings import FloatArray, StatisticsSettings


@dataclass(frozen=True, kw_only=True)
class View(Studied):
    """What was meant to be measured under one condition, and the rows of it."""

    rows: pd.DataFrame
    """Of the cells table, whatever their status."""
    summary: pd.DataFrame
    ratios: pd.DataFrame
    settings: StatisticsSettings
    cost: CostMetric
    caches: dict[str, int | None]
    """Sizes of the host's [bytes], by l1d_bytes, l2_bytes, llc_bytes; None where unknown."""
    hot: "View | None" = None
    """The same testbed, receiver and placement with one message sent again and again; None where
    this is it, or where it was not measured.
    """

    def per_byte(self, quantity: str) -> str:
        """Return the column with a quantity per byte: of both sides, or of the only one."""
        return f"{'sender' if self.sender_only else 'both'}_{quantity}_per_byte"

    @property
    def cost_column(self) -> str:
        """Return the column with the cost of a byte."""
        return self.per_byte(self.cost.name)

    @property
    def cost_label(self) -> str:
        """Return what a byte's cost is, naming the side where it is only one."""
        return f"sender {self.cost.label}" if self.sender_only else self.cost.label

    @cached_property
    def measured(self) -> pd.DataFrame:
        """Return the rows that were measured."""
        return self.rows[self.rows["status"] == "measured"]

    @property
    def is_measured(self) -> bool:
        """Tell whether anything was measured under this condition."""
        return not self.measured.empty

    @cached_property
    def cube(self) -> LogCube:
        """Return the logarithms of what was measured."""
        return LogCube(self.measured)

    @cached_property
    def _of(self) -> dict[str, pd.DataFrame]:
        """The measured rows by implementation: the questions look at each of them many times."""
        return {str(name): rows for name, rows in self.measured.groupby("implementation")}

    def of(self, implementation: str) -> pd.DataFrame:
        """Return the measured rows of one implementation."""
        return self._of.get(implementation, self.measured.iloc[:0])

    def has(self, *implementations: str) -> bool:
        """Tell whether each of these has at least one measured repetition."""
        return self._of.keys() >= set(implementations)

    def counted(self, column: str) -> bool:
        """Tell whether a counter counted; one that reads 0 everywhere did not."""
        return counted_share(self.measured, column) > 0.0

    def sizes_at(self, n_threads: int, *implementations: str) -> tuple[int, ...]:
        """Return the sizes [bytes] that all of these were to be measured at, ascending.

        Those of the config, and those that were added to it for this number of threads.
        """
        added = [self._sizes.get((n_threads, name), set()) for name in implementations]
        return tuple(sorted(set.intersection(*added).union(self.msg_bytes)))

    @cached_property
    def _sizes(self) -> dict[tuple[int, str], set[int]]:
        groups = self.rows.groupby(["n_threads", "implementation"])["msg_bytes"]
        found: dict[Any, Any] = groups.unique().to_dict()
        return {place: {*map(int, sizes)} for place, sizes in found.items()}

    def medians(self, metric: str) -> pd.DataFrame:
        """Return the summary's rows of a metric that have a value."""
        rows = self.summary[self.summary["metric"] == metric]
        return rows[rows["n"] > 0]

    @cached_property
    def throughput_ratios(self) -> pd.DataFrame:
        """Return the rows of the ratios table whose throughputs were compared."""
        return self.ratios[(self.ratios["metric"] == THROUGHPUT) & (self.ratios["n_pairs"] > 0)]

    def cell_ratios(self, implementation: str, baseline: str) -> dict[tuple[int, int], Ratio]:
        """Return one throughput over another, by size and thread count, judged together."""
        logs = self.cube.pair(THROUGHPUT, implementation, baseline)
        ratios = family_ratios(logs.to_numpy(np.float64), self.settings.confidence)
        return dict(zip(logs.index, ratios, strict=True))

    def pooled(self, logs: pd.DataFrame) -> Ratio:
        """Return one ratio over many cells; see `pooled_rounds`."""
        return paired_ratio(pooled_rounds(logs), self.settings.confidence)

    def together(self, metric: str, implementation: str, baseline: str) -> Facts | None:
        """Return what one implementation has over another in all cells together."""
        return together(self.cube.pair(metric, implementation, baseline), self.settings.confidence)

    def mean(self, part: str, whole: str | None = None) -> Mean | None:
        """Return the mean of a column, or of its share in `whole`, over the cells that have it.

        None where no cell has it in every round that counts (`complete_block`).
        """
        values = self._by_round(part)
        if whole is not None:
            below = self._by_round(whole)
            values = np.divide(values, below, out=np.full(below.shape, np.nan), where=below > 0.0)
        cells, rounds = complete_block(values)
        if not cells.size:
            return None
        return mean_estimate(values[np.ix_(cells, rounds)].mean(axis=0), self.settings)

    def _by_round(self, column: str) -> FloatArray:
        """Return a column, shape (n_cells, n_rounds); NaN where a round lacks the cell."""
        wide = self.measured.pivot(index=POINT, columns="rep", values=column)
        return wide.to_numpy(dtype=np.float64, na_value=np.nan)
