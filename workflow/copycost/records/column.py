"""What is stated of a table and its columns, for writing, reading, checking and documenting it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Any, Literal, TypeVar

from copycost.errors import DataError

_RowT = TypeVar("_RowT", bound=Mapping[str, object])

# int64 and bool columns have a value in every row; boolean, float64 and str may lack it.
DType = Literal["str", "int64", "float64", "bool", "boolean"]

# What names a repetition, in every table of repetitions.
KEY = (
    "study", "testbed", "implementation", "msg_bytes", "n_threads", "working_set", "receiver",
    "placement", "rep",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, its dtype as pandas names it; names and texts have no unit.

    `description` is one sentence without a full stop; `group` is what the column has in common with
    others, for the data dictionary. `nullable` tells whether a value may be missing (in rows that
    were not measured every nullable one is), and `always` whether one may be there although the
    repetition was not measured. Only `allowed` texts may occur, if there are any; numbers lie
    between `lowest` and `highest`, None for no bound.
    """

    name: str
    dtype: DType
    unit: str
    description: str
    group: str = ""
    nullable: bool = True
    always: bool = False
    allowed: tuple[str, ...] | None = None
    lowest: float | None = 0
    highest: float | None = None


def fact(
    name: str,
    dtype: DType,
    unit: str,
    description: str,
    group: str = "",
    allowed: tuple[str, ...] | None = None,
) -> Column:
    """Return a column that has a value in every row, measured or not."""
    return Column(name, dtype, unit, description, group, False, True, allowed)


def number(name: str, unit: str, description: str, **more: Any) -> Column:  # noqa: ANN401
    """Return a column of numbers."""
    return Column(name, "float64", unit, description, **more)


def text(name: str, description: str, **more: Any) -> Column:  # noqa: ANN401
    """Return a column of names or texts."""
    return Column(name, "str", "", description, **more)


def flag(name: str, description: str, **more: Any) -> Column:  # noqa: ANN401
    """Return a column of truths."""
    return Column(name, "boolean", "", description, **more)


def grouped(group: str, *columns: Column) -> tuple[Column, ...]:
    """Return columns that have something in common."""
    return tuple(replace(column, group=group) for column in columns)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a table of ours, called `what` in sentences, holds: its columns in their order.

    Those of the key tell one row from another. Rows are sorted by the columns `sorted_by`; None
    stands for those of the key, none at all for rows in the order of the grid.
    """

    what: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = KEY
    sorted_by: tuple[str, ...] | None = None

    @property
    def order(self) -> list[str]:
        """Names of the columns that rows are sorted by."""
        return list(self.key if self.sorted_by is None else self.sorted_by)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(column.name for column in self.columns)

    def checked(self, row: _RowT) -> _RowT:
        """Return a row whose values, each by itself, are such as its columns may have.

        DataError names the first that is not.
        """
        for column in self.columns:
            value = row.get(column.name)
            if isinstance(value, int | float) and not isnan(value):
                low = column.lowest is not None and value < column.lowest
                high = column.highest is not None and value > column.highest
                if low or high or not isfinite(value):
                    raise DataError(f"{column.name} is {value}, which cannot be")
        return row
