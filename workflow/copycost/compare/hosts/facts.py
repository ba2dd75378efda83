"""Everything that the report over hosts says, as numbers and verdicts."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.checkout import ROOT
from copycost.compare.hosts.gathering import Fleet
from copycost.compare.hosts.host_facts import (
    FEWEST_HOSTS,
    associations,
    compared_facts,
    shown_fact,
    unlike_others,
)
from copycost.compare.hosts.host_results import HostSet
from copycost.compare.hosts.host_tables import SETTINGS
from copycost.compare.hosts.meta_analysis import CELL, PAIR, Across, judge
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
_ENDS = ("below_bytes", "above_bytes")


def fleet_facts(fleet: Fleet, found: Across) -> Facts:
    """Return what the report says.

    Hosts of tools/simulate_fleet.py say that they are simulated; ``emulated`` is how many
    repetitions of emulated guests enter no ratio, and of how many hosts.
    """
    is_trip = found.cells["metric"].isin(ROUND_TRIP_TIMES)
    used = [fleet.tables[name] for name in fleet.used]
    processors = (str(of.told.get("processor")) for of in used)
    n_simulated = sum(processor.startswith("Simulated ") for processor in processors)
    emulated = [of.n_emulated for of in used]
    alike = fleet.told.columns[(fleet.told.nunique() == 1) & fleet.told.notna().all()]
    doubted: list[Facts] = [
        {"name": one.name, "findings": refuting}
        for one in fleet.sets
        if (refuting := [of for of in fleet.tables[one.name].findings if of["refutes"]])
    ]
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
            "doubted": doubted,
            "without_doubted": _without_doubted(fleet, found, {one["name"] for one in doubted}),
            "unreadable": [{"name": name, "why": why} for name, why in fleet.unreadable.items()],
            "enough_for_intervals": len(fleet.used) >= FEWEST,
            "enough_for_facts": len(fleet.used) >= FEWEST_HOSTS,
            "fewest": FEWEST,
            "fewest_for_facts": FEWEST_HOSTS,
            # what every host tells, and tells alike; the kernel's series says as much as it
            "alike": [
                {"name": name, "value": shown_fact(name, value)}
                for name, value in used[0].told.items()
                if name in alike and name != "kernel" and len(used) > 1
            ],
            "conditions": _conditions(fleet, replace(found, cells=found.cells[~is_trip])),
            "round_trips": _conditions(fleet, replace(found, cells=found.cells[is_trip])),
        }
    )
    return facts


def _without_doubted(fleet: Fleet, found: Across, doubted: set[str]) -> Facts | None:
    """Return how many verdicts over hosts are others without those that an audit doubts.

    None where no host that counts is doubted. Verdicts are of cells; of one that no other host has,
    nothing is left.
    """
    if not doubted & set(fleet.used):
        return None
    left = found.ratios[~found.ratios["host"].isin(doubted)]
    verdicts = _verdicts(found.cells)
    again = {} if left.empty else _verdicts(judge(left, found.crossovers).cells)
    changed = [cell for cell, verdict in verdicts.items() if again.get(cell) != verdict]
    return {"n_compared": len(verdicts), "n_changed": len(changed)}


def _verdicts(cells: pd.DataFrame) -> dict[tuple[object, ...], str]:
    """Return the verdict of each cell over hosts."""
    rows: list[Facts] = plain(cells.rename(columns={"n_hosts": "n"}).to_dict("records"))
    return {tuple(row[name] for name in CELL): verdict_of(row) for row in rows}


def _host(fleet: Fleet, one: HostSet) -> Facts:
    tables = fleet.tables[one.name]
    return {
        "name": one.name,
        "host": one.host,
        "state": one.state,
        "changes": list(one.changes),
        "left_out": fleet.left_out.get(one.name),
        "told": {name: shown_fact(name, value) for name, value in tables.told.items()},
        "n_repetitions": max(len(tables.cells), _n_planned(one.folder / "config.json")),
        "n_measured": int((tables.cells["status"] == "measured").sum()),
        "disturbed": tables.disturbed,
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


def _conditions(fleet: Fleet, found: Across) -> list[Facts]:
    def order(pair: tuple[str, str]) -> tuple[int, int]:
        names = in_order(["two_copy", *pair])
        return names.index(pair[1]), names.index(pair[0])

    conditions = []
    for condition in sorted(found.cells["condition"].unique()):
        of = found.only(condition=condition)
        pairs = of.cells[["implementation", "baseline"]].itertuples(index=False, name=None)
        conditions.append({
            "name": condition,
            "pairs": [_pair(fleet, of.only(implementation=pair[0], baseline=pair[1]))
                      for pair in sorted(dict.fromkeys(pairs), key=order)],
        })  # fmt: skip
    return conditions


def _pair(fleet: Fleet, found: Across) -> Facts:
    """Return what is said of one way beside another under one condition.

    All is of the fewest threads that most hosts have. Quantities are throughput and CPU time per
    byte, or the median and the 99th percentile of round trips.
    """
    cells = found.cells
    most = cells[cells["n_hosts"] == cells["n_hosts"].max()]
    found = found.only(n_threads=most["n_threads"].min())
    order = (THROUGHPUT, *ROUND_TRIP_TIMES)
    metrics = sorted(found.cells["metric"].unique(), key=lambda one: (*order, one).index(one))
    about: Facts = plain(found.cells[[*PAIR, "n_threads"]].iloc[0].to_dict())
    return about | {
        "quantities": [_quantity(fleet, metric, found.only(metric=metric)) for metric in metrics]
    }


def _quantity(fleet: Fleet, metric: str, found: Across) -> Facts:
    cells = found.cells.drop(columns=[*PAIR, "metric", "n_threads"])
    sizes: list[Facts] = plain(cells.rename(columns={"n_hosts": "n"}).to_dict("records"))
    most = max(one["n"] for one in sizes)
    # sizes that few hosts were refined at say little of all
    common = [one for one in sizes if 2 * one["n"] > most]
    point = min(
        (one for one in common if one["n"] == most),
        key=lambda one: abs(math.log(one["msg_bytes"] / POINT_BYTES)),
    )
    return {
        "metric": metric,
        "point": point
        | {"verdict": verdict_of(point)}
        | _point(fleet, found.only(msg_bytes=point["msg_bytes"])),
        "sizes": common,
        "holds": holds_at(common),
        # of round trips nothing turns
        "turns": None if metric in ROUND_TRIP_TIMES else _turns(found.crossovers),
    }


def _point(fleet: Fleet, found: Across) -> Facts:
    """Return what hosts have at one size, in the order of the fleet's."""
    ratios = found.ratios.set_index("host")
    told = fleet.told
    disturbed = pd.Series({name: fleet.tables[name].disturbed for name in fleet.used})
    logs = ratios["log"].reindex(told.index)
    goes_with = associations(logs, compared_facts(told), found.n_looks)
    groups = next((fact["name"] for fact in goes_with if fact["groups"]), None)
    hosts = {
        name: {"name": name, "ratio": math.exp(log), "low": math.exp(log - half),
               "high": math.exp(log + half)}
        for name, log, half in ratios[["log", "half"]].itertuples(name=None)
    }  # fmt: skip
    far = ratios["beyond"][ratios["beyond"].fillna(0.0) != 0.0].abs().sort_values(ascending=False)
    return {
        "grouped_by": groups,
        "hosts": [
            hosts[name] | {"group": told.at[name, groups] if groups else None}
            for name in fleet.used if name in hosts
        ],
        "outliers": [
            hosts[name] | {"unlike": unlike_others(name, told, disturbed)}
            for name in far.index[:_MOST_NAMED]
        ],
        "n_outliers": len(far),
        "goes_with": goes_with,
    }  # fmt: skip


def _turns(crossovers: pd.DataFrame) -> Facts:
    """Return from which size on one way is better, by host: outcomes, and where the places lie."""
    outcomes = crossovers["outcome"].value_counts()
    places = [
        row | {end: None if math.isnan(row[end]) else int(row[end])
               for end in _ENDS}
        for row in crossovers.rename(columns={"host": "name"})[
            ["name", "outcome", *_ENDS]
        ].to_dict("records")
    ]  # fmt: skip
    turning = sorted(
        (one for one in places if one["outcome"] == "from"),
        key=lambda one: one["below_bytes"] * one["above_bytes"],
    )
    # one that a host has: no size between two hosts' was measured
    middle = turning[(len(turning) - 1) // 2] if turning else dict.fromkeys(_ENDS)
    return {
        "outcomes": {outcome.value: int(outcomes.get(outcome.value, 0)) for outcome in Outcome},
        "n_from": len(turning),
        "middle_below": middle["below_bytes"],
        "middle_above": middle["above_bytes"],
        "hosts": places,
    }


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
