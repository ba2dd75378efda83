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
    """The measured rows under one condition, one array per metric, made when first asked for.

    Implementations are compared by what each is relative to the reference that its repetition
    measured beside it, milliseconds apart; where a cell has no reference, by their values in
    repetitions of the same number. With the repetitions along an axis of their own, each comparison
    is one subtraction. All methods return tables with one column per rep, NaN where a repetition
    lacks a positive value on either side, and without rows that have no repetition.
    """

    def __init__(self, measured: pd.DataFrame) -> None:
        """Look at the measured rows of the cells table, under one condition."""
        self._rows = measured
        self._cubes: dict[str, FloatArray] = {}

    @property
    def implementations(self) -> list[str]:
        """Those that were measured, references included, sorted."""
        return [str(name) for name in self._labels["implementation"]]

    @cached_property
    def _labels(self) -> dict[str, pd.Index]:
        """What stands along each axis, sorted."""
        found = {axis: set(self._rows[axis].tolist()) for axis in AXES}
        found["implementation"].update(self._references.dropna())
        return {axis: pd.Index(sorted(labels), name=axis) for axis, labels in found.items()}

    @cached_property
    def _references(self) -> pd.Series:
        """The implementation that each row was measured beside; nothing in tables of others."""
        return self._rows.get("reference", pd.Series(index=self._rows.index, dtype=object))

    @cached_property
    def _positions(self) -> tuple[np.ndarray, ...]:
        return tuple(
            self._labels[axis].get_indexer(pd.Index(self._rows[axis].tolist())) for axis in AXES
        )

    @cached_property
    def _cells(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_product([self._labels["msg_bytes"], self._labels["n_threads"]])

    def _cube(self, metric: str) -> FloatArray:
        """Return the logarithms, shape (implementations, sizes, thread counts, reps)."""
        if metric not in self._cubes:
            self._cubes[metric] = self._placed(self._logs(metric))
        return self._cubes[metric]

    def _logs(self, metric: str) -> FloatArray:
        return logarithms(self._rows[metric].to_numpy(dtype=np.float64, na_value=np.nan))

    def _placed(self, values: FloatArray) -> FloatArray:
        cube = np.full([len(self._labels[axis]) for axis in AXES], np.nan)
        cube[self._positions] = values
        return cube

    def _relative_cube(self, metric: str) -> FloatArray:
        """Return the logarithms less the reference's, shaped like `_cube`.

        In cells that have a reference, it is itself 0 in every repetition: its own repetitions are
        the control, and enter no comparison. A cell has one reference; repetitions with another
        one, from before the configuration changed, are left out. In cells without a reference, the
        logarithms themselves.
        """
        if f"reference_{metric}" not in self._rows:
            return self._cube(metric)
        if f"relative {metric}" not in self._cubes:
            logs, beside = self._logs(metric), self._logs(f"reference_{metric}")
            mine = self._labels["implementation"].get_indexer(pd.Index(self._references.tolist()))
            mine[np.isnan(beside)] = -1
            _, sizes, threads, _ = self._positions
            reference = np.full([len(self._labels[axis]) for axis in AXES[1:3]], -1)
            np.maximum.at(reference, (sizes, threads), mine)
            here = reference[sizes, threads]
            logs = np.where(here < 0, logs, np.where(mine == here, logs - beside, np.nan))
            cube = self._placed(logs)
            paired = np.nonzero(reference >= 0)
            cube[(reference[paired], *paired)] = 0.0
            self._cubes[f"relative {metric}"] = cube
        return self._cubes[f"relative {metric}"]

    def pair(self, metric: str, implementation: str, baseline: str) -> pd.DataFrame:
        """Return one implementation over another: index (msg_bytes, n_threads)."""
        cube = self._relative_cube(metric)
        return self._table(self._of(implementation, cube) - self._of(baseline, cube), self._cells)

    def levels(
        self, metric: str, implementation: str, baseline: str
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return two implementations' logarithms, whose difference is that of `pair`.

        That is the first one's own, and what the second came to beside it; where the first is the
        reference, also what it came to beside the second.
        """
        logs = self.pair(metric, implementation, baseline)
        cube = self._cube(metric)
        own, other = (
            self._table(self._of(name, cube), self._cells) for name in (implementation, baseline)
        )
        above = own.reindex_like(logs).fillna(other.reindex_like(logs) + logs)
        return above, above - logs

    def values(self, metric: str, implementation: str) -> pd.DataFrame:
        """Return one implementation's own logarithms: index (msg_bytes, n_threads).

        Of a reference, those of all its windows, also beside other implementations.
        """
        every = self._every_window
        return every._table(every._of(implementation, every._cube(metric)), every._cells)

    def relative(self, metric: str, implementation: str) -> pd.DataFrame:
        """Return what differs between implementations as `pair` does: index as of `values`."""
        return self._table(self._of(implementation, self._relative_cube(metric)), self._cells)

    def _of(self, implementation: str, cube: FloatArray) -> FloatArray:
        """Return one implementation's part of a cube, shape (cells, reps)."""
        names = self._labels["implementation"]
        known = implementation in names
        part = cube[names.get_loc(implementation)] if known else np.full(cube.shape[1:], np.nan)
        return part.reshape(len(self._cells), cube.shape[-1])

    def threads(self, metric: str, implementation: str, more: int, fewer: int) -> pd.DataFrame:
        """Return one thread count over another, of one implementation: index msg_bytes."""
        return self._along("n_threads", "msg_bytes", metric, implementation, more, fewer)

    def sizes(self, metric: str, implementation: str, larger: int, smaller: int) -> pd.DataFrame:
        """Return one size over another, of one implementation: index n_threads."""
        return self._along("msg_bytes", "n_threads", metric, implementation, larger, smaller)

    @cached_property
    def _every_window(self) -> "LogCube":
        """The same with what a reference came to beside others as repetitions of its own."""
        if self._references.isna().all():
            return self
        return LogCube(with_windows_beside(self._rows, AXES[:3]).drop(columns="reference"))

    def _along(
        self, axis: str, other: str, metric: str, implementation: str, upper: int, lower: int
    ) -> pd.DataFrame:
        if self._every_window is not self:
            return self._every_window._along(axis, other, metric, implementation, upper, lower)
        index, along = self._labels[other], self._labels[axis]
        names = self._labels["implementation"]
        if implementation not in names or upper not in along or lower not in along:
            return self._table(np.empty((0, len(self._labels["rep"]))), index[:0])
        square = self._cube(metric)[names.get_loc(implementation)]
        if axis == "n_threads":
            square = square.swapaxes(0, 1)
        return self._table(square[along.get_loc(upper)] - square[along.get_loc(lower)], index)

    def _table(self, differences: FloatArray, index: pd.Index) -> pd.DataFrame:
        table = pd.DataFrame(differences, index=index, columns=self._labels["rep"])
        known = np.flatnonzero(~np.isnan(differences).all(axis=1))
        return table if len(known) == len(table) else table.iloc[known]
