"""The tables of a run against what its raw records give."""

from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.raw import Settings, repetitions, settings_of
from tools.recompute.run import Run

Row = dict[Hashable, Any]

_UNDER = ["testbed", "working_set", "receiver", "placement"]
_CELL = [*_UNDER, "implementation", "msg_bytes", "n_threads"]
_KEY = [*_CELL, "rep"]
_EXACT = 1e-9
_BETTER = {"faster": 1, "cheaper": -1, "fewer": -1}
_WORSE = {"slower": -1, "more expensive": 1, "more": 1}


def wrong_tables(results: Path) -> Iterator[str]:
    """Yield a line for each number of a table that the records do not give."""
    yield from wrong_cells(results)
    yield from wrong_summary(results)
    yield from wrong_ratios(results)


def wrong_cells(results: Path) -> Iterator[str]:
    """Yield where the tables of repetitions differ from the records."""
    for name, study in (("cells", "streams"), ("round_trips", "round_trips")):
        told = _table(results, name)
        found = repetitions(results, study)
        if found.empty and told is None:
            continue
        if told is None or len(told) != len(found):
            yield f"{name}.csv: {0 if told is None else len(told)} rows, {len(found)} records"
            continue
        both = _joined(told, found, _KEY)
        for column in sorted({*map(str, told)} & {*map(str, found)} - {*_KEY}):
            yield from _unequal(both, column, f"{name}.csv", _EXACT)


def wrong_summary(results: Path) -> Iterator[str]:
    """Yield where medians, their intervals or their counts differ."""
    told, cells = _table(results, "summary"), repetitions(results, "streams")
    if told is None or cells.empty:
        return
    settings = settings_of(results)
    by_cell = {_names(key): rows for key, rows in cells.groupby(_CELL)}
    for row in told.to_dict("records"):
        values = by_cell[_names(row[name] for name in _CELL)]
        values = values[values["status"] == "measured"]
        known = values.get(row["metric"], pd.Series(dtype=float)).dropna().to_numpy(float)
        where = f"summary.csv: {_where(row)}, {row['metric']}"
        if row["n"] != len(known):
            yield f"{where}: n is {row['n']}, {len(known)} records have it"
            continue
        if len(known):
            yield from _differs(f"{where}: median", row["median"], np.median(known), _EXACT)
        if len(known) > 1 and known.min() > 0 and not row["metric"].endswith("_share"):
            found = estimates.median(known, settings.confidence)
            for end, value, scatter in (
                ("low", found.low, found.scatter[0]),
                ("high", found.high, found.scatter[1]),
            ):
                tolerance = settings.resampling * scatter / value + _EXACT
                yield from _differs(f"{where}: {end}", row[end], value, tolerance)


def wrong_ratios(results: Path) -> Iterator[str]:
    """Yield where comparisons differ: ratio, interval, p-values, verdict."""
    told, run = _table(results, "ratios"), Run(results)
    if told is None or run.streams.empty:
        return
    family = ["condition", "implementation", "baseline", "metric"]
    for pair, rows in told.groupby(family):
        logs = run.pair(*map(str, pair))
        for row in rows.to_dict("records"):
            where = f"ratios.csv: {_where(row)} over {row['baseline']}, {row['metric']}"
            cell = [(row["msg_bytes"], row["n_threads"])]
            known = logs.reindex(cell).iloc[0].dropna().to_numpy(float)
            yield from _wrong_ratio(row, known, where, run.settings)
    for _, rows in told.dropna(subset=["p_value"]).groupby(family):
        corrected = estimates.holm(rows["p_value"].to_numpy())
        for row, value in zip(rows.to_dict("records"), corrected, strict=True):
            where = f"ratios.csv: {_where(row)} over {row['baseline']}, {row['metric']}"
            yield from _differs(f"{where}: p_holm", row["p_holm"], value, 1e-6)


def _wrong_ratio(row: Row, logs: np.ndarray, where: str, settings: Settings) -> Iterator[str]:
    if row["n_pairs"] != len(logs):
        yield f"{where}: {row['n_pairs']} rounds, the records give {len(logs)}"
        return
    if len(logs) == 0:
        return
    found = estimates.ratio(logs, settings.confidence)
    yield from _differs(f"{where}: ratio", row["ratio"], found.value, _EXACT)
    if len(logs) > 1 and logs.std() > 0:
        yield from _differs(f"{where}: low", row["low"], found.low, _EXACT)
        yield from _differs(f"{where}: high", row["high"], found.high, _EXACT)
        yield from _differs(f"{where}: p-value", row["p_value"], found.p_value, 1e-6)
        if found.sign != (_BETTER | _WORSE).get(row["verdict"], 0):
            yield f"{where}: {row['verdict']}, the interval is {found.low:.4g} to {found.high:.4g}"


def _table(results: Path, name: str) -> pd.DataFrame | None:
    path = results / "tables" / f"{name}.csv"
    return pd.read_csv(path, dtype={"working_set": str}) if path.is_file() else None


def _names(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _where(row: Row) -> str:
    return ", ".join(f"{name} {row[name]}" for name in _CELL)


def _joined(told: pd.DataFrame, found: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    return told.merge(found, on=key, suffixes=("_told", "_found"), validate="one_to_one")


def _unequal(both: pd.DataFrame, column: str, where: str, tolerance: float) -> Iterator[str]:
    for row in both.to_dict("records"):
        told, found = row[f"{column}_told"], row[f"{column}_found"]
        name = f"{where}: {_where(row)}, repetition {row['rep']}: {column}"
        if isinstance(told, str) or isinstance(found, str):
            if told != found and not (pd.isna(told) or pd.isna(found)):
                yield f"{name} is {told}, the record says {found}"
        else:
            yield from _differs(name, told, found, tolerance)


def _differs(name: str, told: float, found: float, tolerance: float) -> Iterator[str]:
    """Yield a sentence where two numbers differ by more than a share of the second."""
    if pd.isna(told) and pd.isna(found):
        return
    if pd.isna(told) or pd.isna(found) or abs(told - found) > tolerance * abs(found) + 1e-300:
        yield f"{name} is {told}, recomputed {found}"
