"""The tables of a run and its answers against what its raw records give."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.compare import differs, read_table, where, wrong_table
from tools.recompute.decisions import wrong_decisions
from tools.recompute.driven import driven
from tools.recompute.profile import share_tables
from tools.recompute.raw import repetitions, settings_of
from tools.recompute.run import Run
from tools.recompute.simulated import counts_of

_CELL = [
    *("testbed", "working_set", "receiver", "placement"),
    *("implementation", "msg_bytes", "n_threads"),
]
_CURVE = ["testbed", "implementation", "n_threads"]
_SIMULATED = ["testbed", "implementation", "msg_bytes", "working_set", "variant", "side"]
_BETTER = {"faster": 1, "cheaper": -1, "fewer": -1}
_WORSE = {"slower": -1, "more expensive": 1, "more": 1}
# p-values are told by the package's own distribution functions, which are exact to less
_P_VALUE = 1e-6


def wrong_tables(results: Path) -> Iterator[str]:
    """Yield a line for each number of a table or an answer that the records do not give."""
    yield from _wrong_repetitions(results)
    yield from _wrong_summary(results)
    yield from _wrong_ratios(results)
    yield from _wrong_shares(results)
    yield from wrong_decisions(results)


def _wrong_repetitions(results: Path) -> Iterator[str]:
    """Yield where tables with a row per repetition, or per simulated count, differ."""
    found = {
        "cells": (repetitions(results, "streams"), [*_CELL, "rep"]),
        "round_trips": (repetitions(results, "round_trips"), [*_CELL, "rep"]),
        "cpu_budget": (driven(results, "cpu_budget"), [*_CURVE, "limiter", "limit_percent", "rep"]),
        "datagrams": (driven(results, "datagrams"), [*_CURVE, "msg_bytes", "rep"]),
    }
    simulated, functions = counts_of(results)
    found |= {
        "simulated": (simulated, _SIMULATED),
        "simulated_functions": (functions, [*_SIMULATED, "mode", "function"]),
    }
    for name, (rows, key) in found.items():
        yield from wrong_table(read_table(results, name), rows, f"{name}.csv", key)


def _wrong_shares(results: Path) -> Iterator[str]:
    """Yield where the shares of functions, of call paths or of kinds of work differ."""
    for name, (rows, key) in share_tables(results).items():
        yield from wrong_table(read_table(results, name), rows, f"{name}.csv", key)


def _wrong_summary(results: Path) -> Iterator[str]:
    """Yield where medians, their intervals or their counts differ."""
    told, cells = read_table(results, "summary"), repetitions(results, "streams")
    if told is None or cells.empty:
        return
    settings = settings_of(results)
    by_cell = dict(tuple(cells[cells["status"] == "measured"].groupby(_CELL)))
    for row in told.to_dict("records"):
        values = by_cell.get(tuple(row[name] for name in _CELL), pd.DataFrame())
        known = values.get(row["metric"], pd.Series(dtype=float)).dropna().to_numpy(float)
        place = f"summary.csv: {where(row, _CELL)}, {row['metric']}"
        if row["n"] != len(known):
            yield f"{place}: n is {row['n']}, {len(known)} records have it"
            continue
        if len(known):
            yield from differs(f"{place}: median", row["median"], np.median(known))
        if len(known) > 1 and known.min() > 0 and not row["metric"].endswith("_share"):
            found = estimates.median(known, settings.confidence)
            for end, value, scatter in zip(
                ("low", "high"), (found.low, found.high), found.scatter, strict=True
            ):
                within = settings.resampling * scatter
                yield from differs(f"{place}: {end}", row[end], value, within)


def _wrong_ratios(results: Path) -> Iterator[str]:
    """Yield where comparisons differ: ratio, interval, p-values, verdict."""
    told, run = read_table(results, "ratios"), Run(results)
    if told is None or run.streams.empty:
        return
    family = ["condition", "implementation", "baseline", "metric"]
    for pair, rows in told.groupby(family):
        logs = run.pair(*map(str, pair))
        cells = [(row["msg_bytes"], row["n_threads"]) for row in rows.to_dict("records")]
        known = [values.dropna().to_numpy(float) for _, values in logs.reindex(cells).iterrows()]
        ratios = estimates.family(known, run.settings.confidence)
        for row, values, found in zip(rows.to_dict("records"), known, ratios, strict=True):
            yield from _wrong_ratio(row, values, _compared(row), found)
    for _, rows in told.dropna(subset=["p_value"]).groupby(family):
        corrected = estimates.holm(rows["p_value"].to_numpy())
        for row, value in zip(rows.to_dict("records"), corrected, strict=True):
            yield from differs(f"{_compared(row)}: p_holm", row["p_holm"], value, _P_VALUE * value)


def _compared(row: dict[Any, Any]) -> str:
    return f"ratios.csv: {where(row, _CELL)} over {row['baseline']}, {row['metric']}"


def _wrong_ratio(
    row: dict[Any, Any], logs: np.ndarray, place: str, found: estimates.Estimate
) -> Iterator[str]:
    if row["n_pairs"] != len(logs):
        yield f"{place}: {row['n_pairs']} rounds, the records give {len(logs)}"
        return
    if len(logs) == 0:
        return
    yield from differs(f"{place}: ratio", row["ratio"], found.value)
    if len(logs) > 1 and logs.std() > 0:
        yield from differs(f"{place}: low", row["low"], found.low)
        yield from differs(f"{place}: high", row["high"], found.high)
        within = _P_VALUE * found.p_value
        yield from differs(f"{place}: p-value", row["p_value"], found.p_value, within)
        if found.sign != (_BETTER | _WORSE).get(row["verdict"], 0):
            yield f"{place}: {row['verdict']}, the interval is {found.low:.4g} to {found.high:.4g}"
