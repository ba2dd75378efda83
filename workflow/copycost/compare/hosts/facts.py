"""Everything that the report over hosts says, as numbers and verdicts."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.compare.hosts.associations import FEWEST_HOSTS, associations
from copycost.compare.hosts.host_facts import Told, compared_facts, shown_fact, unlike_others
from copycost.compare.hosts.host_results import HostSet
from copycost.compare.hosts.host_tables import SETTINGS, HostTables, emulated_of
from copycost.compare.hosts.meta_analysis import Cell, Effect
from copycost.compare.hosts.verdicts import holds_at, verdict_of
from copycost.figures.markers import in_order
from copycost.stats.crossover import Outcome
from copycost.stats.random_effects import FEWEST

SCHEMA_VERSION = 1
POINT_BYTES = 65536
"""Size of the messages that hosts are told by, or the nearest that most hosts have."""

_MOST_NAMED = 8


@dataclass(frozen=True)
class Fleet:
    """All hosts with what was made of their records.

    Attributes
    ----------
    sets
        Every state of every host.
    used
        Those that enter what is said of hosts in general: the last state of each, unless it is
        on the kernel of another.
    left_out
        Why others do not, by their names: ``older`` or ``one_kernel``.
    tables
        Of all of them, by name.
    told
        What each host is, by name.
    findings
        What speaks against the numbers of each, by name.
    one_kernel
        Hosts that ran on the kernel of another one, with that one.
    unreadable
        Hosts that cannot be read any more, and why not; they are in none of the others.
    """

    sets: Sequence[HostSet]
    used: Sequence[str]
    left_out: Mapping[str, str]
    tables: Mapping[str, HostTables]
    told: Mapping[str, Told]
    findings: Mapping[str, Sequence[Facts]]
    one_kernel: Mapping[str, str]
    unreadable: Mapping[str, str] = field(default_factory=dict)


def fleet_facts(
    fleet: Fleet, effects: Mapping[Cell, Effect], crossovers: pd.DataFrame, *, n_simulated: int
) -> Facts:
    """Return what the report says.

    Parameters
    ----------
    n_simulated
        Of the hosts that are used, those that say of themselves that they are simulated.

    Keys
    ----
    hosts
        What each is, and whether it enters what is said of all.
    emulated
        See `copycost.compare.hosts.host_tables.emulated_of`.
    conditions, round_trips
        Per condition its pairs; see `_pair`.
    """
    trips = {cell: effect for cell, effect in effects.items() if cell[3] in ROUND_TRIP_TIMES}
    streams = {cell: effect for cell, effect in effects.items() if cell not in trips}
    facts: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "confidence": SETTINGS.confidence,
            "simulated": n_simulated == len(fleet.used),
            "n_simulated": n_simulated,
            "hosts": [_host(fleet, one) for one in fleet.sets],
            "n_hosts": len(fleet.used),
            "n_older": sum(why == "older" for why in fleet.left_out.values()),
            "one_kernel": [
                {
                    "name": name,
                    "others": [one for one, of in fleet.one_kernel.items() if of == name],
                }
                for name in dict.fromkeys(fleet.one_kernel.values())
            ],
            "emulated": emulated_of([fleet.tables[name] for name in fleet.used]),
            "doubted": _doubted(fleet),
            "unreadable": [{"name": name, "why": why} for name, why in fleet.unreadable.items()],
            "enough_for_intervals": len(fleet.used) >= FEWEST,
            "enough_for_facts": len(fleet.used) >= FEWEST_HOSTS,
            "fewest": FEWEST,
            "fewest_for_facts": FEWEST_HOSTS,
            "alike": _alike(fleet),
            "conditions": _conditions(fleet, streams, crossovers),
            "round_trips": _conditions(fleet, trips, None),
        }
    )
    return facts


def _host(fleet: Fleet, one: HostSet) -> Facts:
    cells, told = fleet.tables[one.name].cells, fleet.told[one.name]
    return {
        "name": one.name,
        "host": one.host,
        "state": one.state,
        "changes": list(one.changes),
        "left_out": fleet.left_out.get(one.name),
        "told": {name: shown_fact(name, value) for name, value in told.items()},
        "n_repetitions": len(cells),
        "n_measured": int((cells["status"] == "measured").sum()),
        "disturbed": fleet.tables[one.name].disturbed,
    }


def _doubted(fleet: Fleet) -> list[Facts]:
    """Return the hosts whose numbers an audit says something against."""
    found = {
        one.name: [each for each in fleet.findings[one.name] if each["refutes"]]
        for one in fleet.sets
    }
    return [{"name": name, "findings": of} for name, of in found.items() if of]


def _alike(fleet: Fleet) -> list[Facts]:
    """Return the facts that every host tells, and tells alike."""
    if len(fleet.used) < 2:
        return []
    first, *others = (fleet.told[name] for name in fleet.used)
    return [
        {"name": name, "value": shown_fact(name, value)}
        for name, value in first.items()
        if name != "kernel"  # its series says as much
        and value is not None
        and all(one[name] == value for one in others)
    ]


def _conditions(
    fleet: Fleet, effects: Mapping[Cell, Effect], crossovers: pd.DataFrame | None
) -> list[Facts]:
    pairs: dict[str, list[tuple[str, str]]] = {}
    for condition, implementation, baseline, *_ in effects:
        of = pairs.setdefault(condition, [])
        if (implementation, baseline) not in of:
            of.append((implementation, baseline))
    return [
        {
            "name": condition,
            "pairs": [
                _pair(fleet, effects, crossovers, condition, *pair)
                for pair in sorted(of, key=_order)
            ],
        }
        for condition, of in sorted(pairs.items())
    ]


def _order(pair: tuple[str, str]) -> tuple[int, int]:
    order = in_order(["two_copy", *pair])
    return order.index(pair[1]), order.index(pair[0])


def _pair(
    fleet: Fleet,
    effects: Mapping[Cell, Effect],
    crossovers: pd.DataFrame | None,
    condition: str,
    implementation: str,
    baseline: str,
) -> Facts:
    """Return what is said of one way beside another under one condition.

    Keys
    ----
    n_threads
        The fewest that most hosts have; all else is of these.
    quantities
        Throughput and CPU time per byte, or the median and the 99th percentile of round trips:
        `point` (one size, by host), `sizes`, `holds`, `turns` (None of round trips).
    """
    head = (condition, implementation, baseline)
    cells = {cell: effect for cell, effect in effects.items() if cell[:3] == head}
    n_threads = _most_hosts(cells, 5, prefer=lambda n: n)
    at = {cell: effect for cell, effect in cells.items() if cell[5] == n_threads}
    quantities = []
    for metric in dict.fromkeys(cell[3] for cell in at):
        of = {cell[4]: effect for cell, effect in at.items() if cell[3] == metric}
        mine = None
        if crossovers is not None:
            mine = crossovers[
                (crossovers["condition"] == condition)
                & (crossovers["implementation"] == implementation)
                & (crossovers["baseline"] == baseline)
                & (crossovers["metric"] == metric)
                & (crossovers["n_threads"] == n_threads)
            ]
        quantities.append(_quantity(fleet, metric, of, mine))
    order = (THROUGHPUT, *ROUND_TRIP_TIMES)
    quantities.sort(key=lambda one: (*order, one["metric"]).index(one["metric"]))
    return {
        "condition": condition,
        "implementation": implementation,
        "baseline": baseline,
        "n_threads": n_threads,
        "quantities": quantities,
    }


def _most_hosts(cells: Mapping[Cell, Effect], axis: int, prefer: Any) -> int:  # noqa: ANN401
    """Return the value of an axis that most hosts have; of several, the one preferred."""
    most: dict[int, int] = {}
    for cell, effect in cells.items():
        value = int(str(cell[axis]))
        most[value] = max(most.get(value, 0), effect.told.n)
    return min((value for value, n in most.items() if n == max(most.values())), key=prefer)


def _quantity(
    fleet: Fleet, metric: str, of: Mapping[int, Effect], crossovers: pd.DataFrame | None
) -> Facts:
    more_is_better = metric == THROUGHPUT
    sizes = [_size(size, of[size], more_is_better) for size in sorted(of)]
    most = max(one["n"] for one in sizes)
    # sizes that few hosts were refined at say little of all
    common = [one for one in sizes if 2 * one["n"] > most]
    point_bytes = min(
        (one["msg_bytes"] for one in common if one["n"] == most),
        key=lambda size: abs(math.log(size / POINT_BYTES)),
    )
    return {
        "metric": metric,
        "point": _point(fleet, point_bytes, of[point_bytes], more_is_better),
        "sizes": common,
        "holds": holds_at(common),
        "turns": None if crossovers is None else _turns(crossovers),
    }


def _size(size: int, effect: Effect, more_is_better: bool) -> Facts:
    told, signs = effect.told, effect.signs(more_is_better=more_is_better)
    return {"msg_bytes": size} | _numbers(effect) | {
        "n_better": int((signs == 1).sum()),
        "n_worse": int((signs == -1).sum()),
        "n_open": int((signs == 0).sum()),
        "mean_sign": _side(told.low, told.high, more_is_better),
        "next_sign": _side(told.next_low, told.next_high, more_is_better),
    }  # fmt: skip


def _numbers(effect: Effect) -> Facts:
    told = effect.told
    ends = np.exp([told.mean, told.low, told.high, told.next_low, told.next_high])
    names = ("ratio", "low", "high", "next_low", "next_high")
    return {"n": told.n, **dict(zip(names, map(float, ends), strict=True)),
            "spread": told.spread, "spread_low": told.spread_low,
            "spread_high": told.spread_high}  # fmt: skip


def _side(low: float, high: float, more_is_better: bool) -> int:
    """Return 1 where an interval of logarithms is better throughout, -1 worse, 0 neither."""
    sign = int(low > 0.0) - int(high < 0.0)
    return sign if more_is_better else -sign


def _point(fleet: Fleet, msg_bytes: int, effect: Effect, more_is_better: bool) -> Facts:
    names = list(fleet.used)
    told = [fleet.told[name] for name in names]
    disturbed = [fleet.tables[name].disturbed for name in names]
    far = [k for k in np.argsort(-np.abs(np.nan_to_num(effect.beyond)))
           if np.nan_to_num(effect.beyond[k]) != 0.0]  # fmt: skip
    one = _size(msg_bytes, effect, more_is_better)
    found = associations(effect.logs, compared_facts(told), effect.n_looks)
    groups = next((fact.name for fact in found if fact.groups), None)
    return one | {
        "verdict": verdict_of(one),
        "grouped_by": groups,
        "hosts": [_of_host(name, effect, k) | {"group": told[k][groups] if groups else None}
                  for k, name in enumerate(names) if np.isfinite(effect.logs[k])],
        "outliers": [
            _of_host(names[k], effect, int(k)) | {"unlike": unlike_others(int(k), told, disturbed)}
            for k in far[:_MOST_NAMED]
        ],
        "n_outliers": len(far),
        "goes_with": [
            {"name": fact.name, "sign": fact.sign, "p_value": fact.p_value, "n": fact.n,
             "groups": [{"value": text, "n": n, "ratio": math.exp(mean)}
                        for text, n, mean in fact.groups]}
            for fact in found
        ],
    }  # fmt: skip


def _of_host(name: str, effect: Effect, place: int) -> Facts:
    log, half = effect.logs[place], effect.halves[place]
    return {"name": name, "ratio": math.exp(log), "low": math.exp(log - half),
            "high": math.exp(log + half)}  # fmt: skip


def _turns(crossovers: pd.DataFrame) -> Facts:
    """Return from which size on one way is better, by host: outcomes, and where the places lie."""
    outcomes = Counter(str(outcome) for outcome in crossovers["outcome"])
    turning = crossovers[crossovers["outcome"] == "from"]
    below, above = (turning[f"{end}_bytes"].to_numpy(dtype=np.float64)
                    for end in ("below", "above"))  # fmt: skip
    # one that a host has: no size between two hosts' was measured
    middle = np.argsort(below * above, kind="stable")[(len(turning) - 1) // 2 :][:1]
    return {
        "outcomes": {outcome.value: outcomes[outcome.value] for outcome in Outcome},
        "n_from": len(turning),
        "middle_below": int(below[middle[0]]) if len(turning) else None,
        "middle_above": int(above[middle[0]]) if len(turning) else None,
        "hosts": [_place(row) for row in crossovers.to_dict("records")],
    }


def _place(row: Mapping[Any, Any]) -> Facts:
    ends = {end: row[end] for end in ("below_bytes", "above_bytes")}
    return {"name": row["host"], "outcome": row["outcome"]} | {
        end: None if math.isnan(value) else int(value) for end, value in ends.items()
    }
