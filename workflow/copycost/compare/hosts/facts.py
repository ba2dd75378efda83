"""Everything that the report over hosts says, as numbers and verdicts."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.checkout import ROOT
from copycost.compare.hosts.associations import FEWEST_HOSTS, associations
from copycost.compare.hosts.gathering import Fleet
from copycost.compare.hosts.host_facts import compared_facts, shown_fact, unlike_others
from copycost.compare.hosts.host_results import HostSet
from copycost.compare.hosts.host_tables import SETTINGS
from copycost.compare.hosts.meta_analysis import Cell, Effect
from copycost.compare.hosts.privacy import SECTIONS
from copycost.config.check import normalised
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.sources import DEFAULTS
from copycost.config.structure import from_plain
from copycost.config.text import read_sections
from copycost.errors import CopycostError
from copycost.figures.markers import in_order
from copycost.records.files import read_json
from copycost.stats.crossover import Outcome
from copycost.stats.random_effects import FEWEST

SCHEMA_VERSION = 1
POINT_BYTES = 65536
"""Size of the messages that hosts are told by, or the nearest that most hosts have."""

_MOST_NAMED = 8


def fleet_facts(fleet: Fleet, effects: Mapping[Cell, Effect], crossovers: pd.DataFrame) -> Facts:
    """Return what the report says.

    Hosts of tools/simulate_fleet.py say that they are simulated; ``emulated`` is how many
    repetitions of emulated guests enter no ratio, and of how many hosts.
    """
    trips = {cell: effect for cell, effect in effects.items() if cell[3] in ROUND_TRIP_TIMES}
    streams = {cell: effect for cell, effect in effects.items() if cell not in trips}
    processors = (str(fleet.told[name].get("processor")) for name in fleet.used)
    n_simulated = sum(processor.startswith("Simulated ") for processor in processors)
    emulated = [fleet.tables[name].n_emulated for name in fleet.used]
    first, *others = (fleet.told[name] for name in fleet.used)
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
            "emulated": {"n_repetitions": sum(emulated), "n_hosts": sum(n > 0 for n in emulated)},
            "doubted": [
                {"name": one.name, "findings": refuting}
                for one in fleet.sets
                if (refuting := [of for of in fleet.tables[one.name].findings if of["refutes"]])
            ],
            "unreadable": [{"name": name, "why": why} for name, why in fleet.unreadable.items()],
            "enough_for_intervals": len(fleet.used) >= FEWEST,
            "enough_for_facts": len(fleet.used) >= FEWEST_HOSTS,
            "fewest": FEWEST,
            "fewest_for_facts": FEWEST_HOSTS,
            # what every host tells, and tells alike; the kernel's series says as much as it
            "alike": [
                {"name": name, "value": shown_fact(name, value)}
                for name, value in first.items()
                if name != "kernel"
                and others
                and value is not None
                and all(one[name] == value for one in others)
            ],
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
        "n_repetitions": max(len(cells), _n_planned(one.folder / "config.json")),
        "n_measured": int((cells["status"] == "measured").sum()),
        "disturbed": fleet.tables[one.name].disturbed,
    }


def _n_planned(path: Path) -> int:
    """Return how many repetitions of streams a host was to measure; 0 where that is not known.

    A job that ended early brings fewer.
    """
    try:
        told, config = read_json(path), read_sections(ROOT / DEFAULTS)
        config |= {name: config.get(name, {}) | told[name] for name in SECTIONS if name in told}
        checked = from_plain(normalised(config), Config)
        return Grid.of(checked).n_repetitions(checked, "streams")
    except (CopycostError, OSError, ArithmeticError, KeyError, TypeError, ValueError):
        return 0


def _conditions(
    fleet: Fleet, effects: Mapping[Cell, Effect], crossovers: pd.DataFrame | None
) -> list[Facts]:
    def order(pair: tuple[str, str]) -> tuple[int, int]:
        names = in_order(["two_copy", *pair])
        return names.index(pair[1]), names.index(pair[0])

    pairs: dict[str, dict[tuple[str, str], dict[Cell, Effect]]] = {}
    for cell, effect in effects.items():
        pairs.setdefault(cell[0], {}).setdefault(cell[1:3], {})[cell] = effect
    return [
        {"name": condition,
         "pairs": [_pair(fleet, of[pair], crossovers) for pair in sorted(of, key=order)]}
        for condition, of in sorted(pairs.items())
    ]  # fmt: skip


def _pair(fleet: Fleet, effects: Mapping[Cell, Effect], crossovers: pd.DataFrame | None) -> Facts:
    """Return what is said of one way beside another under one condition.

    All is of the fewest threads that most hosts have. Quantities are throughput and CPU time per
    byte, or the median and the 99th percentile of round trips, of which nothing turns.
    """
    condition, implementation, baseline, *_ = next(iter(effects))
    most = max(effect.told.n for effect in effects.values())
    n_threads = min(cell[5] for cell, effect in effects.items() if effect.told.n == most)
    of_metric: dict[str, dict[int, Effect]] = {}
    for cell, effect in effects.items():
        if cell[5] == n_threads:
            of_metric.setdefault(cell[3], {})[cell[4]] = effect
    order = (THROUGHPUT, *ROUND_TRIP_TIMES)
    about = {
        "condition": condition, "implementation": implementation, "baseline": baseline,
        "n_threads": n_threads,
    }  # fmt: skip
    quantities = []
    for metric in sorted(of_metric, key=lambda one: (*order, one).index(one)):
        mine = crossovers
        if mine is not None:
            for name, value in (about | {"metric": metric}).items():
                mine = mine[mine[name] == value]
        quantities.append(_quantity(fleet, metric, of_metric[metric], mine))
    return about | {"quantities": quantities}


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
    told = effect.told
    return {"msg_bytes": size, "n": told.n} | effect.row(more_is_better=more_is_better) | {
        "mean_sign": _side(told.low, told.high, more_is_better),
        "next_sign": _side(told.next_low, told.next_high, more_is_better),
    }  # fmt: skip


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
        "hosts": [
            {"name": row["host"], "outcome": row["outcome"]}
            | {end: None if math.isnan(row[end]) else int(row[end])
               for end in ("below_bytes", "above_bytes")}
            for row in crossovers.to_dict("records")
        ],
    }  # fmt: skip


HOLDS_FOR = {
    **dict.fromkeys(("better", "worse"), "every host"),
    **dict.fromkeys(("better_but", "worse_but"), "all but a few"),
    **dict.fromkeys(("mostly_better", "mostly_worse"), "the mean"),
    **dict.fromkeys(("each_better", "each_worse"), "some hosts"),
    "depends": "it depends", "few": "too few hosts", "open": "open",
}  # fmt: skip
"""What a verdict says, for a column of a table."""


def verdict_of(one: Facts) -> str:
    """Return what holds of hosts in general.

    ``better`` and ``worse``: on every host, as far as can be told, and expected of a further one;
    ``better_but``, ``worse_but``: expected of a further one, but a few are otherwise for sure;
    ``mostly_...``: in the mean, which tells nothing of a further one; ``depends``: better on some
    hosts and worse on others for sure; ``each_better``, ``each_worse``: on some hosts for sure and
    on none the other way, though these hosts leave the mean open; ``open``: seen nowhere; ``few``:
    too few hosts to say.
    """
    n_better, n_worse = one["n_better"], one["n_worse"]
    if one["n"] < FEWEST and not (n_better and n_worse):
        return "few"
    if one["next_sign"] > 0:
        return "better_but" if n_worse else "better"
    if one["next_sign"] < 0:
        return "worse_but" if n_better else "worse"
    if n_better and n_worse:
        return "depends"
    if one["mean_sign"]:
        return "mostly_better" if one["mean_sign"] > 0 else "mostly_worse"
    if n_better or n_worse:
        return "each_better" if n_better else "each_worse"
    return "open"


def holds_at(sizes: Sequence[Facts]) -> Facts:
    """Return the sizes by what holds on all hosts: better, worse, or it depends on the host."""
    found: dict[str, list[int]] = {"better": [], "worse": [], "depends": [], "open": []}
    for one in sizes:
        verdict = "depends" if one["n_better"] and one["n_worse"] else verdict_of(one)
        found[verdict if verdict in found else "open"].append(one["msg_bytes"])
    return dict(found)
