"""Round trips: percentiles per implementation and size, and each compared with two_copy.

The replicate is the repetition: each has percentiles of its own, over all its round trips, and
medians and intervals are over repetitions. A percentile is told only where every repetition has it,
so that intervals are of one thing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.conditions import POINT, Studied, studied_conditions, with_condition
from copycost.analysis.context import missing_facts
from copycost.analysis.control import control_of
from copycost.analysis.decisions import Contest, Scale, decision_facts
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import LogCube, with_windows_beside
from copycost.analysis.metrics import BASELINE, copied_label, counted_share
from copycost.analysis.quality_table import disturbed
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.stats.estimates import Estimate, estimate
from copycost.analysis.stats.ratios import Direction, family_ratios
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.wire import part_column, priced, with_machines
from copycost.config.testbeds import is_wire
from copycost.hosts.side import SIDES
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

    `control` is what the reference's median round trip came to against itself; `told` counts, over
    all conditions, the ratios of medians and 99th percentiles that have an interval (`n`), those of
    one repetition (`n_once`), and the repetitions with a warning that the machine was disturbed. In
    a closed loop the next request is sent when the reply has come.
    """
    if table is None:
        return None
    cells = with_condition(table)
    conditions, by_condition = [], {}
    for studied in studied_conditions([config["round_trips"]], cells):
        rows = cells[cells["condition"] == studied.name]
        measured = rows[rows["status"] == "measured"]
        if len(measured):
            by_condition[studied.name] = measured
        conditions.append(
            studied.facts()
            | {
                "n_threads": list(studied.n_threads),
                "msg_bytes": list(studied.msg_bytes),
                "implementations": list(studied.implementations),
                "n_measured": len(measured),
                "failed": missing_facts(rows, "failed"),
                "skipped": missing_facts(rows, "skipped"),
                "labels": _labels(studied, measured),
                "n_warned": int(disturbed(measured).sum()),
                "rows": _rows(studied, measured, settings),
                "ratios": _ratios(studied, measured, settings),
                "decisions": _decisions(studied, measured, settings, peers),
            }
        )
    ratios = [ratio for one in conditions for ratio in one["ratios"]]
    found = [ratio for ratio in ratios if ratio["percentile"] in ("p50_ns", "p99_ns")]
    signs = [ratio["sign"] for ratio in found if not ratio["once"]]
    interval = int(config["measure"]["interval_us"])
    return {
        "interval_us": interval,
        "closed_loop": interval == 0,
        "baseline": BASELINE,
        "control": control_of(by_condition, "round_trip", "p50_ns", settings.confidence),
        "conditions": conditions,
        "told": {
            "n": len(signs),
            "n_longer": signs.count(1),
            "n_shorter": signs.count(-1),
            "n_once": len(found) - len(signs),
            **{name: sum(one[name] for one in conditions) for name in ("n_measured", "n_warned")},
        },
    }


def _labels(studied: Studied, measured: pd.DataFrame) -> dict[str, str | None]:
    """Return what zero-copy that was copied is called, by implementation; None for others."""
    shares = measured.groupby("implementation")["zc_copied_share"].agg(["min", "max"])
    labels = {name: copied_label(*ends) for name, ends in shares.T.to_dict("list").items()}
    return {name: labels.get(name) for name in studied.implementations}


def _decisions(
    studied: Studied,
    measured: pd.DataFrame,
    settings: StatisticsSettings,
    peers: Mapping[str, Mapping[str, Any]],
) -> Facts:
    """Return who is fastest by the median, and cheapest by CPU time [ns], of a round trip."""
    measured, cpu_of = priced(measured, studied.condition.testbed, peers, _UNIT)
    found = set(measured["implementation"])
    price = part_column("machines" if cpu_of == "machines" else "both", _UNIT)
    contest = Contest(
        studied.name,
        True,
        tuple(name for name in studied.implementations if name in found),
        studied.msg_bytes,
        studied.n_threads,
        LogCube(measured),
        Scale("p50_ns", "p50_ns"),
        Scale(price, f"cpu_ns_per_{_UNIT}") if counted_share(measured, price) else None,
        settings.confidence,
    )
    return decision_facts(contest) | {"cpu_of": cpu_of}


def _rows(studied: Studied, measured: pd.DataFrame, settings: StatisticsSettings) -> list[Facts]:
    """Return the medians of each point; over the network, what a round trip takes of each machine.

    That is with softirqs apart, and of both machines [ns].
    """
    costs = {"machines": part_column("machines", _UNIT)}
    for side in SIDES:
        costs[f"{side}_machine"] = part_column(f"{side}_machine", _UNIT)
        costs[f"{side}_softirq"] = part_column(f"{side}_machine_softirq", _UNIT)
    windows = dict(list(with_windows_beside(measured, POINT).groupby(POINT)))
    rows = []
    for key, part in measured.groupby(POINT, sort=True):
        times = windows[key]
        row: Facts = {**dict(zip(POINT, key, strict=True)), "n": len(times)}
        row |= {name: _median(times[name], settings) for name in (*PERCENTILES, "max_ns")}
        row["machines"] = None
        if is_wire(studied.condition.testbed):
            of = with_machines(part, _UNIT)
            row["machines"] = {name: _median(of[cost], settings) for name, cost in costs.items()}
        rows.append(row)
    order = studied.implementations.index
    return sorted(
        rows, key=lambda row: (row["n_threads"], row["msg_bytes"], order(row["implementation"]))
    )


def _median(column: pd.Series, settings: StatisticsSettings) -> Estimate | None:
    return estimate(column, settings) if column.notna().all() else None


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
