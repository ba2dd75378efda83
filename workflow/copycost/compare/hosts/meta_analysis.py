"""Ratios of all hosts: cell by cell, what hosts have in common and how they differ.

Each is a ratio of two ways to send on one and the same host, so that how fast that is cancels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.compare.hosts.host_tables import COST, COST_OF_SENDER, SETTINGS, HostTables
from copycost.config.conditions import Condition
from copycost.stats.random_effects import AcrossHosts, across_hosts, outlying
from copycost.stats.ratios import holm, holm_levels, t_quantile
from copycost.stats.settings import FloatArray

ACROSS_COLUMNS = (
    "condition", "implementation", "baseline", "metric", "msg_bytes", "n_threads", "n_hosts",
    "ratio", "low", "high", "spread", "spread_low", "spread_high", "next_low", "next_high",
    "n_better", "n_worse", "n_open",
)  # fmt: skip
"""Columns of across.csv, one row per cell that any host has: `ratio` is the geometric mean over
hosts, `spread` the standard deviation of its logarithm from host to host, `next_low` and
`next_high` where that of a further host is expected; `n_better`, `n_worse` and `n_open` count hosts
by their own verdicts, corrected (Holm) for their number."""

_CELL = ["condition", "implementation", "baseline", "metric", "msg_bytes", "n_threads"]

Cell = tuple[str, str, str, str, int, int]


@dataclass(frozen=True)
class Effect:
    """One ratio, on all hosts, and what is `told` of hosts in general; arrays are (n_hosts,).

    A host has the logarithm of its ratio, or NaN, and half the width of its own interval, NaN where
    one round gives none; likewise the p-value of "the ratio is 1", corrected for the number of
    hosts, and how far it lies `beyond` where the others have it; see `outlying`. A report looks at
    `n_looks` conditions, pairs and metrics: it tells of each, at one size, which hosts lie off and
    which facts go with it, and is to be right of all of them together.
    """

    logs: FloatArray
    halves: FloatArray
    p_values: FloatArray
    told: AcrossHosts
    beyond: FloatArray
    n_looks: int

    def signs(self, *, more_is_better: bool) -> FloatArray:
        """Return 1 where a host is better for sure, -1 where worse, 0 where open, NaN without."""
        sure = self.p_values < 1.0 - SETTINGS.confidence
        sign = np.sign(self.logs) * (1.0 if more_is_better else -1.0)
        return np.where(np.isnan(self.logs), np.nan, np.where(sure, sign, 0.0))

    def row(self, *, more_is_better: bool) -> dict[str, Any]:
        """Return what a table tells of all hosts, see `ACROSS_COLUMNS`."""
        told, signs = self.told, self.signs(more_is_better=more_is_better)
        ends = np.exp([told.mean, told.low, told.high, told.next_low, told.next_high])
        names = ("ratio", "low", "high", "next_low", "next_high")
        return dict(zip(names, map(float, ends), strict=True)) | {
            "spread": told.spread, "spread_low": told.spread_low, "spread_high": told.spread_high,
            "n_better": int((signs == 1).sum()), "n_worse": int((signs == -1).sum()),
            "n_open": int((signs == 0).sum()),
        }  # fmt: skip


def ratios_of(hosts: Mapping[str, HostTables]) -> pd.DataFrame:
    """Return the ratios of all hosts, with a column `host` in front, as ratios.csv has them.

    Of the costs, that which the condition has: both sides', or the sender's where nobody receives.
    """
    rows = _with_hosts({name: tables.ratios for name, tables in hosts.items()})
    alone = rows["condition"].map(lambda slug: Condition.from_slug(slug).sender_only)
    always = rows["metric"].isin((THROUGHPUT, *ROUND_TRIP_TIMES))
    meant = rows["metric"] == np.where(alone, COST_OF_SENDER, COST)
    return rows[always | meant].reset_index(drop=True)


def effects_of(ratios: pd.DataFrame, hosts: Sequence[str]) -> dict[Cell, Effect]:
    """Return each cell's ratio, of `ratios_of`, on all hosts, in their order in every array."""
    place = {name: number for number, name in enumerate(hosts)}
    rows = ratios[ratios["n_pairs"] > 0]
    n_looks = rows.groupby(_CELL[:4]).ngroups
    at = rows["host"].map(place).to_numpy(dtype=np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows["ratio"].to_numpy(dtype=np.float64))
        ends = np.log(rows[["low", "high"]].to_numpy(dtype=np.float64))
    levels = rows.groupby(["host", *_CELL[:4]])["p_value"].transform(
        lambda values: holm_levels(values.to_numpy(np.float64), 1.0 - SETTINGS.confidence)
    )
    halves = (ends[:, 1] - ends[:, 0]) / 2.0
    errors = halves / [
        t_quantile(1.0 - level / 2.0, n - 1) if n > 1 else np.nan
        for level, n in zip(levels, rows["n_pairs"], strict=True)
    ]
    p_values = rows["p_value"].to_numpy(dtype=np.float64)
    found: dict[Cell, Effect] = {}
    for key, which in rows.groupby(_CELL, sort=True).indices.items():
        arrays = []
        for values in (logs, errors, halves, p_values):
            array = np.full(len(hosts), np.nan)
            array[at[which]] = values[which]
            arrays.append(np.where(np.isfinite(array), array, np.nan))
        effect, error, half, p_value = arrays
        condition, implementation, baseline, metric, size, threads = map(str, tuple(key))  # type: ignore[arg-type]
        found[condition, implementation, baseline, metric, int(size), int(threads)] = Effect(
            effect, half, holm(p_value),
            across_hosts(effect, error, SETTINGS.confidence),
            outlying(effect, error, 1.0 - (1.0 - SETTINGS.confidence) / n_looks), n_looks,
        )  # fmt: skip
    return found


def across_table(effects: Mapping[Cell, Effect]) -> pd.DataFrame:
    """Return `ACROSS_COLUMNS`."""
    rows = [
        dict(zip(_CELL, cell, strict=True))
        | {"n_hosts": effect.told.n}
        | effect.row(more_is_better=cell[3] == THROUGHPUT)
        for cell, effect in effects.items()
    ]
    return pd.DataFrame(rows, columns=list(ACROSS_COLUMNS))


def crossovers_of_all(hosts: Mapping[str, HostTables]) -> pd.DataFrame:
    """Return the crossovers of all hosts, with a column `host` in front."""
    return _with_hosts({name: tables.crossovers for name, tables in hosts.items()})


def _with_hosts(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, names=["host", None]).reset_index("host").reset_index(drop=True)
