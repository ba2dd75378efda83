"""Log values under one condition by implementation, size, thread count and round."""

from functools import cached_property

import numpy as np
import pandas as pd

from copycost.stats.settings import FloatArray

_AXES = ("implementation", "msg_bytes", "n_threads", "rep")


def logarithms(values: FloatArray) -> FloatArray:
    """Return natural logarithms; NaN of what is not positive."""
    logs: FloatArray = np.log(values, out=np.full(values.shape, np.nan), where=values > 0.0)
    return logs


class LogCube:
    """The measured rows under one condition, one array per metric, made when first asked for.

    Comparisons are differences of logarithms in the same round; with the rounds along an axis of
    their own, each is one subtraction. All methods return a table with one column per rep, NaN
    where a round lacks a positive value on either side, and without rows that have no round.
    """

    def __init__(self, measured: pd.DataFrame) -> None:
        """Look at the measured rows of the cells table, under one condition."""
        self._rows = measured
        self._cubes: dict[str, FloatArray] = {}

    @cached_property
    def _labels(self) -> dict[str, list[object]]:
        return {axis: sorted(self._rows[axis].unique().tolist()) for axis in _AXES}

    @cached_property
    def _positions(self) -> tuple[np.ndarray, ...]:
        return tuple(
            np.array([self._index[axis][value] for value in self._rows[axis].tolist()], dtype=int)
            for axis in _AXES
        )

    @cached_property
    def _index(self) -> dict[str, dict[object, int]]:
        return {
            axis: {label: position for position, label in enumerate(labels)}
            for axis, labels in self._labels.items()
        }

    @cached_property
    def _cells(self) -> pd.MultiIndex:
        axes = ["msg_bytes", "n_threads"]
        return pd.MultiIndex.from_product([self._labels[axis] for axis in axes], names=axes)

    def _cube(self, metric: str) -> FloatArray:
        """Return the logarithms, shape (implementations, sizes, thread counts, reps)."""
        if metric not in self._cubes:
            values = self._rows[metric].to_numpy(dtype=np.float64, na_value=np.nan)
            logs = logarithms(values)
            cube = np.full([len(self._labels[axis]) for axis in _AXES], np.nan)
            cube[self._positions] = logs
            self._cubes[metric] = cube
        return self._cubes[metric]

    def pair(self, metric: str, implementation: str, baseline: str) -> pd.DataFrame:
        """Return one implementation over another: index (msg_bytes, n_threads)."""
        index = self._cells
        where = self._index["implementation"]
        if implementation not in where or baseline not in where:
            return self._table(np.empty((0, len(self._labels["rep"]))), index[:0])
        cube = self._cube(metric)
        difference = cube[where[implementation]] - cube[where[baseline]]
        return self._table(difference.reshape(len(index), -1), index)

    def values(self, metric: str, implementation: str) -> pd.DataFrame:
        """Return one implementation's own logarithms: index (msg_bytes, n_threads)."""
        index, where = self._cells, self._index["implementation"]
        if implementation not in where:
            return self._table(np.empty((0, len(self._labels["rep"]))), index[:0])
        return self._table(self._cube(metric)[where[implementation]].reshape(len(index), -1), index)

    def threads(self, metric: str, implementation: str, more: int, fewer: int) -> pd.DataFrame:
        """Return one thread count over another, of one implementation: index msg_bytes."""
        return self._along("n_threads", "msg_bytes", metric, implementation, more, fewer)

    def sizes(self, metric: str, implementation: str, larger: int, smaller: int) -> pd.DataFrame:
        """Return one size over another, of one implementation: index n_threads."""
        return self._along("msg_bytes", "n_threads", metric, implementation, larger, smaller)

    def _along(
        self, axis: str, other: str, metric: str, implementation: str, upper: int, lower: int
    ) -> pd.DataFrame:
        index = pd.Index(self._labels[other], name=other)
        where, along = self._index["implementation"], self._index[axis]
        if implementation not in where or upper not in along or lower not in along:
            return self._table(np.empty((0, len(self._labels["rep"]))), index[:0])
        square = self._cube(metric)[where[implementation]]
        if axis == "n_threads":
            square = square.swapaxes(0, 1)
        return self._table(square[along[upper]] - square[along[lower]], index)

    def _table(self, differences: FloatArray, index: pd.Index) -> pd.DataFrame:
        columns = pd.Index(self._labels["rep"], name="rep")
        table = pd.DataFrame(differences, index=index, columns=columns)
        known = np.flatnonzero(~np.isnan(differences).all(axis=1))
        return table if len(known) == len(table) else table.iloc[known]
