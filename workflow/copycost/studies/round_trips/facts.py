"""Round trips: percentiles per implementation and size, and each compared with two_copy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.conditions import POINT, Studied, studied_conditions, with_condition
from copycost.analysis.context import missing_facts
from copycost.analysis.control import control_of
from copycost.analysis.decisions import Contest, Scale, decision_facts
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import BASELINE, copied_label, counted_share
from copycost.analysis.quality_table import disturbances, disturbed
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.tables import with_windows_beside
from copycost.analysis.wire import part_column, priced, with_machines
from copycost.config.testbeds import is_wire
from copycost.hosts.side import SIDES
from copycost.stats.estimates import median_intervals
from copycost.stats.ratios import Direction, family_ratios
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.round_trips.table import PERCENTILES

_UNIT = "round_trip"
# what a ratio is of
_COMPARED = ("implementation", "percentile", "msg_bytes", "n_threads")


def round_trip_facts(
    table: pd.DataFrame | None,
    config: Mapping[str, Any],
    settings: StatisticsSettings,
    peers: Mapping[str, Mapping[str, Any]],
) -> Facts | None:
    """Return what requests and their replies took, None where nobody asked for it.

    The replicate is the repetition: each has percentiles of its own, over all its round trips, and
    medians and intervals are over repetitions. A percentile is told only where every repetition
    has it, so that intervals are of one thing. A closed loop sends the next request when the reply
    has come.

    What several keys mean: `control` is what the reference's median round trip came to against
    itself; `labels` are those of copied zero-copy; `n_warned` repetitions were disturbed by the
    machine; a ratio is that over two_copy, and `sure` if it stands after Holm's correction for all
    ratios of the condition; `decisions` are by the median and the CPU time [ns] of a round trip;
    `told` is what the comparisons of all conditions came to.
    """
    if table is None:
        return None
    section = config["round_trips"]
    cells = with_condition(table)
    parts = studied_conditions([section], cells)
    by_condition = dict(list(cells[cells["status"] == "measured"].groupby("condition")))
    measured = {one.name: by_condition[one.name] for one in parts if one.name in by_condition}
    interval = int(config["measure"]["interval_us"])
    conditions = [
        _condition(studied, cells[cells["condition"] == studied.name], settings)
        | {"decisions": _decisions(studied, cells, settings, peers)}
        for studied in parts
    ]
    return {
        "interval_us": interval,
        "closed_loop": interval == 0,
        "baseline": BASELINE,
        "control": control_of(measured, "round_trip", "p50_ns", settings.confidence),
        "conditions": conditions,
        "told": _told(conditions),
    }


def _told(conditions: Sequence[Facts]) -> dict[str, int]:
    """Return how many comparisons came to what, over all conditions.

    `n` ratios of medians and 99th percentiles have an interval, `n_once` are of one repetition;
    `n_warned` of `n_measured` repetitions have a warning that the machine was disturbed.
    """
    every = [row for one in conditions for row in one["ratios"]]
    found = [row for row in every if row["percentile"] in ("p50_ns", "p99_ns")]
    signs = [row["sign"] for row in found if not row["once"]]
    names = ("n_measured", "n_warned")
    return {
        "n": len(signs),
        "n_longer": signs.count(1),
        "n_shorter": signs.count(-1),
        "n_once": len(found) - len(signs),
        **{name: sum(one[name] for one in conditions) for name in names},
    }


def _condition(studied: Studied, rows: pd.DataFrame, settings: StatisticsSettings) -> Facts:
    measured = rows[rows["status"] == "measured"]
    ratios = _ratios(studied, measured, settings)

    def label(name: str) -> str | None:
        shares = measured.loc[measured["implementation"] == name, "zc_copied_share"].dropna()
        return copied_label(float(shares.min()), float(shares.max())) if len(shares) else None

    counts = {one: int((rows["status"] == one).sum()) for one in ("failed", "skipped")}
    return studied.facts() | {
        "n_threads": list(studied.n_threads),
        "msg_bytes": list(studied.msg_bytes),
        "implementations": list(studied.implementations),
        "n_measured": len(measured),
        **{f"n_{status}": n for status, n in counts.items()},
        "failed": missing_facts(rows, "failed"),
        "skipped": missing_facts(rows, "skipped"),
        "labels": {name: label(name) for name in studied.implementations},
        "n_warned": int(disturbed(measured).sum()),
        "warnings": disturbances(measured),
        "rows": _rows(studied, measured, settings),
        "ratios": ratios,
    }


def _decisions(
    studied: Studied,
    cells: pd.DataFrame,
    settings: StatisticsSettings,
    peers: Mapping[str, Mapping[str, Any]],
) -> Facts:
    here = (cells["condition"] == studied.name) & (cells["status"] == "measured")
    measured, cpu_of = priced(cells[here], studied.condition.testbed, peers, _UNIT)
    found, cube = set(measured["implementation"]), LogCube(measured)
    price = part_column("machines" if cpu_of == "machines" else "both", _UNIT)
    return decision_facts(
        Contest(
            studied.name,
            True,
            tuple(name for name in studied.implementations if name in found),
            studied.msg_bytes,
            studied.n_threads,
            cube,
            Scale("p50_ns", "p50_ns"),
            Scale(price, f"cpu_ns_per_{_UNIT}") if counted_share(measured, price) else None,
            settings.confidence,
        )
    ) | {"cpu_of": cpu_of}


def _rows(studied: Studied, measured: pd.DataFrame, settings: StatisticsSettings) -> list[Facts]:
    order = {name: place for place, name in enumerate(studied.implementations)}
    windows = dict(list(with_windows_beside(measured, POINT).groupby(POINT)))
    groups = measured.groupby(POINT, sort=True)
    far = is_wire(studied.condition.testbed)
    rows = [
        {**dict(zip(POINT, key, strict=True)), "n": len(windows[key])}
        | {name: _median(windows[key][name], settings) for name in (*PERCENTILES, "max_ns")}
        | {"machines": _of_machines(part, settings) if far else None}
        for key, part in groups
    ]
    return sorted(
        rows, key=lambda row: (row["n_threads"], row["msg_bytes"], order[row["implementation"]])
    )


def _of_machines(rows: pd.DataFrame, settings: StatisticsSettings) -> Facts:
    """Return what a round trip takes of each machine, in softirqs there, and of both [ns]."""
    costs = with_machines(rows, _UNIT)
    columns = {"machines": part_column("machines", _UNIT)}
    for side in SIDES:
        columns[f"{side}_machine"] = part_column(f"{side}_machine", _UNIT)
        columns[f"{side}_softirq"] = part_column(f"{side}_machine_softirq", _UNIT)
    return {name: _median(costs[column], settings) for name, column in columns.items()}


def _median(column: pd.Series, settings: StatisticsSettings) -> Facts | None:
    values: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isnan(values).any():
        return None
    found = median_intervals(values[None, :], settings)
    return {
        "median": float(found.median[0]),
        "low": float(found.low[0]),
        "high": float(found.high[0]),
        "n": values.size,
    }


def _ratios(studied: Studied, measured: pd.DataFrame, settings: StatisticsSettings) -> list[Facts]:
    cube = LogCube(measured)
    logs = {
        (name, percentile): cube.pair(percentile, name, BASELINE)
        for name in studied.implementations
        for percentile in PERCENTILES
        if name != BASELINE and not measured.empty
    }
    if not logs:
        return []
    table = pd.concat(logs)
    ratios = family_ratios(table.to_numpy(dtype=np.float64), settings.confidence)
    return [
        dict(zip(_COMPARED, place, strict=True)) | ratio_facts(one)
        for place, one in zip(table.index, ratios, strict=True)
        if one.direction is not Direction.NOT_MEASURED
    ]
