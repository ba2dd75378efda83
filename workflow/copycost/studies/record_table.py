"""From the records of a study to its table, as far as cpu_budget and datagrams go the same way."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from copycost.config.driven import DrivenCell
from copycost.errors import DataError
from copycost.records.consistency import overlaps, require_one_host, require_place, say_overlaps
from copycost.studies.driven.record import read

Cell = TypeVar("Cell", bound=DrivenCell)


def table_of(
    paths: Iterable[Path],
    cells: type[Cell],
    row_of: Callable[[Mapping[str, Any], Cell], dict[str, Any]],
    columns: Iterable[str],
) -> pd.DataFrame:
    """Return one row per record, in the order of the paths.

    Raises
    ------
    DataError
        If a record is of another cell than its path says, not all are of one host, or two were
        measured at the same time.
    """
    rows, places, digests, spans = [], list(paths), [], []
    for path in places:
        record = read(path)
        require_place(path, record)
        rows.append(row_of(record, cells.from_path(str(path))))
        digests.append(record["host_digest"])
        spans.append((record["boot_id"], record["start_ns"], record["end_ns"]))
    require_one_host(digests, places.__getitem__)
    if pairs := overlaps(spans):
        raise DataError(say_overlaps(len(pairs), " and ".join(str(places[at]) for at in pairs[0])))
    return pd.DataFrame(rows, columns=list(columns))


def begin_row(
    record: Mapping[str, Any], key: Mapping[str, Any], columns: Iterable[str]
) -> dict[str, Any]:
    """Return a row with its key and what every record says; NaN in all other columns."""
    row: dict[str, Any] = dict.fromkeys(columns, math.nan)
    row.update(key)
    row.update(
        status=record["status"],
        reason=record["reason"],
        remedy=record["remedy"],
        flags=";".join(sorted({warning["code"] for warning in record["warnings"]})),
    )
    driver = record["driver"]
    if driver is not None:
        row.update(driver_version=driver["version"], process_pairs=driver["process_pairs"])
    return row
