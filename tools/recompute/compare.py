"""Tables, and what the records give for them: a line for each number that differs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

EXACT = 1e-9
"""Share by which two ways of adding up the same may differ."""


def read_table(results: Path, name: str) -> pd.DataFrame | None:
    """Return a table of a run; None where there is none."""
    path = results / "tables" / f"{name}.csv"
    return pd.read_csv(path, low_memory=False) if path.is_file() else None


def wrong_table(
    told: pd.DataFrame | None,
    found: pd.DataFrame,
    name: str,
    key: Sequence[str],
    within: tuple[float, float] = (EXACT, 1e-300),
) -> Iterator[str]:
    """Yield where a table, a row per `key`, differs from what was found, in columns of both.

    Columns of `found` that end with ``_scatter`` tell by how much the ones before it may differ;
    all others are to agree to a share or to a value.
    """
    if found.empty and (told is None or told.empty):
        return
    if told is None or len(told) != len(found):
        yield f"{name}: {0 if told is None else len(told)} rows, {len(found)} records"
        return
    said, made = (rows.set_index(list(key)) for rows in (told, found))
    if not (said.index.is_unique and said.index.sort_values().equals(made.index.sort_values())):
        yield f"{name}: other rows than the records, by {', '.join(key)}"
        return
    made = made.reindex(said.index)
    for column in said.columns.intersection(made.columns):
        one, other = said[column], made[column]
        if pd.api.types.is_numeric_dtype(one) and not pd.api.types.is_string_dtype(other):
            one, other = one.astype(float), other.astype(float)
            most = other.abs() * within[0] + within[1] + made.get(f"{column}_scatter", 0.0)
            wrong = ((one - other).abs() > most) | (one.isna() != other.isna())
        else:
            one, other = (
                each.astype(object).where(each.notna(), "").map(str) for each in (one, other)
            )
            wrong = one != other
        for at in one.index[wrong]:
            place = ", ".join(f"{name} {value}" for name, value in zip(key, at, strict=True))
            yield f"{name}: {place}: {column} is {one[at]}, recomputed {other[at]}"


def differs(
    place: str, told: float | None, found: float | None, within: float = 0.0
) -> Iterator[str]:
    """Yield a line where two numbers differ by more than `EXACT` and a further amount."""
    said, made = (np.nan if one is None else float(one) for one in (told, found))
    if np.isnan(said) and np.isnan(made):
        return
    if not abs(said - made) <= EXACT * abs(made) + 1e-300 + within:
        yield f"{place} is {told}, recomputed {found}"
