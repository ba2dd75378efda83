"""Ratios of all hosts: cell by cell, what hosts have in common and how they differ.

Each is a ratio of two ways to send on one and the same host, so that how fast that is cancels.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.stats.random_effects import AcrossHosts, across_hosts, outlying
from copycost.analysis.stats.ratios import holm, holm_levels, t_quantile
from copycost.compare.hosts.host_tables import PAIR, SETTINGS, HostTables

CELL = [*PAIR, "metric", "msg_bytes", "n_threads"]
_LOOK = [*PAIR, "metric"]
ACROSS_COLUMNS = (
    *CELL, "n_hosts", "ratio", "low", "high", "spread", "spread_low", "spread_high", "next_low",
    "next_high", "n_better", "n_worse", "n_open",
)  # fmt: skip
"""Columns of across.csv, one row per cell that any host has: `ratio` is the geometric mean over
hosts, `spread` the standard deviation of its logarithm from host to host, `next_low` and
`next_high` where that of a further host is expected; `n_better`, `n_worse` and `n_open` count hosts
by their own verdicts, corrected (Holm) for their number."""


def with_hosts(hosts: Mapping[str, HostTables], table: str) -> pd.DataFrame:
    """Return a table of several hosts, of that name, as one with a column `host` in front."""
    parts = {name: getattr(tables, table) for name, tables in hosts.items()}
    rows: pd.DataFrame = pd.concat(parts, names=["host", None]).reset_index("host")
    return rows.reset_index(drop=True)


@dataclass(frozen=True)
class Across:
    """Ratios and crossovers of hosts, and what is told of hosts in general.

    `ratios` are those that were measured; `log` is the logarithm and `error` its standard error;
    `sign` is 1 where the host is better for sure, -1 where worse, 0 where that is open, corrected
    (Holm) for the number of hosts; `beyond` is how far the host lies off, see `outlying`. `cells`
    have `ACROSS_COLUMNS`, and `mean_sign` and `next_sign`: 1 where the mean, or a further host, is
    better throughout its interval, -1 where worse, 0 else.

    A report looks at `n_looks` conditions, pairs and metrics: it tells of each, at one size, which
    hosts lie off and which facts go with it, and is to be right of all of them together.
    """

    ratios: pd.DataFrame
    cells: pd.DataFrame
    crossovers: pd.DataFrame
    n_looks: int

    def only(self, **values: object) -> "Across":
        """Return the rows that have these values in the columns of their names."""
        tables = {"ratios": self.ratios, "cells": self.cells, "crossovers": self.crossovers}
        for name, value in values.items():
            for key, table in tables.items():
                if name in table:
                    tables[key] = table[table[name] == value]
        return Across(**tables, n_looks=self.n_looks)


def judge(ratios: pd.DataFrame, crossovers: pd.DataFrame) -> Across:
    """Judge the ratios of all hosts, each of a host and over all of them."""
    rows = ratios[ratios["n_pairs"] > 0].copy()
    level = 1.0 - SETTINGS.confidence
    with np.errstate(divide="ignore", invalid="ignore"):
        rows["log"] = np.log(rows["ratio"])
        half = (np.log(rows["high"]) - np.log(rows["low"])) / 2.0
    half = half.where(np.isfinite(half))
    rows.loc[half.isna(), ["low", "high"]] = np.nan
    looks = rows.groupby(["host", *_LOOK])["p_value"]
    levels = looks.transform(lambda values: holm_levels(values.to_numpy(np.float64), level))
    rows["error"] = half / [
        t_quantile(1.0 - own / 2.0, n - 1) if n > 1 else np.nan
        for own, n in zip(levels, rows["n_pairs"], strict=True)
    ]
    cells = rows.groupby(CELL, sort=True)
    p_values = cells["p_value"].transform(lambda values: holm(values.to_numpy(np.float64)))
    better = np.where(rows["metric"] == THROUGHPUT, 1, -1)
    rows["sign"] = np.sign(rows["log"]).where(p_values < level, 0.0).astype(int) * better
    rows["beyond"] = np.nan
    n_looks = rows.groupby(_LOOK).ngroups
    found = []
    for cell, of in cells:
        logs, errors = of["log"].to_numpy(np.float64), of["error"].to_numpy(np.float64)
        rows.loc[of.index, "beyond"] = outlying(logs, errors, 1.0 - level / n_looks)
        told = across_hosts(logs, errors, SETTINGS.confidence)
        signs = rows.loc[of.index, "sign"]
        found.append(dict(zip(CELL, cell, strict=True)) | _told(told, signs, cell[3] == THROUGHPUT))
    columns = [*ACROSS_COLUMNS, "mean_sign", "next_sign"]
    return Across(rows, pd.DataFrame(found, columns=columns), crossovers, n_looks)


def _told(told: AcrossHosts, signs: pd.Series, more_is_better: bool) -> dict[str, float]:
    """Return a row of `Across.cells` but for what names it."""

    def side(low: float, high: float) -> int:
        sign = int(low > 0.0) - int(high < 0.0)
        return sign if more_is_better else -sign

    ends = np.exp([told.mean, told.low, told.high, told.next_low, told.next_high])
    names = ("ratio", "low", "high", "next_low", "next_high")
    return dict(zip(names, map(float, ends), strict=True)) | {
        "n_hosts": told.n, "spread": told.spread, "spread_low": told.spread_low,
        "spread_high": told.spread_high, "n_better": int((signs == 1).sum()),
        "n_worse": int((signs == -1).sum()), "n_open": int((signs == 0).sum()),
        "mean_sign": side(told.low, told.high), "next_sign": side(told.next_low, told.next_high),
    }  # fmt: skip
