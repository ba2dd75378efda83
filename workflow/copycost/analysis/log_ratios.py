"""Log values under one condition by implementation, size, thread count and round."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray

AXES = ("implementation", "msg_bytes", "n_threads", "rep")


def logarithms(values: FloatArray) -> FloatArray:
    """Return natural logarithms; NaN of what is not positive."""
    logs: FloatArray = np.log(values, out=np.full(values.shape, np.nan), where=values > 0.0)
    return logs


def with_windows_beside(rows: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Return rows of a table, and one for each window of a reference beside another implementation.

    The latter have the columns of `key`, by which a table's cells are told apart, those that have a
    ``reference_`` one, the status ``measured``, and numbers after those of the reference's own
    repetitions, of which it has few. A reference that has no row of its own in a cell gets none.
    """
    if "reference" not in rows:
        return rows
    names = {f"reference_{name}": name for name in rows if f"reference_{name}" in rows}
    paired = (rows["status"] == "measured") & rows["reference"].notna()
    others = rows[paired & (rows["reference"] != rows["implementation"])]
    others = others.sort_values(["implementation", "rep"])
    beside = others[[*key, *names]].rename(columns=names).assign(status="measured")
    beside["implementation"] = others["reference"]
    last = rows.groupby([*key])["rep"].max().rename("last").reset_index()
    of_cells = beside.merge(last, on=[*key])
    of_cells["rep"] = of_cells.pop("last") + of_cells.groupby([*key]).cumcount() + 1
    return pd.concat([rows, of_cells], ignore_index=True)


