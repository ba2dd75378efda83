"""A run as its raw records have it: values round by round, and the estimates made of them."""

import json
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from tools.recompute import estimates
from tools.recompute.driven import driven
from tools.recompute.estimates import Estimate
from tools.recompute.profile import Profile
from tools.recompute.raw import repetitions, settings_of
from tools.recompute.simulated import Simulated
from tools.recompute.slots import read

Cell = tuple[int, int]
"""A size [bytes] and a number of threads."""

End = tuple[str, str, int, int]
"""Where something was measured: condition, implementation, size [bytes], threads."""

_CELL = ["implementation", "msg_bytes", "n_threads"]
THROUGHPUT = "throughput_bits_per_s"
_COSTS = {"CPU cycles": "cycles", "CPU time": "cpu_ns", "cycles": "cycles", "ns": "cpu_ns"}


class Run:
    """What a results folder holds, read when first asked for."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.settings = settings_of(results)
        self.config = yaml.safe_load((results / "config.yaml").read_text(encoding="utf-8"))
        self._cells: dict[tuple[str, ...], dict[Cell, Estimate]] = {}
        self._logs: dict[tuple[str, str], pd.DataFrame] = {}
        self._driven: dict[str, pd.DataFrame] = {}

    @cached_property
    def streams(self) -> pd.DataFrame:
        """A row per repetition of the streams of messages, whatever its status."""
        return repetitions(self.results, "streams")

    @cached_property
    def round_trips(self) -> pd.DataFrame:
        """A row per repetition of the round trips."""
        return repetitions(self.results, "round_trips")

    def driven(self, study: str) -> pd.DataFrame:
        """Return a row per measured repetition of a study that iperf3 drives."""
        if study not in self._driven:
            self._driven[study] = driven(self.results, study)
        return self._driven[study]

    @cached_property
    def host(self) -> dict[str, Any]:
        """What the host is."""
        found: dict[str, Any] = json.loads((self.results / "host.json").read_text())
        return found

    @cached_property
    def profile(self) -> Profile:
        """The sampled call stacks."""
        return Profile(self.results, self.config)

    @cached_property
    def simulated(self) -> Simulated:
        """The simulated counts."""
        return Simulated(self.results)

    @cached_property
    def memory(self) -> dict[str, Any]:
        """What a plain memcpy costs."""
        found: dict[str, Any] = json.loads((self.results / "memory.json").read_text())
        return found

    @cached_property
    def conditions(self) -> list[str]:
        """The conditions under which anything was asked for."""
        tables = [rows for rows in (self.streams, self.round_trips) if not rows.empty]
        return sorted({name for rows in tables for name in rows["condition"]})

    def measured(self, condition: str) -> pd.DataFrame:
        """Return the measured rows of a condition."""
        rows = self.streams
        return rows[(rows["condition"] == condition) & (rows["status"] == "measured")]

    def metric(self, condition: str, words: str) -> str:
        """Return the column of what a text calls a cost: of the sender where nobody receives."""
        if words == "CPU time of both machines":
            return "machines_cpu_ns_per_byte"
        words = words.removeprefix("sender ")
        if "misses of the" in words:
            name = "l1d_load_misses" if "L1 data" in words else "llc_load_misses"
        else:
            name = _COSTS[words]
        return f"{self.side(condition)}_{name}_per_byte"

    def cost(self, condition: str) -> str:
        """Return the column of the cost of a byte: cycles, where they were counted."""
        cycles, time = (self.metric(condition, name) for name in ("cycles", "ns"))
        rows = self.measured(condition)
        return cycles if cycles in rows and rows[cycles].notna().any() else time

    def side(self, condition: str) -> str:
        """Return of whom costs are told."""
        return "sender" if condition.startswith(("sink", "wire_sink")) else "both"

    def values(self, condition: str, metric: str) -> pd.DataFrame:
        """Return logarithms: a row per implementation, size and threads, a column per round."""
        if (condition, metric) not in self._logs:
            self._logs[condition, metric] = logs_of(self.measured(condition), metric)
        return self._logs[condition, metric]

    def implementations(self, condition: str) -> list[str]:
        """Return what was measured under a condition."""
        return sorted(set(self.measured(condition)["implementation"]))

    def of(self, condition: str, implementation: str, metric: str) -> pd.DataFrame:
        """Return the logarithms of one implementation: a row per cell."""
        return self.values(condition, metric).loc[[implementation]].droplevel("implementation")

    def pair(self, condition: str, a: str, b: str, metric: str = THROUGHPUT) -> pd.DataFrame:
        """Return log ratios by repetition, a row per cell that has any."""
        if (condition, f"relative {metric}") not in self._logs:
            found = relative_of(self.measured(condition), metric)
            self._logs[condition, f"relative {metric}"] = found
        return pair_of(self._logs[condition, f"relative {metric}"], a, b)

    def levels(
        self, condition: str, a: str, b: str, metric: str
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return both of a pair: the first one's own values, and the second's beside these.

        Where the first is what the second took turns with, it has no others than those.
        """
        logs = self.pair(condition, a, b, metric)
        own, other = (
            self.values(condition, metric).reindex([(name, *cell) for cell in logs.index])
            for name in (a, b)
        )
        first = own.set_axis(logs.index).fillna(other.set_axis(logs.index) + logs)
        return first, first - logs

    def cells(
        self, condition: str, a: str, b: str, metric: str = THROUGHPUT
    ) -> dict[Cell, Estimate]:
        """Return the ratio of each cell, by size and threads."""
        key = condition, a, b, metric
        if key not in self._cells:
            logs = self.pair(*key)
            self._cells[key] = {
                (int(size), int(threads)): self.ratio(logs.loc[size, threads])
                for size, threads in logs.index
            }
        return self._cells[key]

    def ratio(self, logs: pd.Series, picked_from: int = 1) -> Estimate:
        """Return the ratio that the logarithms of its rounds give."""
        return estimates.ratio(logs.to_numpy(float), self.settings.confidence, picked_from)

    def pooled(self, logs: pd.DataFrame) -> Estimate:
        """Return the ratio over cells together."""
        return estimates.pooled(logs, self.settings.confidence)

    def contradict(self, logs: pd.DataFrame) -> bool:
        """Tell whether some cells are shown to lie above 1 and others below, or halves of them."""
        cells = [row.to_numpy(float) for _, row in logs.iterrows()]
        single = {1, -1} <= set(estimates.settled(cells, self.settings.confidence))
        return single or bool(self.opposed(logs))

    def opposed(self, logs: pd.DataFrame) -> dict[str, int]:
        """Return along what halves of the cells contradict each other: the larger one's sign."""
        levels = [level for level in ("msg_bytes", "n_threads") if level in logs.index.names]
        parts = {level: halves(logs, logs.index.get_level_values(level)) for level in levels}
        found = [(level, half) for level, pair in parts.items() for half in pair]
        rounds = [estimates.block(half).mean().to_numpy(float) for _, half in found]
        signs = estimates.settled(rounds, self.settings.confidence) if rounds else []
        ends = zip(found[::2], signs[::2], signs[1::2], strict=True)
        return {level: high for (level, _), low, high in ends if {1, -1} == {low, high}}

    def threads(self, condition: str, implementation: str, metric: str) -> pd.DataFrame:
        """Return log ratios of the most threads to the fewest, a row per size."""
        logs = self.of(condition, implementation, metric).swaplevel()
        counts = logs.index.get_level_values("n_threads")
        most, fewest = (logs.loc[[n]].droplevel("n_threads") for n in (max(counts), min(counts)))
        return (most - fewest).dropna(how="all")

    def median(self, condition: str, implementation: str, cell: Cell, metric: str) -> Estimate:
        """Return the median of a cell with its interval."""
        rows = self.measured(condition)
        size, threads = cell
        here = rows[
            (rows["implementation"] == implementation)
            & (rows["msg_bytes"] == size)
            & (rows["n_threads"] == threads)
        ]
        return self.median_of(here.get(metric, pd.Series(dtype=float)))

    def median_of(self, values: pd.Series) -> Estimate:
        """Return the median of what is known of these values."""
        known = values.dropna().to_numpy(float)
        if len(known) == 0:
            return Estimate(math.nan, n=0)
        return estimates.median(known, self.settings.confidence)

    @cached_property
    def all_sizes(self) -> list[int]:
        """The sizes of messages that were asked for."""
        tables = [rows for rows in (self.streams, self.round_trips) if not rows.empty]
        return sorted({int(size) for rows in tables for size in rows["msg_bytes"]})

    def size(self, text: str) -> int:
        """Return the size that a text means."""
        return int(read("size", text))

    def sizes(self, condition: str) -> list[int]:
        """Return the sizes of the grid of a condition, those added on the way left out."""
        sections = ("udp" if "sink" in condition or "udp" in condition else "streams",)
        return sorted(self.config[sections[0]]["msg_bytes"])

    def corrected(self, ratios: Mapping[Any, Estimate]) -> int:
        """Return how many differences stand after Holm's correction for their number."""
        p_values = np.array([one.p_value for one in ratios.values()])
        return int((estimates.holm(p_values) < 1 - self.settings.confidence).sum())


