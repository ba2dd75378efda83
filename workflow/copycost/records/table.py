"""Tidy tables: their checker and their files.

A table's `Definition`, which stands beside the code that makes it, is the only one: what is
written, what is read, what is checked and what the documentation says all follow it. Where none is
named, it is that of the table of cells.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from copycost.config.conditions import Condition
from copycost.errors import DataError
from copycost.records.column import KEY, Column, Definition
from copycost.records.columns import CELLS
from copycost.records.derive import Row, derive_row
from copycost.records.files import replaced_whole, unread
from copycost.records.reading import read_all

_N_SHOWN = 3


def make_table(rows: Iterable[Row], definition: Definition = CELLS) -> pd.DataFrame:
    """Return the rows as a table with the defined columns and dtypes, sorted by key."""
    gathered = list(rows)
    columns = {
        column.name: _series(column, [row.get(column.name) for row in gathered])
        for column in definition.columns
    }
    table = pd.DataFrame(columns)
    if definition.order:
        table = table.sort_values(definition.order, kind="stable", ignore_index=True)
    check_table(table, f"the {definition.what}", definition)
    return table


def _series(column: Column, values: list[object]) -> pd.Series:
    try:
        if column.dtype == "float64":
            numbers = [np.nan if value is None else value for value in values]
            return pd.Series(np.array(numbers, dtype=np.float64))
        if column.dtype == "int64" and None in values:
            raise DataError(f"column {column.name}: a value is missing; expected one in every row")
        return pd.Series(values, dtype=column.dtype)
    except OverflowError as error:
        raise DataError(
            f"column {column.name}: a number is too large; expected one of 64 bits"
        ) from error


def collect_tables(paths: Iterable[Path], csv: Path, parquet: Path) -> pd.DataFrame:
    """Write the table of cells of the grid's records, as CSV and as Parquet, and return it.

    It has a row per path, which says which repetition it has to be; that of a failed one where a
    record is lost.
    """
    table = make_table(read_all(paths, derive_row))
    write_table(table, csv, parquet)
    return table


def write_table(
    table: pd.DataFrame, csv: Path, parquet: Path | None, definition: Definition = CELLS
) -> None:
    """Check a table and write it, as CSV and maybe as Parquet, each file whole or not at all."""
    table = _typed(table, definition)
    check_table(table, f"the {definition.what} to be written", definition)
    for path, write in ((csv, table.to_csv), (parquet, table.to_parquet)):
        if path is None:
            continue
        with replaced_whole(path, "the table cannot be written", "the records are kept") as partial:
            write(partial, index=False)


def read_table(path: Path, definition: Definition = CELLS) -> pd.DataFrame:
    """Read a table from ``.csv`` or ``.parquet`` and check it."""
    try:
        table = _read(path, definition)
        check_table(table, str(path), definition)
    except DataError:
        unread.append(path)
        raise
    return table


def read_columns(path: Path, definition: Definition, names: Collection[str]) -> pd.DataFrame:
    """Read some columns of a ``.csv`` table, whatever others it has, and check these.

    A release may add columns; what it keeps can still be compared with another one's.
    """
    columns = tuple(column for column in definition.columns if column.name in names)
    part = replace(definition, columns=columns)
    table = _read(path, part, lambda name: name in names)
    table = table[[name for name in part.names if name in table]]
    check_table(table, str(path), part)
    return table


def _read(
    path: Path, definition: Definition, wanted: Callable[[str], bool] | None = None
) -> pd.DataFrame:
    try:
        if path.suffix != ".csv":
            return _typed(pd.read_parquet(path), definition)
        return pd.read_csv(
            path,
            dtype={column.name: column.dtype for column in definition.columns},
            usecols=wanted,
            # an implementation may be called "null"; only the empty field means that there is none
            keep_default_na=False,
            na_values=[""],
        )
    except (OSError, ValueError, KeyError, OverflowError) as error:
        raise DataError(
            f"{path}: not readable as a {definition.what} ({error}); delete it, and the next run "
            "makes it again from the records"
        ) from error


def _typed(table: pd.DataFrame, definition: Definition) -> pd.DataFrame:
    """Return a table with texts as texts: other libraries, and no rows at all, make objects."""
    return table.astype(
        {
            column.name: column.dtype
            for column in definition.columns
            if column.name in table.columns and (column.dtype == "str" or table.empty)
        }
    )


def check_table(table: pd.DataFrame, where: str, definition: Definition = CELLS) -> None:
    """Check a table against its definition; DataError has every broken rule and its first rows.

    The rules: the columns are those defined, in that order, with their dtypes; keys are unique;
    values are there where they must be; texts are among the allowed ones; numbers are finite and
    within their bounds; a repetition that was not measured has a reason and no values; rows are
    sorted.
    """
    problems = _column_problems(table, definition) or [
        f"{sentence} for {_rows(table, which, definition)}"
        for sentence, which in _breaches(table, definition)
        if which.any()
    ]
    by = definition.order
    if not problems and by and not table.sort_values(by, kind="stable").index.equals(table.index):
        problems = [f"the rows are not sorted by {', '.join(by)}"]
    if problems:
        raise DataError(f"{where}: " + "; ".join(problems))


def _column_problems(table: pd.DataFrame, definition: Definition) -> list[str]:
    expected, found = list(definition.names), list(table.columns)
    missing = [name for name in expected if name not in found]
    unknown = [name for name in found if name not in expected]
    if missing or unknown:
        return [
            f"columns missing: {', '.join(missing) or 'none'}, "
            f"columns unknown: {', '.join(unknown) or 'none'}"
        ]
    if found != expected:
        return ["the columns are not in the defined order"]
    return [
        f"column {column.name} is {table[column.name].dtype}, must be {column.dtype}"
        for column in definition.columns
        if str(table[column.name].dtype) != column.dtype
    ]


def _breaches(table: pd.DataFrame, definition: Definition) -> Iterator[tuple[str, pd.Series]]:
    """Yield what is wrong with some rows, in words that "for" follows, and which they are."""
    yield "more than one row", table[list(definition.key)].duplicated(keep=False)
    for column in definition.columns:
        values = table[column.name]
        if not column.nullable:
            yield f"{column.name} is missing", values.isna()
        wrong, must_be = np.zeros(len(table), dtype=bool), ""
        if column.allowed is not None:
            wrong = (values.notna() & ~values.isin(column.allowed)).to_numpy()
            must_be = f"one of {', '.join(column.allowed)}"
        if column.dtype in ("int64", "float64"):
            numbers, must_be = values.to_numpy(), "finite"  # 150 columns of it take a Series long
            wrong = np.isinf(numbers)
            if column.lowest is not None:
                wrong |= numbers < column.lowest
                must_be += f" and not below {column.lowest}"
            if column.highest is not None:
                wrong |= numbers > column.highest
                must_be += f" and not above {column.highest}"
        if wrong.any():
            first = values[wrong].iloc[0]
            shown = repr(first) if isinstance(first, str) else first
            which = pd.Series(wrong, index=table.index)
            yield f"{column.name} is {shown}, must be {must_be},", which
    if not {"status", "reason"} <= set(definition.names):
        return  # only what was measured has such rows
    missing = table["status"] != "measured"
    yield "no reason for what was not measured", missing & table["reason"].isna()
    for column in definition.columns if missing.any() else ():
        if not column.always:
            present = missing & table[column.name].notna()
            yield f"{column.name} has a value though nothing was measured", present


def _rows(table: pd.DataFrame, which: pd.Series, definition: Definition) -> str:
    """Return the keys of the first few rows that are marked, and how many more there are."""
    marked = table.loc[which, list(definition.key)]
    shown = ", ".join(map(_name, marked.head(_N_SHOWN).to_dict("records")))
    more = len(marked) - _N_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _name(key: Mapping[Hashable, Any]) -> str:
    """Return a row's name: a repetition in short, any other row by its key."""
    parts = []
    if set(KEY) <= key.keys():
        place = (key[name] for name in ("testbed", "working_set", "receiver", "placement"))
        slug = Condition(*place).slug
        cell = f"{slug}/{key['implementation']}/{key['msg_bytes']} B"
        parts = [f"{cell}/{key['n_threads']} threads/rep {key['rep']}"]
    parts += [f"{name} {value}" for name, value in key.items() if not parts or name not in KEY]
    return "/".join(parts)
