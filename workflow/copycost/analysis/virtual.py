"""What virtual machines cost: who pays for a byte, and the same cells without guests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT, Studied, studied_conditions, with_condition
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts, together
from copycost.analysis.real_nic_validity import copied_facts
from copycost.analysis.stats.estimates import estimate
from copycost.analysis.stats.ratios import paired_ratio
from copycost.config.conditions import Condition
from copycost.config.testbeds import entry_of
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import WATCHED

PARTS = ("vcpu", "io", "vhost", "worker", "apart")
"""What the CPU time of a byte outside consists of: the threads of virtual CPUs, the hypervisor's
main loop and I/O threads, vhost, its other threads; the process of a side that runs in no guest."""

_PROCESSES = "both_cpu_ns_per_byte"
_OF_TRIP = "both_cpu_ns_per_round_trip"
# what is compared: its column in guests, and the one of the same cells without guests
_COMPARED = {
    "throughput": (THROUGHPUT, THROUGHPUT),
    "inside": (_PROCESSES, _PROCESSES),
    "outside": ("outside", _PROCESSES),
}
_COMPARED_TRIPS = {
    "p50": ("p50_ns", "p50_ns"),
    "p99": ("p99_ns", "p99_ns"),
    "inside": (_OF_TRIP, _OF_TRIP),
    "outside": ("outside", _OF_TRIP),
}
# a guest counts in ticks, of which a window has few
_LEAST_STALLED = 0.02


def virtual_facts(
    views: Mapping[str, View],
    guest: Mapping[str, Any] | None = None,
    round_trips: Sequence[Facts] = (),
) -> Facts | None:
    """Return what virtual machines cost; None where no condition has any.

    Views are by slug; `guest` is the content of results/guest.json, `round_trips` what
    `round_trips_in_guests` returns.
    """
    inside = [view for view in views.values() if view.guests]
    if not inside:
        return None
    measured = [replace(view, rows=with_outside(view.rows)) for view in inside if view.is_measured]
    others = [views.get(slug_without(view.condition) or "") for view in measured]
    compared = [
        found
        for view, other in zip(measured, others, strict=True)
        if other and other.is_measured and (found := _compared(view, other))
    ]
    known = {one["slug"] for one in compared}
    return {
        "accelerators": sorted({name for view in measured if (name := view.accelerator)}),
        "emulated": any(view.emulated for view in measured),
        "conditions": [_condition(view) for view in measured],
        "compared": compared,
        "round_trips": [*round_trips] if measured else [],
        # conditions in guests that lack the same cells without them
        "alone": [view.name for view in measured if view.name not in known],
        # see copycost.hosts.guest.build_image
        "made": guest["virtual"] if guest and guest["virtual"]["unavailable"] is None else None,
    }


def slug_without(condition: Condition) -> str | None:
    """Return the condition that differs in having no guests alone; None where there is none."""
    testbed = entry_of(condition.testbed).without_guests
    return None if testbed is None else replace(condition, testbed=testbed).slug


def with_outside(rows: pd.DataFrame, unit: str = "byte") -> pd.DataFrame:
    """Return rows of a table with what a unit of work costs the machine of the guests [ns].

    `outside` is the CPU time of all hypervisors, and of a process that runs in no guest; the
    columns of `PARTS` add up to it. `guests` is what the guests count as theirs, `within` what the
    processes in them take of that, and `stalled` by how much it is longer than their virtual CPUs
    ran. Where the hypervisors were not counted, there is NaN.
    """
    watched = {side: rows[f"{side}_guest_status"].isin(WATCHED) for side in SIDES}
    alone = _alone(rows)

    def cost(side: str, party: str) -> pd.Series:
        return rows[f"{side}_{party}cpu_ns_per_{unit}"]

    def total(party: str, where: Mapping[Any, pd.Series]) -> pd.Series:
        sender, receiver = (cost(side, party).where(where[side], 0.0) for side in SIDES)
        return sender + receiver

    stalled = [
        (cost(side, "guest_") - cost(side, "vcpu_")).clip(lower=0.0).where(watched[side], 0.0)
        for side in SIDES
    ]
    apart = total("", alone)
    counted = {
        "outside": total("hypervisor_", watched) + apart,
        "guests": total("guest_", watched),
        **{part: total(f"{part}_", watched) for part in PARTS[:-1]},
    }
    some = watched["sender"] | watched["receiver"]
    found = {name: column.where(some) for name, column in counted.items()} | {
        "apart": apart,
        "within": total("", {side: ~outside for side, outside in alone.items()}),
        "stalled": stalled[0] + stalled[1],
    }
    # at once: a table of so many columns takes no single ones
    return pd.concat([rows, pd.DataFrame(found)], axis="columns")


def _alone(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return, per side, whether it runs in no guest."""
    return {side: rows[f"{side}_guest_status"] == "no_guest" for side in SIDES}


def _condition(view: View) -> Facts:
    shares = {name: view.mean(name, "outside") for name in PARTS}
    parts = [{"name": name} | share for name, share in shares.items() if share and share["value"]]
    stalled = view.mean("stalled", "guests")
    return {
        "slug": view.name,
        "testbed": view.condition.testbed,
        "emulated": view.emulated,
        "uses": list(_uses(view)),
        # the largest first; None where the hypervisors were not counted
        "parts": sorted(parts, key=lambda part: -float(part["value"])) or None,
        "within": view.mean("within", "guests"),
        "stalled": stalled if stalled and stalled["value"] >= _LEAST_STALLED else None,
        "copied": [one for one in copied_facts(view) if one["copied_share"] is not None],
    }


