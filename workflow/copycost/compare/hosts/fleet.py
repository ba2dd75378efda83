"""All hosts of a fleet with their tables, and what they have in common, cell by cell.

Each ratio is one of two ways to send on one and the same host, so that how fast that is cancels.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass, fields
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.stats.random_effects import AcrossHosts, across_hosts, outlying
from copycost.analysis.stats.ratios import holm, holm_levels, t_quantile
from copycost.compare.hosts.host_results import read_sets, state_of_name
from copycost.compare.hosts.host_tables import PAIR, SETTINGS, HostTables, tables_of
from copycost.errors import CopycostError, DataError

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


@dataclass(frozen=True)
class Fleet:
    """Every state of every host that can be read, by name, with what was made of its records.

    Those that are `used` enter what is said of hosts in general: the last state of each, unless it
    is on the kernel of another, which `one_kernel` tells. Others are `left_out` as ``older`` or
    ``one_kernel``. Hosts that are `unreadable` by now are only here, each with why.
    """

    hosts: Mapping[str, HostTables]
    left_out: Mapping[str, str]
    one_kernel: Mapping[str, str]
    unreadable: Mapping[str, str]

    @property
    def used(self) -> dict[str, HostTables]:
        """Return the hosts that count."""
        return {name: of for name, of in self.hosts.items() if name not in self.left_out}

    def table(self, name: str) -> pd.DataFrame:
        """Return the tables of that name of hosts that count, with a column `host` in front."""
        parts = {host: getattr(tables, name) for host, tables in self.used.items()}
        rows: pd.DataFrame = pd.concat(parts, names=["host", None]).reset_index("host")
        return rows.reset_index(drop=True)


def gather(folder: Path) -> Fleet:
    """Read all hosts of a fleet, and make their tables, as many at a time as there are CPUs.

    Hosts that cannot be read any more, since they were changed by hand or are of another version,
    say, are left out; so are earlier states, and all but one of those that one kernel ran: nodes or
    containers of one machine, or copies of one host's results. What an audit finds odd is
    told, and leaves nobody out: a host that was busy is still one.
    """
    sets, unreadable = read_sets(folder)
    n_workers = len(os.sched_getaffinity(0))
    with warnings.catch_warnings(), ProcessPoolExecutor(n_workers, get_context("fork")) as pool:
        # forked: nothing here has threads that hold locks, and nothing is imported anew
        warnings.simplefilter("ignore", DeprecationWarning)
        made = {one.name: pool.submit(tables_of, one) for one in sets}
    hosts = {}
    for name, tables in made.items():
        try:
            hosts[name] = tables.result()
        except (CopycostError, OSError) as error:
            unreadable[name] = str(error)
    if not hosts:
        nobody = "no host was merged there; ./run merge FILE.zip adds what ./run export wrote"
        raise DataError(next(iter(unreadable.values()), f"{folder}: {nobody}"))
    # an earlier state does not stand for a host whose last one cannot be read
    newest = dict(sorted(map(state_of_name, [*hosts, *unreadable])))
    left_out = {name: "older" for name, of in hosts.items() if of.one.state != newest[of.one.host]}
    one_kernel = _on_one_kernel([of for name, of in hosts.items() if name not in left_out])
    return Fleet(hosts, left_out | dict.fromkeys(one_kernel, "one_kernel"), one_kernel, unreadable)


def _on_one_kernel(hosts: Sequence[HostTables]) -> dict[str, str]:
    """Return hosts that share a boot with one of which more was measured, and with which."""
    of_boot: dict[str, str] = {}
    found: dict[str, str] = {}
    for host in sorted(hosts, key=lambda host: (-len(host.measured), host.one.name)):
        boots = set(host.measured["boot_id"].dropna()) - {"", "unknown"}  # of those untold
        other = next((of_boot[boot] for boot in sorted(boots & of_boot.keys())), None)
        if other is not None:
            found[host.one.name] = other
        of_boot |= dict.fromkeys(boots - of_boot.keys(), other or host.one.name)
    return found


@dataclass(frozen=True)
class Across:
    """Ratios and crossovers of hosts, and what is told of hosts in general.

    `ratios` are those that were measured; `log` is the logarithm and `error` its standard error;
    `sign` is 1 where the host is better for sure, -1 where worse, 0 where that is open, corrected
    (Holm) for the number of hosts; `beyond` is how far the host lies off, see `outlying`. `cells`
    have `ACROSS_COLUMNS`, and `mean_sign` and `next_sign`: 1 where the mean, or a further host, is
    better throughout its interval, -1 where worse, 0 else.

    A report looks at each condition, pair and metric at one size: it tells which hosts lie off
    there, and is to be right of all of them together.
    """

    ratios: pd.DataFrame
    cells: pd.DataFrame
    crossovers: pd.DataFrame

    def only(self, **values: object) -> "Across":
        """Return the rows that have these values in the columns of their names."""
        tables = [self.ratios, self.cells, self.crossovers]
        for name, value in values.items():
            tables = [of[of[name] == value] if name in of else of for of in tables]
        return Across(*tables)


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
    p_values = rows.groupby(CELL)["p_value"].transform(lambda p: holm(p.to_numpy(np.float64)))
    better = np.where(rows["metric"] == THROUGHPUT, 1, -1)
    rows["sign"] = np.sign(rows["log"]).where(p_values < level, 0.0).astype(int) * better
    rows["beyond"] = np.nan
    n_looks = rows.groupby(_LOOK).ngroups
    found = []
    for cell, of in rows.groupby(CELL):
        logs, errors = of["log"].to_numpy(np.float64), of["error"].to_numpy(np.float64)
        rows.loc[of.index, "beyond"] = outlying(logs, errors, 1.0 - level / n_looks)
        told = across_hosts(logs, errors, SETTINGS.confidence)
        found.append((*cell, *astuple(told), *((of["sign"] == sign).sum() for sign in (1, -1, 0))))
    names = [*CELL, *(one.name for one in fields(AcrossHosts)), "n_better", "n_worse", "n_open"]
    cells = pd.DataFrame(found, columns=names).rename(columns={"n": "n_hosts", "mean": "ratio"})
    better = np.where(cells["metric"] == THROUGHPUT, 1, -1)
    for name, low, high in (("mean_sign", "low", "high"), ("next_sign", "next_low", "next_high")):
        cells[name] = ((cells[low] > 0.0).astype(int) - (cells[high] < 0.0)) * better
    logs_of = ["ratio", "low", "high", "next_low", "next_high"]
    cells[logs_of] = np.exp(cells[logs_of].astype(float))
    return Across(rows, cells[[*ACROSS_COLUMNS, "mean_sign", "next_sign"]], crossovers)
