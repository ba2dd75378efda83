"""Quantities that a table has, and those that follow from others that it has."""

import numpy as np
import pandas as pd

from copycost.audit.dataset import moved_bytes
from copycost.audit.quantities import BYTES, COUNTERS, DURATION, MESSAGES, SIZE, THROUGHPUT

TOTALS = (*COUNTERS, "cpu_time")
"""Quantities that are totals over a run, where their name does not say of what."""

_PER_BYTE, _PER_MESSAGE = "_per_byte", "_per_message"


def quantity(table: pd.DataFrame, name: str) -> pd.Series:
    """Return a quantity of each row: as told, else as it follows from others, else NaN.

    Counts per byte and per message follow from each other with the message's size, and from
    totals with the bytes and messages of the row; those follow from throughput and duration.

    Parameters
    ----------
    table
        As of a `Dataset`, in SI units.
    """
    if name.endswith(_PER_BYTE):
        return _per_byte(table, name.removesuffix(_PER_BYTE))
    if name.endswith(_PER_MESSAGE):
        return _per_message(table, name.removesuffix(_PER_MESSAGE))
    told = _column(table, name)
    if told.notna().all():
        return told
    if name == BYTES:
        return moved_bytes(table)
    if name == MESSAGES:
        return messages_of(table)
    if name == THROUGHPUT:
        duration = _column(table, DURATION)
        return told.fillna(moved_bytes(table) * 8.0 / duration.where(duration > 0.0))
    return told


def messages_of(table: pd.DataFrame) -> pd.Series:
    """Return the messages of each row: as told, or from its bytes."""
    return _column(table, MESSAGES).fillna(moved_bytes(table) / table[SIZE])


def follows_from_others(name: str) -> bool:
    """Tell whether a quantity is one that totals and bytes would give."""
    return name.endswith((_PER_BYTE, _PER_MESSAGE))


def per_byte(name: str) -> str:
    """Return the name of a total's cost per byte."""
    return f"{name}{_PER_BYTE}"


def _per_byte(table: pd.DataFrame, name: str) -> pd.Series:
    moved = moved_bytes(table)
    told = _column(table, f"{name}{_PER_BYTE}")
    by_message = _column(table, f"{name}{_PER_MESSAGE}") / table[SIZE]
    total = _column(table, name) / moved.where(moved > 0.0)
    return told.fillna(by_message).fillna(total)


def _per_message(table: pd.DataFrame, name: str) -> pd.Series:
    messages = messages_of(table)
    told = _column(table, f"{name}{_PER_MESSAGE}")
    by_byte = _column(table, f"{name}{_PER_BYTE}") * table[SIZE]
    total = _column(table, name) / messages.where(messages > 0.0)
    return told.fillna(by_byte).fillna(total)


def _column(table: pd.DataFrame, name: str) -> pd.Series:
    return table[name] if name in table else pd.Series(np.nan, index=table.index)
