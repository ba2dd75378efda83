"""From the cells table to medians and ratios: `results/tables/summary.csv` and `ratios.csv`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.columns import FINDINGS, RATIOS
from copycost.analysis.conditions import CELL, KEYS, is_sender_only, with_condition
from copycost.analysis.finding import LISTS, Finding
from copycost.analysis.log_ratios import LogCube, logarithms, with_windows_beside
from copycost.analysis.metrics import (
    BASELINE,
    COMPARED,
    COMPARED_SENDER_ONLY,
    SUMMARISED,
    SUMMARISED_OF_GUESTS,
    SUMMARISED_OF_MACHINES,
    THROUGHPUT,
    verdict,
)
from copycost.analysis.stats.estimates import median_intervals
from copycost.analysis.stats.modes import two_modes
from copycost.analysis.stats.ratios import family_ratios, holm
from copycost.analysis.stats.settings import FloatArray, IntArray, StatisticsSettings
from copycost.config.conditions import Condition
from copycost.config.strategy_capabilities import split_implementation


def summarise(cells: pd.DataFrame, settings: StatisticsSettings) -> pd.DataFrame:
    """Return the median, its interval and the number of repetitions of every cell and metric.

    Of the cells table, one row per cell and metric, sorted; see `SUMMARY`. Of a reference, the
    repetitions of other implementations count, too, in which it takes turns with them.
    """
    cells = with_windows_beside(with_condition(cells), CELL)
    cell = cells.groupby(CELL, sort=True).ngroup().to_numpy(np.int64)
    keys = cells[CELL].assign(cell=cell).drop_duplicates("cell").sort_values("cell")[CELL]
    metrics, status = _metrics(cells), cells["status"].to_numpy()
    measured, each = status == "measured", len(metrics)
    table = keys.iloc[np.repeat(np.arange(len(keys)), each)].reset_index(drop=True)
    table["metric"] = np.tile(np.array(metrics, dtype=object), len(keys))
    values = cells.loc[measured, list(metrics)].to_numpy(dtype=np.float64, na_value=np.nan)
    by_metric = [_medians(one, cell[measured], len(keys), settings) for one in values.T]
    # Interleaved: all metrics of the first cell, then all of the second.
    n, *found = (np.stack(one, axis=1).ravel() for one in zip(*by_metric, strict=True))
    table["n"] = n.astype(np.int64)
    for name in ("failed", "skipped"):
        lost = np.bincount(cell[status == name], minlength=len(keys))
        table[f"n_{name}"] = np.repeat(lost, each)
    for name, one in zip(("median", "low", "high"), found, strict=True):
        table[name] = one
    shares = table["metric"].str.endswith("_share")
    table.loc[shares, ["low", "high"]] = table.loc[shares, ["low", "high"]].clip(0.0, 1.0)
    table["confidence"] = settings.confidence
    rates = cells.loc[measured, THROUGHPUT].astype("float64").groupby(cell[measured])
    of = {int(str(at)): found.to_numpy() for at, found in rates}
    modes = _modes([of.get(at, np.empty(0)) for at in range(len(keys))], settings.confidence)
    nothing = pd.DataFrame({"n_lower": 0, "lower_mode": np.nan, "upper_mode": np.nan}, table.index)
    nothing[table["metric"] == THROUGHPUT] = modes
    return table.join(nothing.astype({"n_lower": np.int64}))


def _metrics(cells: pd.DataFrame) -> tuple[str, ...]:
    """Return what is summarised: what guests and whole machines cost only where a run tells it."""
    told = {name for name in ("accelerator", *SUMMARISED_OF_MACHINES) if name in cells}
    told = {name for name in told if cells[name].notna().any()}
    return (
        *SUMMARISED,
        *(SUMMARISED_OF_GUESTS if "accelerator" in told else ()),
        *(SUMMARISED_OF_MACHINES if told - {"accelerator"} else ()),
    )


def _modes(cells: Sequence[FloatArray], confidence: float) -> list[tuple[int, float, float]]:
    """Return how many repetitions of each cell are in its lower cluster, and both medians."""
    found = []
    for rates, n_lower in zip(cells, two_modes([*map(logarithms, cells)], confidence), strict=True):
        parts = np.split(np.sort(rates[rates > 0.0]), [n_lower])
        lower, upper = (float(np.median(part)) if n_lower else np.nan for part in parts)
        found.append((n_lower, lower, upper))
    return found


def _medians(
    values: FloatArray, cell: IntArray, n_cells: int, settings: StatisticsSettings
) -> FloatArray:
    """Return, of each cell, how many values it has, NaN left out, and their median with its ends.

    Shape (4, n_cells): number, median, low, high.
    """
    known = ~np.isnan(values)
    ordered = values[known][np.argsort(cell[known], kind="stable")]
    n = np.bincount(cell[known], minlength=n_cells)
    starts = np.cumsum(n) - n
    result = np.stack([n, *np.full((3, n_cells), np.nan)])
    # Cells with the same number of repetitions share one draw of resamples.
    for count in np.unique(n[n > 0]):
        which = np.flatnonzero(n == count)
        found = median_intervals(ordered[starts[which, None] + np.arange(count)], settings)
        result[1:, which] = found.median, found.low, found.high
    return result


_FAMILY = ["condition", "implementation", "baseline", "metric"]


def compared_pairs(implementations: Iterable[str]) -> list[tuple[str, str]]:
    """Return which implementation is compared with which.

    All with two_copy; zero_copy with one_copy; what differs from another in one thing only with
    that one: io_uring's zero-copy with MSG_ZEROCOPY, many messages per system call with one.
    """
    names = list(dict.fromkeys(implementations))
    pairs = [(name, BASELINE) for name in names if name != BASELINE and BASELINE in names]
    others = (("zero_copy", "one_copy"), ("uring_zero_copy", "zero_copy"))
    pairs += [pair for pair in others if {*pair} <= {*names}]
    for name in names:
        strategy, batch = split_implementation(name)
        if batch > 1 and strategy in names and strategy != BASELINE:
            pairs.append((name, strategy))
    return pairs


def compare(
    cells: pd.DataFrame, settings: StatisticsSettings, metrics: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the ratio of every pair of implementations in every cell, with its verdict.

    Of the cells table and some metrics, else of throughput and every cost per byte: one row per
    condition, size, thread count, pair and metric, also where nothing was measured; see `RATIOS`.
    Where nobody receives, the costs are the sender's, under their own names.
    """
    rows: list[dict[str, object]] = []
    for key, part in with_condition(cells).groupby(["study", *KEYS], sort=True):
        place = dict(zip(("study", *KEYS), map(str, key), strict=True))
        alone = is_sender_only(Condition(*(place[name] for name in KEYS[1:])), part)
        points = part[["msg_bytes", "n_threads"]].drop_duplicates()
        index = pd.MultiIndex.from_frame(points).sort_values()
        cube = LogCube(part[part["status"] == "measured"])
        asked = metrics or (COMPARED_SENDER_ONLY if alone else COMPARED)
        for (name, baseline), metric in product(compared_pairs(part["implementation"]), asked):
            logs = cube.pair(metric, name, baseline)
            if not logs.index.equals(index):
                logs = logs.reindex(index)
            ratios = family_ratios(logs.to_numpy(dtype=np.float64), settings.confidence)
            for (msg_bytes, n_threads), found in zip(index, ratios, strict=True):
                row = {
                    "msg_bytes": msg_bytes,
                    "n_threads": n_threads,
                    "implementation": name,
                    "baseline": baseline,
                    "metric": metric,
                    "n_pairs": found.n_pairs,
                    "ratio": found.value,
                    "low": found.low,
                    "high": found.high,
                    "p_value": found.p_value,
                    "verdict": verdict(metric, found.direction),
                }
                rows.append(place | row)
    table = pd.DataFrame(rows, columns=list(RATIOS.names))
    if not table.empty:
        table["p_holm"] = table.groupby(_FAMILY)["p_value"].transform(
            lambda values: holm(values.to_numpy(dtype=np.float64))
        )
    order = [*_FAMILY, "msg_bytes", "n_threads"]
    return table.sort_values(order, kind="stable", ignore_index=True)


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return the table of findings; those that are reasons follow what they explain."""
    rows: list[dict[str, Any]] = []
    for finding in findings:
        whose = len(rows) + 1
        for one in (finding, *finding.reasons):
            row = {name: value for name, value in asdict(one).items() if name != "reasons"}
            for name in LISTS:
                row[name] = ",".join(map(str, row[name])) or None
            reason_of = None if one is finding else whose
            rows.append({"id": len(rows) + 1, "reason_of": reason_of} | row)
    numbers = {column.name: "float64" for column in FINDINGS.columns if column.dtype == "float64"}
    return pd.DataFrame(rows, columns=list(FINDINGS.names)).astype(numbers)