class LogCube:
    """The measured rows under one condition, one table per metric, made when first asked for.

    Implementations are compared by what each is relative to the reference that its repetition
    measured beside it, milliseconds apart; where a cell has no reference, by their values in
    repetitions of the same number. With a column per repetition, each comparison is one
    subtraction. All methods return tables with one column per rep, NaN where a repetition
    lacks a positive value on either side, and without rows that have no repetition.
    """

    def __init__(self, measured: pd.DataFrame) -> None:
        """Look at the measured rows of the cells table, under one condition."""
        self._rows = measured
        self._tables: dict[str, dict[str, pd.DataFrame]] = {}

    @property
    def implementations(self) -> list[str]:
        """Those that were measured, references included, sorted."""
        return sorted({*self._rows["implementation"], *self._references.dropna()})

    @cached_property
    def _references(self) -> pd.Series:
        """The implementation that each row was measured beside; nothing in tables of others."""
        return self._rows.get("reference", pd.Series(index=self._rows.index, dtype=object))

    def _logs(self, metric: str) -> FloatArray:
        return logarithms(self._rows[metric].to_numpy(dtype=np.float64, na_value=np.nan))

    def _table(self, logs: FloatArray) -> pd.DataFrame:
        """Return values of the rows: index (implementation, msg_bytes, n_threads), column rep."""
        places = pd.MultiIndex.from_arrays([self._rows[axis].tolist() for axis in AXES], names=AXES)
        return pd.Series(logs, places).unstack()

    def _own(self, metric: str) -> dict[str, pd.DataFrame]:
        """Return the logarithms by implementation: index (msg_bytes, n_threads), column rep."""
        if metric not in self._tables:
            self._tables[metric] = _by_implementation(self._table(self._logs(metric)))
        return self._tables[metric]

    def _relative(self, metric: str) -> dict[str, pd.DataFrame]:
        """Return the logarithms less the reference's, like `_own`.

        In cells that have a reference, it is itself 0 in every repetition: its own repetitions are
        the control, and enter no comparison. A cell has one reference; repetitions with another
        one, from before the configuration changed, are left out. In cells without a reference, the
        logarithms themselves.
        """
        if f"reference_{metric}" not in self._rows:
            return self._own(metric)
        if f"relative {metric}" not in self._tables:
            cell, beside = [*AXES[1:3]], self._logs(f"reference_{metric}")
            paired = self._rows[np.isfinite(beside) & self._references.notna()]
            references = paired.groupby(cell)["reference"].max()
            here = references.reindex(pd.MultiIndex.from_frame(self._rows[cell])).to_numpy()
            own = self._logs(metric)
            logs = np.where(self._references.to_numpy() == here, own - beside, np.nan)
            table = self._table(np.where(pd.isna(here), own, logs))
            if len(references):
                at = references.reset_index()[["reference", *cell]]
                index = pd.MultiIndex.from_frame(at, names=AXES[:3])
                table = pd.DataFrame(0.0, index, table.columns).combine_first(table)
            self._tables[f"relative {metric}"] = _by_implementation(table)
        return self._tables[f"relative {metric}"]

    @cached_property
    def _every_window(self) -> "LogCube":
        """The same with what a reference came to beside others as repetitions of its own."""
        if self._references.isna().all():
            return self
        return LogCube(with_windows_beside(self._rows, AXES[:3]).drop(columns="reference"))

    def pair(self, metric: str, implementation: str, baseline: str) -> pd.DataFrame:
        """Return one implementation over another: index (msg_bytes, n_threads)."""
        one, other = (self.relative(metric, name) for name in (implementation, baseline))
        return _known(one - other)

    def levels(
        self, metric: str, implementation: str, baseline: str
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return two implementations' logarithms, whose difference is that of `pair`.

        That is the first one's own, and what the second came to beside it; where the first is the
        reference, also what it came to beside the second.
        """
        logs, every = self.pair(metric, implementation, baseline), self._own(metric)
        parts = (_part(every, name) for name in (implementation, baseline))
        own, other = (part.reindex_like(logs) for part in parts)
        above = own.fillna(other + logs)
        return above, above - logs

    def values(self, metric: str, implementation: str) -> pd.DataFrame:
        """Return one implementation's own logarithms: index (msg_bytes, n_threads).

        Of a reference, those of all its windows, also beside other implementations.
        """
        every = self._every_window
        return _part(every._own(metric), implementation)

    def relative(self, metric: str, implementation: str) -> pd.DataFrame:
        """Return what differs between implementations as `pair` does: index as of `values`."""
        return _part(self._relative(metric), implementation)

    def side_by_side(
        self, metric: str, implementations: Sequence[str], cells: Sequence[tuple[int, int]]
    ) -> FloatArray:
        """Return `relative` of several in cells of a size and threads: (names, cells, reps)."""
        index = pd.MultiIndex.from_tuples(cells, names=AXES[1:3])
        tables = [self.relative(metric, name).reindex(index) for name in implementations]
        return np.array(tables or np.empty((0, len(cells), 0)), dtype=np.float64)

    def threads(self, metric: str, implementation: str, more: int, fewer: int) -> pd.DataFrame:
        """Return one thread count over another, of one implementation: index msg_bytes."""
        return _along("n_threads", self.values(metric, implementation), more, fewer)

    def sizes(self, metric: str, implementation: str, larger: int, smaller: int) -> pd.DataFrame:
        """Return one size over another, of one implementation: index n_threads."""
        return _along("msg_bytes", self.values(metric, implementation), larger, smaller)


def _by_implementation(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    parts = table.groupby(level=0)
    return {str(name): _known(part.droplevel(0)) for name, part in parts}


def _part(tables: dict[str, pd.DataFrame], implementation: str) -> pd.DataFrame:
    """Return the table of one implementation; one without rows where it was not measured."""
    if implementation in tables:
        return tables[implementation]
    index = pd.MultiIndex.from_arrays([[], []], names=AXES[1:3])
    return next((one.iloc[:0] for one in tables.values()), pd.DataFrame(index=index))


def _known(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that have any values."""
    known = ~np.isnan(table.to_numpy()).all(axis=1)
    return table if known.all() else table[known]


def _along(axis: str, logs: pd.DataFrame, upper: int, lower: int) -> pd.DataFrame:
    places = logs.index.get_level_values(axis)
    above, below = (logs[places == place].droplevel(axis) for place in (upper, lower))
    return _known(above - below)