def logs_of(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return logarithms of a column: a row per way, size and threads, a column per round."""
    known = rows[[*_CELL, "rep"]].assign(value=rows.get(metric, math.nan))
    wide = known.pivot(index=_CELL, columns="rep", values="value").astype(float)
    return wide.where(wide > 0).map(np.log)


def relative_of(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the same by which implementations under one condition are compared.

    Of cells that have a reference, what each repetition came to beside it, and 0 for itself;
    repetitions beside another reference have none. Of cells without, the logarithms themselves.
    """
    beside = rows.get(f"reference_{metric}", pd.Series(dtype=float)).astype(float)
    if not (beside > 0).any():
        return logs_of(rows, metric)
    cell = _CELL[1:]
    references = rows[beside > 0].groupby(cell)["reference"].max()
    here = references.reindex(pd.MultiIndex.from_frame(rows[cell])).set_axis(rows.index)
    ratios = (rows[metric].astype(float) / beside).where(rows["reference"] == here)
    logs = logs_of(rows.assign(value=ratios.where(here.notna(), rows[metric])), "value")
    own = [(name, *cell) for cell, name in zip(references.index, references, strict=True)]
    itself = pd.DataFrame(0.0, pd.MultiIndex.from_tuples(own, names=_CELL), logs.columns)
    return pd.concat([logs.drop(own, errors="ignore"), itself]).sort_index()


def pair_of(logs: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return log ratios of two implementations, of what `relative_of` returns: a row per cell."""
    names = logs.index.get_level_values("implementation")
    one, other = (logs[names == name].droplevel("implementation") for name in (a, b))
    return (one - other).dropna(how="all")


def halves(logs: pd.DataFrame, values: pd.Index | None = None) -> list[pd.DataFrame]:
    """Return the rows of the smaller and of the larger values, by default of the index."""
    along = logs.index if values is None else values
    points = sorted(set(along))
    if len(points) < 2:
        return []
    smaller = along < points[len(points) // 2]
    return [logs[smaller], logs[~smaller]]
