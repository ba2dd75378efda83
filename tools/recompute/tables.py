"""The tables of a run and its answers against what its raw records give."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.compare import read_table, wrong_table
from tools.recompute.decisions import wrong_decisions
from tools.recompute.driven import driven
from tools.recompute.profile import share_tables
from tools.recompute.raw import Settings, repetitions, settings_of
from tools.recompute.run import CELL, Run, windows_of
from tools.recompute.simulated import counts_of

Row = dict[Any, Any]

_CURVE = ["testbed", "implementation", "n_threads"]
_SIMULATED = ["testbed", "implementation", "msg_bytes", "working_set", "variant", "side"]
_PAIR = ["condition", "implementation", "baseline", "metric"]
_SIGNS = {"faster": 1, "cheaper": -1, "fewer": -1, "slower": -1, "more expensive": 1, "more": 1}
"""On which side of 1 the interval lies that a verdict is of."""
# p-values are told by the package's own distribution functions, which are exact to less
_P_VALUE = 1e-6


def wrong_tables(results: Path) -> Iterator[str]:
    """Yield a line for each number of a table or an answer that the records do not give."""
    simulated, functions = counts_of(results)
    made = {
        "cells": (repetitions(results, "streams"), [*CELL, "rep"]),
        "round_trips": (repetitions(results, "round_trips"), [*CELL, "rep"]),
        "cpu_budget": (driven(results, "cpu_budget"), [*_CURVE, "limiter", "limit_percent", "rep"]),
        "datagrams": (driven(results, "datagrams"), [*_CURVE, "msg_bytes", "rep"]),
        "simulated": (simulated, _SIMULATED),
        "simulated_functions": (functions, [*_SIMULATED, "mode", "function"]),
        "summary": (_summary(results), [*CELL, "metric"]),
        "ratios": (_ratios(results), [*CELL, "baseline", "metric"]),
        **share_tables(results),
    }
    for name, (rows, key) in made.items():
        yield from wrong_table(read_table(results, name), rows, f"{name}.csv", key)
    yield from wrong_decisions(results)


def _summary(results: Path) -> pd.DataFrame:
    """Return the medians that are told, with what the records give in place of them."""
    told, cells = read_table(results, "summary"), repetitions(results, "streams")
    if told is None or cells.empty:
        return pd.DataFrame() if told is None else told
    settings = settings_of(results)
    by_cell = dict(tuple(windows_of(cells[cells["status"] == "measured"]).groupby(CELL)))
    rows = []
    for row in told.to_dict("records"):
        values = by_cell.get(tuple(row[name] for name in CELL), pd.DataFrame())
        known = values.get(row["metric"], pd.Series(dtype=float)).dropna().to_numpy(float)
        found: Row = {"n": len(known)}
        if len(known):
            found["median"] = float(np.median(known))
        if len(known) > 1 and known.min() > 0 and not row["metric"].endswith("_share"):
            one = estimates.median(known, settings.confidence)
            found |= {"low": one.low, "high": one.high}
            found |= _scatters(one, settings)
        rows.append(row | found)
    return pd.DataFrame(rows)


def _scatters(one: estimates.Estimate, settings: Settings) -> Row:
    ends = zip(("low", "high"), one.scatter, strict=True)
    return {f"{end}_scatter": settings.resampling * scatter for end, scatter in ends}


def _ratios(results: Path) -> pd.DataFrame:
    """Return the comparisons that are told, with what the records give in place of them."""
    told, run = read_table(results, "ratios"), Run(results)
    if told is None or run.streams.empty:
        return pd.DataFrame() if told is None else told
    rows = []
    for pair, group in told.groupby(_PAIR):
        logs = run.pair(*map(str, pair))
        corrected = estimates.holm(group["p_value"].to_numpy())
        told_rows = group.to_dict("records")
        cells = [(row["msg_bytes"], row["n_threads"]) for row in told_rows]
        known = [values.dropna().to_numpy(float) for _, values in logs.reindex(cells).iterrows()]
        family = estimates.family(known, run.settings.confidence)
        for row, rounds, ratio, p_holm in zip(told_rows, known, family, corrected, strict=True):
            found = _ratio(row, rounds, ratio)
            rows.append(row | found | {"p_holm": p_holm, "p_holm_scatter": _P_VALUE * p_holm})
    return pd.DataFrame(rows)


def _ratio(row: Row, logs: np.ndarray, found: estimates.Estimate) -> Row:
    """Return a comparison's ratio, interval, p-value and verdict, from the logarithms by round."""
    if len(logs) == 0:
        return {"n_pairs": 0}
    made: Row = {"n_pairs": len(logs), "ratio": found.value}
    if len(logs) > 1 and logs.std() > 0:
        within = _P_VALUE * found.p_value
        made |= {"low": found.low, "high": found.high, "p_value": found.p_value}
        made |= {"p_value_scatter": within}
        if found.sign != _SIGNS.get(row["verdict"], 0):
            made["verdict"] = f"of an interval from {found.low:.4g} to {found.high:.4g}"
    return made