def _uses(view: View) -> Iterator[Facts]:
    """Yield, per guest, the sides that run in it and what was used inside and outside.

    Of the process of all its sides, guest, hypervisor and overhead, the smallest and the largest
    median of the cells [% of one CPU].
    """
    rows = view.measured
    shared = (rows["receiver_guest_status"] == "same_guest").any()
    percent = rows[THROUGHPUT] / 8.0 * 1e-9 * 100.0
    for side in SIDES:
        if not rows[f"{side}_guest_status"].isin(WATCHED).any():
            continue
        sides = [*SIDES] if shared else [side]
        used = {"process": sum(rows[f"{one}_cpu_ns_per_byte"] for one in sides)}
        for party in ("guest", "hypervisor", "overhead"):
            used[party] = rows[f"{side}_{party}_cpu_ns_per_byte"]
        columns = {name: column * percent for name, column in used.items()}
        medians = pd.DataFrame({**columns, **rows[POINT]}).groupby(POINT).median().dropna()
        if len(medians):
            yield {"sides": sides} | {
                name: {"low": float(medians[name].min()), "high": float(medians[name].max())}
                for name in columns
            }


def _pair(studied: Studied, without: str, rows: pd.DataFrame) -> Facts:
    """Return what is compared: a condition in guests, and the one without them."""
    return {
        "slug": studied.name,
        "without": without,
        "emulated": studied.emulated,
        # whether the process of one of its sides runs in no guest
        "apart": any(found.any() for found in _alone(rows).values()),
    }


def _log_ratios(
    here: LogCube, there: LogCube, names: Sequence[str], columns: Mapping[str, tuple[str, str]]
) -> dict[str, pd.DataFrame]:
    """Return what guests make of some columns: a row per cell and a column per round, as logs."""
    found: dict[str, pd.DataFrame] = {}
    for key, (mine, other) in columns.items():
        logs = {name: here.values(mine, name) - there.values(other, name) for name in names}
        whole = pd.concat(logs or {"": pd.DataFrame()}, names=[POINT[0]])
        found[key] = whole.dropna(how="all").dropna(axis="columns", how="all")
    return found


def _ratio_at(logs: pd.DataFrame, cell: tuple[Any, ...], confidence: float) -> Facts | None:
    """Return the ratio in a cell, paired by round; None where it was not measured."""
    if cell not in logs.index:
        return None
    return ratio_facts(paired_ratio(logs.loc[cell].to_numpy(np.float64), confidence))


def _compared(view: View, other: View) -> Facts | None:
    """Return what guests make of the cells that were measured without them in the same rounds.

    Of throughput, of the CPU time of both processes as the guests count it (inside), and of that
    outside over that of the processes without guests: ratios over the cells together. None where no
    cell was measured under both in the same round.
    """
    names = [name for name in view.implementations if view.has(name) and other.has(name)]
    logs = _log_ratios(view.cube, other.cube, names, _COMPARED)
    if not logs["throughput"].notna().to_numpy().any():
        return None
    mtus = [sorted(one.measured["mtu_bytes"].dropna().unique()) for one in (view, other)]
    differ = mtus[0] != mtus[1] and len(mtus[0]) == len(mtus[1]) == 1
    confidence = view.settings.confidence
    return {
        **_pair(view, other.name, view.rows),
        "mtu": {"here": int(mtus[0][0]), "there": int(mtus[1][0])} if differ else None,
        **{key: together(found, confidence) if len(found) else None for key, found in logs.items()},
        "cells": list(_cells(view, other, logs)),
    }


def _cells(view: View, other: View, logs: Mapping[str, pd.DataFrame]) -> Iterator[Facts]:
    """Yield, per cell, medians in guests and without [bit/s, ns per byte], and their ratios."""
    settings = view.settings
    in_guests, without = (dict(list(one.measured.groupby(POINT))) for one in (view, other))
    for cell in logs["throughput"].index:
        here, there = in_guests[cell], without[cell]
        counted = here[here["outside"] > 0.0]
        shares = counted[[*PARTS]].div(counted["outside"], axis="index").mean()
        yield {
            **dict(zip(POINT, cell, strict=True)),
            "throughput": estimate(here[THROUGHPUT], settings),
            "without_throughput": estimate(there[THROUGHPUT], settings),
            "cost": estimate(there[_PROCESSES], settings),
            "inside": estimate(here[_PROCESSES], settings),
            "outside": estimate(here["outside"], settings),
            "parts": None if counted.empty else shares.to_dict(),
            "rate": _ratio_at(logs["throughput"], cell, settings.confidence),
            "price": _ratio_at(logs["outside"], cell, settings.confidence),
        }


def round_trips_in_guests(
    table: pd.DataFrame | None, section: Mapping[str, Any] | None, confidence: float
) -> list[Facts]:
    """Return what guests make of the cells of round trips that were measured without them, too.

    Read are the table of round trips, None where there are none, and the section `round_trips` of
    the configuration. Ratios are of percentiles and of CPU time, as in `_compared`.
    """
    if table is None or section is None:
        return []
    rows = with_condition(table[table["status"] == "measured"])
    of = dict(list(rows.groupby("condition")))
    found = []
    for studied in studied_conditions([section], rows):
        without = slug_without(studied.condition) or ""
        if without not in of:
            continue
        here = with_outside(of[studied.name], "round_trip")
        cubes = LogCube(here), LogCube(of[without])
        logs = _log_ratios(*cubes, studied.implementations, _COMPARED_TRIPS)
        cells = [
            dict(zip(POINT, cell, strict=True))
            | {key: _ratio_at(ratios, cell, confidence) for key, ratios in logs.items()}
            for cell in logs["p50"].index
        ]
        if cells:
            found.append(_pair(studied, without, here) | {"cells": cells})
    return found
