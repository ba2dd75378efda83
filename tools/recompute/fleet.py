"""The tables over hosts: every ratio of a host from its raw records, and what is over all hosts."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from tools.recompute import estimates
from tools.recompute.compare import read_table, wrong_table
from tools.recompute.estimates import Estimate
from tools.recompute.raw import all_repetitions
from tools.recompute.run import pair_of, relative_of

_CONFIDENCE = 0.95
_FEWEST = 3
_FEW = 5
"""Hosts up to which the spread's interval is that of a normal distribution."""

_WITHIN = (1e-6, 1e-9)
_COLUMNS = {
    "throughput_bits_per_s": ("streams", "throughput_bits_per_s"),
    "both_cpu_ns_per_byte": ("streams", "both_cpu_ns_per_byte"),
    "sender_cpu_ns_per_byte": ("streams", "sender_cpu_ns_per_byte"),
    "p50_ns": ("round_trips", "p50_ns"),
    "p99_ns": ("round_trips", "p99_ns"),
}
_CELL = ["condition", "implementation", "baseline", "metric", "msg_bytes", "n_threads"]


def is_fleet(folder: Path) -> bool:
    """Tell whether a folder holds several hosts with the tables over them."""
    return (folder / "tables" / "across.csv").is_file()


def wrong_fleet_tables(fleet: Path) -> Iterator[str]:
    """Yield a line per number of ratios.csv and across.csv that the records do not give."""
    told, across = read_table(fleet, "ratios"), read_table(fleet, "across")
    assert told is not None
    found: dict[tuple[Any, ...], list[Estimate]] = {}
    rows: list[dict[Any, Any]] = []
    for host, its in told.groupby("host", sort=False):
        values = _values(fleet / f"host={host}")
        for _, group in its.groupby(_CELL[:4], sort=False):
            keys = list(group[_CELL].itertuples(index=False, name=None))
            logs = [_logs(values, *key) for key in keys]
            family = estimates.family(logs, _CONFIDENCE)
            for row, key, own, one in zip(
                group.to_dict("records"), keys, logs, family, strict=True
            ):
                if one.n:
                    found.setdefault(key, []).append(estimates.ratio(own, _CONFIDENCE))
                ends = {"ratio": one.value, "low": one.low, "high": one.high}
                rows.append(row | ends | {"p_value": one.p_value, "n_pairs": one.n})
    cells = [dict(zip(_CELL, key, strict=True)) | _across(ones, str(key[3]))
             for key, ones in found.items()]  # fmt: skip
    made = pd.DataFrame(rows)
    yield from wrong_table(told, made, "ratios.csv", ["host", *_CELL], _WITHIN)
    yield from wrong_table(across, pd.DataFrame(cells), "across.csv", _CELL, _WITHIN)


def _values(folder: Path) -> dict[str, dict[str, pd.DataFrame]]:
    """Return what ways are compared by on a host, by metric and condition; see `relative_of`."""
    tables = {study: all_repetitions(folder, study) for study, _ in _COLUMNS.values()}
    found: dict[str, dict[str, pd.DataFrame]] = {}
    for metric, (study, column) in _COLUMNS.items():
        rows = tables[study]
        if not rows.empty and column in rows:
            measured = rows["status"] == "measured"
            if "accelerator" in rows:
                measured &= rows["accelerator"] != "tcg"
            places = rows[measured].groupby("condition")
            found[metric] = {str(name): relative_of(here, column) for name, here in places}
    return found


def _logs(
    values: dict[str, dict[str, pd.DataFrame]],
    condition: str, name: str, baseline: str, metric: str, size: int, threads: int,
) -> np.ndarray:  # fmt: skip
    try:
        logs = pair_of(values[metric][condition], name, baseline).loc[[(size, threads)]]
    except KeyError:
        return np.empty(0)
    return logs.to_numpy(float).ravel()


def _across(hosts: list[Estimate], metric: str) -> dict[str, float]:
    """Return what a row of across.csv has to say of these hosts."""
    logs = np.log([one.value for one in hosts])
    n = len(hosts)
    nothing = dict.fromkeys(
        ("low", "high", "spread", "spread_low", "spread_high", "next_low", "next_high"), math.nan
    )
    better = 1 if metric == "throughput_bits_per_s" else -1
    p_values = estimates.holm(np.array([one.p_value for one in hosts]))
    sure = (p_values < 1 - _CONFIDENCE) * np.sign(logs) * better
    said = nothing | {
        "n_hosts": n, "ratio": math.exp(logs.mean()) if n else math.nan,
        "n_better": int((sure > 0).sum()), "n_worse": int((sure < 0).sum()),
        "n_open": int((sure == 0).sum()),
    }  # fmt: skip
    own = [(math.log(one.high / one.low) / 2 / stats.t.ppf((1 + _CONFIDENCE) / 2, one.n - 1)) ** 2
           for one in hosts if one.n > 1]  # fmt: skip
    if n < _FEWEST or not own:
        return said
    variance, within = float(logs.var(ddof=1)), float(np.mean(own))
    quantile = float(stats.t.ppf((1 + _CONFIDENCE) / 2, n - 1))
    between = max(variance - within, 0.0)
    half = quantile * math.sqrt(variance / n)
    further = quantile * math.sqrt(between + variance / n)
    low, high = (math.sqrt(max(end - within, 0.0)) for end in _interval_of_variance(logs))
    return said | {
        "low": math.exp(logs.mean() - half), "high": math.exp(logs.mean() + half),
        "spread": math.sqrt(between), "spread_low": low, "spread_high": high,
        "next_low": math.exp(logs.mean() - further), "next_high": math.exp(logs.mean() + further),
    }  # fmt: skip


def _interval_of_variance(values: np.ndarray) -> tuple[float, float]:
    """Return Bonett's interval, of few values the chi-squared one."""
    n, tail = len(values), (1 - _CONFIDENCE) / 2
    squares = float(((values - values.mean()) ** 2).sum())
    if squares == 0:
        return 0.0, 0.0
    if n <= _FEW:
        low, high = (squares / float(stats.chi2.ppf(at, n - 1)) for at in (1 - tail, tail))
        return low, high
    z = float(stats.norm.ppf(1 - tail))
    cut = int(n / (2 * math.sqrt(n - 4)))
    trimmed = float(np.sort(values)[cut : n - cut].mean())
    kurtosis = n * float(((values - trimmed) ** 4).sum()) / squares**2
    correction = n / (n - z)
    error = correction * math.sqrt(max(kurtosis - (n - 3) / n, 0.0) / (n - 1))
    centre = correction * squares / (n - 1)
    return centre * math.exp(-z * error), centre * math.exp(z * error)
