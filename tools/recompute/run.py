"""A run as its raw records have it: values round by round, and how ways of sending compare."""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from tools.recompute.raw import config_of, repetitions, settings_of

_CELL = ["implementation", "msg_bytes", "n_threads"]
CELL = ["testbed", "working_set", "receiver", "placement", *_CELL]


class Run:
    """What a results folder holds, read when first asked for."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.settings = settings_of(results)
        self.config = config_of(results)
        self.streams = repetitions(results, "streams")
        self.round_trips = repetitions(results, "round_trips")
        self._logs: dict[tuple[str, str], pd.DataFrame] = {}

    def pair(self, condition: str, a: str, b: str, metric: str) -> pd.DataFrame:
        """Return log ratios by repetition, a row per cell that has any."""
        if (condition, metric) not in self._logs:
            rows = self.streams
            here = (rows["condition"] == condition) & (rows["status"] == "measured")
            self._logs[condition, metric] = relative_of(rows[here], metric)
        return pair_of(self._logs[condition, metric], a, b)


def windows_of(measured: pd.DataFrame) -> pd.DataFrame:
    """Return repetitions, and what references came to in those of other implementations."""
    if "reference" not in measured:
        return measured
    others = measured[measured["reference"].notna()]
    others = others[others["reference"] != others["implementation"]]
    names = [str(name) for name in measured if f"reference_{name}" in measured]
    beside = others[CELL].assign(**{name: others[f"reference_{name}"] for name in names})
    return pd.concat([measured, beside.assign(implementation=others["reference"])])


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
