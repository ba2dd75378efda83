"""Everything that the report over hosts says, as numbers and verdicts."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import ROUND_TRIP_TIMES
from copycost.analysis.stats.crossover import Outcome
from copycost.analysis.stats.random_effects import FEWEST
from copycost.compare.hosts.fleet import CELL, Across, Fleet, judge
from copycost.compare.hosts.host_tables import ENDS, METRICS, PAIR, HostTables
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
from copycost.wording.markdown import slug

POINT_BYTES = 65536
"""Size of the messages that hosts are told by, or the nearest that most hosts have."""


def fleet_facts(fleet: Fleet, found: Across) -> Facts:
    """Return what the report says.

    Hosts of tools/simulate_fleet.py say that they are simulated; ``emulated`` is how many
    repetitions of emulated guests enter no ratio, and of how many hosts.
    """
    used = fleet.used.values()
    processors = [str(of.told["processor"]) for of in used]
    emulated = [of.n_emulated for of in used]
    facts: Facts = plain(
        {
            "n_simulated": sum(name.startswith("Simulated ") for name in processors),
            "hosts": [_host(of) | {"left_out": fleet.left_out.get(name)}
                      for name, of in fleet.hosts.items()],
            "n_hosts": len(used),
            "n_older": sum(why == "older" for why in fleet.left_out.values()),
            "one_kernel": fleet.one_kernel,
            "emulated": {"n_repetitions": sum(emulated), "n_hosts": sum(n > 0 for n in emulated)},
            "without_doubted": _without_doubted(fleet, found),
            "unreadable": fleet.unreadable,
            "enough_for_intervals": len(used) >= FEWEST,
            "fewest": FEWEST,
            "pairs": list(pairs_of(found)),
        }
    )  # fmt: skip
    return facts


def _without_doubted(fleet: Fleet, found: Across) -> Facts | None:
    """Return how many cells' verdicts would change without the hosts that an audit doubts.

    None where no host that counts is doubted. A cell that no other host has changes too.
    """
    doubted = [name for name, of in fleet.used.items() if _refuting(of)]
    if not doubted:
        return None
    verdicts, left = _verdicts(found), found.ratios[~found.ratios["host"].isin(doubted)]
    again = {} if left.empty else _verdicts(judge(left, found.crossovers))
    n_changed = sum(again.get(cell) != verdict for cell, verdict in verdicts.items())
    return {"n_compared": len(verdicts), "n_changed": n_changed}


def _verdicts(found: Across) -> Facts:
    """Return what holds of each cell over hosts, and on which side."""
    rows: list[Facts] = plain(found.cells.to_dict("records"))
    return {
        str([row[name] for name in CELL]): (holds_for(row), row["next_sign"], row["mean_sign"])
        for row in rows
    }


def _refuting(tables: HostTables) -> list[Facts]:
    return [finding for finding in tables.findings if finding["refutes"]]


def _host(tables: HostTables) -> Facts:
    one, measured = tables.one, tables.measured
    return {
        "name": one.name,
        "host": one.host,
        "changes": one.changes,
        "told": tables.told,
        "n_repetitions": max(len(tables.cells), _n_planned(one.folder / "config.json")),
        "n_measured": len(measured),
        "disturbed": measured["warnings"].notna().mean(),
        "doubts": _refuting(tables),
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


def pairs_of(found: Across) -> Iterator[Facts]:
    """Yield what is said of one way beside another under one condition, streams first.

    All is of the fewest threads that most hosts have. Quantities are throughput and CPU time per
    byte, or the median and the 99th percentile of round trips.
    """
    ways = in_order([*found.cells["implementation"], *found.cells["baseline"]])
    is_trip = found.cells["metric"].isin(ROUND_TRIP_TIMES)
    groups = {key: of for key, of in found.cells.groupby([is_trip, *PAIR])}
    for key in sorted(groups, key=lambda of: (*of[:2], ways.index(of[3]), ways.index(of[2]))):
        cells, pair = groups[key], dict(zip(PAIR, key[1:], strict=True))
        n_threads = cells.loc[cells["n_hosts"] == cells["n_hosts"].max(), "n_threads"].min()
        there = set(cells.loc[cells["n_threads"] == n_threads, "metric"])
        of_pair = found.only(**pair, n_threads=n_threads)
        yield pair | {
            "id": "-".join(["trips"] * bool(key[0]) + [slug(name) for name in key[1:]]),
            "study": "round_trips" if key[0] else "streams",
            "n_threads": n_threads,
            "quantities": [
                _quantity(metric, of_pair.only(metric=metric))
                for metric in METRICS if metric in there
            ],
        }  # fmt: skip


def _quantity(metric: str, found: Across) -> Facts:
    """Return what is said of a quantity: at one size of each host, and along the sizes."""
    cells = found.cells.drop(columns=[*PAIR, "metric", "n_threads"])
    sizes: list[Facts] = plain(cells.to_dict("records"))
    most = max(one["n_hosts"] for one in sizes)
    # sizes that few hosts were refined at say little of all
    common = [one for one in sizes if 2 * one["n_hosts"] > most]
    point = min(
        (one for one in common if one["n_hosts"] == most),
        key=lambda one: abs(math.log(one["msg_bytes"] / POINT_BYTES)),
    )
    ratios = found.ratios[found.ratios["msg_bytes"] == point["msg_bytes"]]
    hosts = ratios[["host", "ratio", "low", "high"]].merge(
        found.crossovers[["host", "outcome", *ENDS]], on="host", how="left"
    )
    beyond = ratios["beyond"].abs()
    off = ratios.loc[beyond[beyond > 0.0].sort_values(ascending=False).index, "host"]
    return {
        "metric": metric,
        "point": point | {"holds_for": holds_for(point)},
        "hosts": hosts.to_dict("records"),
        "outliers": list(off),
        "sizes": [one["msg_bytes"] for one in common],
        "holds": holds_at(common),
        # of round trips nothing turns
        "turns": None if metric in ROUND_TRIP_TIMES else _turns(found.crossovers),
    }


def _turns(crossovers: pd.DataFrame) -> Facts:
    """Return how many hosts are better from a size on, or not so, and where the middle one is."""
    outcomes = crossovers["outcome"].value_counts()
    ends = crossovers.loc[crossovers["outcome"] == "from", ENDS]
    ends = ends.loc[ends.prod(axis=1).sort_values(kind="stable").index]
    # one that a host has: no size between two hosts' was measured
    middle = [None, None] if ends.empty else ends.iloc[(len(ends) - 1) // 2]
    return {outcome.value: int(outcomes.get(outcome.value, 0)) for outcome in Outcome} | {
        "middle": list(middle)
    }


def holds_for(one: Facts) -> str:
    """Return of which hosts it may be said that a way is better, or that it is worse.

    ``every host``: as far as can be told, and expected of a further one; ``all but a few``:
    expected of a further one, but a few are otherwise for sure; ``it depends``: better on some
    hosts and worse on others for sure; ``the mean``, which tells nothing of a further one; ``some
    hosts``: for sure, and on none the other way, though these hosts leave the mean open; ``open``:
    seen nowhere; ``too few hosts`` to say.
    """
    n_better, n_worse = one["n_better"], one["n_worse"]
    if one["n_hosts"] < FEWEST and not (n_better and n_worse):
        return "too few hosts"
    if one["next_sign"]:
        is_otherwise = n_worse if one["next_sign"] > 0 else n_better
        return "all but a few" if is_otherwise else "every host"
    if n_better and n_worse:
        return "it depends"
    if one["mean_sign"]:
        return "the mean"
    return "some hosts" if n_better or n_worse else "open"


def holds_at(sizes: Sequence[Facts]) -> Facts:
    """Return the sizes by what holds on all hosts: better, worse, or it depends on the host."""
    found: dict[str, list[int]] = {"better": [], "worse": [], "depends": [], "open": []}
    for one in sizes:
        side = "better" if one["next_sign"] > 0 else "worse"
        holds = "depends" if one["n_better"] and one["n_worse"] else "open"
        found[side if holds_for(one) == "every host" else holds].append(one["msg_bytes"])
    return dict(found)
