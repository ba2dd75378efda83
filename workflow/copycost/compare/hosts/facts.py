"""Everything that the report over hosts says, as numbers and verdicts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.analysis.stats.crossover import Outcome
from copycost.analysis.stats.random_effects import FEWEST
from copycost.compare.hosts.gathering import Fleet
from copycost.compare.hosts.host_facts import shown_fact
from copycost.compare.hosts.host_results import HostSet
from copycost.compare.hosts.host_tables import PAIR, SETTINGS
from copycost.compare.hosts.meta_analysis import CELL, Across, judge
from copycost.compare.hosts.privacy import SECTIONS
from copycost.config.checkout import ROOT
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.sources import DEFAULTS
from copycost.config.structure import from_plain
from copycost.config.yaml_loader import read_sections
from copycost.errors import CopycostError
from copycost.figures.markers import in_order
from copycost.records.files import read_json

SCHEMA_VERSION = 2
POINT_BYTES = 65536
"""Size of the messages that hosts are told by, or the nearest that most hosts have."""

_MOST_NAMED = 8
_ENDS = ["below_bytes", "above_bytes"]
_METRICS = (THROUGHPUT, *ROUND_TRIP_TIMES)


def fleet_facts(fleet: Fleet, found: Across) -> Facts:
    """Return what the report says.

    Hosts of tools/simulate_fleet.py say that they are simulated; ``emulated`` is how many
    repetitions of emulated guests enter no ratio, and of how many hosts.
    """
    used = [fleet.tables[name] for name in fleet.used]
    emulated = [of.n_emulated for of in used]
    doubted: list[Facts] = [
        {"name": one.name, "findings": refuting}
        for one in fleet.sets
        if (refuting := [of for of in fleet.tables[one.name].findings if of["refutes"]])
    ]
    facts: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "confidence": SETTINGS.confidence,
            "n_simulated": sum(str(of.told["processor"]).startswith("Simulated ") for of in used),
            "hosts": [_host(fleet, one) for one in fleet.sets],
            "n_hosts": len(used),
            "n_older": sum(why == "older" for why in fleet.left_out.values()),
            "one_kernel": fleet.one_kernel,
            "emulated": {"n_repetitions": sum(emulated), "n_hosts": sum(n > 0 for n in emulated)},
            "doubted": doubted,
            "without_doubted": _without_doubted(fleet, found, {one["name"] for one in doubted}),
            "unreadable": fleet.unreadable,
            "enough_for_intervals": len(used) >= FEWEST,
            "fewest": FEWEST,
            "pairs": list(_pairs(found)),
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
    rows: list[Facts] = plain(cells.to_dict("records"))
    return {tuple(row[name] for name in CELL): verdict_of(row) for row in rows}


def _host(fleet: Fleet, one: HostSet) -> Facts:
    tables = fleet.tables[one.name]
    return {
        "name": one.name,
        "host": one.host,
        "changes": one.changes,
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
        checked = from_plain(config, Config)
        return Grid.of(checked).n_repetitions(checked, "streams")
    except (CopycostError, OSError, ArithmeticError, KeyError, TypeError, ValueError):
        return 0


def _pairs(found: Across) -> Iterator[Facts]:
    """Yield what is said of one way beside another under one condition, streams first.

    All is of the fewest threads that most hosts have. Quantities are throughput and CPU time per
    byte, or the median and the 99th percentile of round trips.
    """
    cells = found.cells
    is_trip = cells["metric"].isin(ROUND_TRIP_TIMES)
    ways = in_order([*cells["implementation"], *cells["baseline"]])
    for study, rows in (("streams", cells[~is_trip]), ("round_trips", cells[is_trip])):
        pairs = set(rows[PAIR].itertuples(index=False, name=None))
        for pair in sorted(pairs, key=lambda one: (one[0], ways.index(one[2]), ways.index(one[1]))):
            about = dict(zip(PAIR, pair, strict=True))
            of = replace(found, cells=rows).only(**about)
            most = of.cells["n_hosts"] == of.cells["n_hosts"].max()
            of = of.only(n_threads=of.cells[most]["n_threads"].min())
            metrics = sorted(
                of.cells["metric"].unique(), key=lambda one: (*_METRICS, one).index(one)
            )
            yield about | {
                "study": study,
                "n_threads": of.cells["n_threads"].iloc[0],
                "quantities": [_quantity(one, of.only(metric=one)) for one in metrics],
            }


def _quantity(metric: str, found: Across) -> Facts:
    cells = found.cells.drop(columns=[*PAIR, "metric", "n_threads"])
    sizes: list[Facts] = plain(cells.to_dict("records"))
    most = max(one["n_hosts"] for one in sizes)
    # sizes that few hosts were refined at say little of all
    common = [one for one in sizes if 2 * one["n_hosts"] > most]
    point = min(
        (one for one in common if one["n_hosts"] == most),
        key=lambda one: abs(math.log(one["msg_bytes"] / POINT_BYTES)),
    )
    at_point = _hosts(found.only(msg_bytes=point["msg_bytes"]))
    return {
        "metric": metric,
        "point": point | {"verdict": verdict_of(point)} | at_point,
        "sizes": common,
        "holds": holds_at(common),
        # of round trips nothing turns
        "turns": None if metric in ROUND_TRIP_TIMES else _turns(found.crossovers),
    }


def _hosts(found: Across) -> Facts:
    """Return what each host has at one size, and which lie off."""
    ratios = found.ratios.set_index("host")
    hosts = ratios[["ratio", "low", "high"]].assign(name=ratios.index)
    off = ratios["beyond"].abs().where(ratios["beyond"] != 0.0).dropna()
    off = off.sort_values(ascending=False)
    return {
        "hosts": hosts.to_dict("records"),
        "outliers": hosts.loc[off.index[:_MOST_NAMED]].to_dict("records"),
        "n_outliers": len(off),
    }


def _turns(crossovers: pd.DataFrame) -> Facts:
    """Return from which size on one way is better, by host: outcomes, and where the places lie."""
    outcomes = crossovers["outcome"].value_counts()
    turning = crossovers[crossovers["outcome"] == "from"]
    places = turning["below_bytes"] * turning["above_bytes"]
    turning = turning.loc[places.sort_values(kind="stable").index, _ENDS]
    # one that a host has: no size between two hosts' was measured
    middle = [None, None] if turning.empty else turning.iloc[(len(turning) - 1) // 2]
    hosts = crossovers[["host", "outcome", *_ENDS]].rename(columns={"host": "name"})
    return {
        "outcomes": {outcome.value: int(outcomes.get(outcome.value, 0)) for outcome in Outcome},
        "middle": list(middle),
        "hosts": hosts.to_dict("records"),
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
    if one["n_hosts"] < FEWEST and not (n_better and n_worse):
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
