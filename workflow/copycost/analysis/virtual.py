"""What virtual machines cost: who pays for a byte, and the same cells without guests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, mean_over_cells
from copycost.analysis.conditions import POINT, Studied, studied_conditions, with_condition
from copycost.analysis.external_validity import copied_shares
from copycost.analysis.json_values import Facts, plain
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts, together
from copycost.config.conditions import Condition
from copycost.config.testbeds import without_guests
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import WATCHED
from copycost.stats.estimates import estimate
from copycost.stats.ratios import paired_ratio

PARTS = ("vcpu", "io", "vhost", "worker", "apart")
"""What the CPU time of a byte outside consists of: the threads of virtual CPUs, the hypervisor's
main loop and I/O threads, vhost, its other threads; the process of a side that runs in no guest."""

_OUTSIDE = "outside_cpu_ns_per_byte"
_INSIDE = "both_cpu_ns_per_byte"
_TRIP_OUTSIDE = "outside_cpu_ns_per_round_trip"
_TRIP_INSIDE = "both_cpu_ns_per_round_trip"
# what is compared: its column in guests, and the one of the same cells without guests
_COMPARED = {
    "throughput": (THROUGHPUT, THROUGHPUT),
    "inside": (_INSIDE, _INSIDE),
    "outside": (_OUTSIDE, _INSIDE),
}
_COMPARED_TRIPS = {
    "p50": ("p50_ns", "p50_ns"),
    "p99": ("p99_ns", "p99_ns"),
    "inside": (_TRIP_INSIDE, _TRIP_INSIDE),
    "outside": (_TRIP_OUTSIDE, _TRIP_INSIDE),
}
_GUEST, _WITHIN = "guests_cpu_ns_per_byte", "within_cpu_ns_per_byte"
_STALLED = "stalled_ns_per_byte"
# a guest counts in ticks, of which a window has few
_LEAST_STALLED = 0.02
_PARTIES = ("guest", "hypervisor", "overhead")


def virtual_facts(
    views: Mapping[str, View],
    published: pd.DataFrame | None = None,
    guest: Mapping[str, Any] | None = None,
    round_trips: Sequence[Facts] = (),
) -> Facts | None:
    """Return what virtual machines cost; None where no condition has any.

    Views are by slug; `published` is ``data/published/cpu-overhead-tcp.csv``, `guest` the content
    of results/guest.json, `round_trips` what `round_trips_in_guests` returns.

    Keys
    ----
    accelerators, emulated: What ran the guests, and whether any of them was emulated.
    conditions: Per condition in guests that was measured: slug, testbed, guests (their number),
        accelerator, emulated, uses (see `_uses`), parts (see `_parts`; None where the hypervisors
        were not counted), within (share of the processes in what the guests count as theirs; None
        likewise), stalled (share of the latter for which their virtual CPUs did not run; None
        likewise, and where it is too little to be told), copied (per implementation that asks for
        no copy: implementation, copied_share by the completions).
    compared: Per condition in guests, and the one without them that differs in nothing else; see
        `_compared`.
    round_trips: As given, where anything was measured in guests.
    alone: Slugs of those in guests that lack the other.
    published: The published rows of what guests and their hypervisors used.
    made: What guests were made of (kernel, qemu, spec, kvm: see
        `copycost.hosts.guest.build_image`); None where that is not known.
    """
    inside = [view for view in views.values() if view.studied.guests]
    if not inside:
        return None
    measured = [replace(view, rows=with_outside(view.rows)) for view in inside if view.is_measured]
    others = [views.get(slug_without(view.studied.condition) or "") for view in measured]
    compared = [
        found
        for view, other in zip(measured, others, strict=True)
        if other and other.is_measured and (found := _compared(view, other))
    ]
    known = {one["slug"] for one in compared}
    of_guests = None if published is None else published[published["qemu_cpu_max_percent"].notna()]
    return {
        "accelerators": sorted({name for view in measured if (name := view.studied.accelerator)}),
        "emulated": any(view.studied.emulated for view in measured),
        "conditions": [_condition(view) for view in measured],
        "compared": compared,
        "round_trips": [*round_trips] if measured else [],
        "alone": [view.name for view in measured if view.name not in known],
        "published": [] if of_guests is None else plain(of_guests.to_dict("records")),
        "made": guest["virtual"] if guest and guest["virtual"]["unavailable"] is None else None,
    }


def slug_without(condition: Condition) -> str | None:
    """Return the condition that differs in having no guests alone; None where there is none."""
    testbed = without_guests(condition.testbed)
    return None if testbed is None else replace(condition, testbed=testbed).slug


def with_outside(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of the cells table with what a byte costs the machine that the guests run on.

    Columns
    -------
    outside_cpu_ns_per_byte: CPU time of all hypervisors, and of a process that runs in no guest;
        NaN where the hypervisors were not counted.
    PART_part_cpu_ns_per_byte: Its `PARTS`, whose sum it is.
    guests_cpu_ns_per_byte, within_cpu_ns_per_byte: What the guests count as theirs, and of it the
        processes in them.
    stalled_ns_per_byte: By how much that is longer than their virtual CPUs ran.
    """
    watched, alone = _watched(rows), _alone(rows)
    some = watched["sender"] | watched["receiver"]
    stalled = [
        (rows[f"{side}_guest_cpu_ns_per_byte"] - rows[f"{side}_vcpu_cpu_ns_per_byte"])
        .clip(lower=0.0)
        .where(watched[side], 0.0)
        for side in SIDES
    ]
    found = {
        _OUTSIDE: outside_cpu(rows, "byte"),
        _GUEST: _total(rows, "guest_", watched).where(some),
        _WITHIN: _total(rows, "", {side: ~outside for side, outside in alone.items()}),
        _STALLED: stalled[0] + stalled[1],
        part_column("apart"): _total(rows, "", alone),
    }
    found |= {
        part_column(part): _total(rows, f"{part}_", watched).where(some) for part in PARTS[:-1]
    }
    # at once: a table of so many columns takes no single ones
    return pd.concat([rows, pd.DataFrame(found)], axis="columns")


def outside_cpu(rows: pd.DataFrame, unit: str) -> pd.Series:
    """Return the CPU time [ns] of all hypervisors, and of a process in no guest, per unit of work.

    NaN where the hypervisors were not counted; for the units see
    `copycost.records.cpu_attribution.UNITS`.
    """
    watched = _watched(rows)
    total = _total(rows, "hypervisor_", watched, unit) + _total(rows, "", _alone(rows), unit)
    return total.where(watched["sender"] | watched["receiver"])


def _watched(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return, per side, whether the hypervisor of its guest was watched."""
    return {side: rows[f"{side}_guest_status"].isin(WATCHED) for side in SIDES}


def _alone(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return, per side, whether it runs in no guest."""
    return {side: rows[f"{side}_guest_status"] == "no_guest" for side in SIDES}


def _total(
    rows: pd.DataFrame, party: str, where: Mapping[str, pd.Series], unit: str = "byte"
) -> pd.Series:
    """Return a party's CPU time per unit of work, of the sides of which something holds."""
    columns = {side: rows[f"{side}_{party}cpu_ns_per_{unit}"] for side in SIDES}
    sender, receiver = (columns[side].where(where[side], 0.0) for side in SIDES)
    return sender + receiver


def part_column(part: str) -> str:
    """Return the column of one of `PARTS`."""
    return f"{part}_part_cpu_ns_per_byte"


def _condition(view: View) -> Facts:
    stalled = mean_over_cells(view, _STALLED, _GUEST)
    return {
        "slug": view.name,
        "testbed": view.studied.condition.testbed,
        "guests": view.studied.guests,
        "accelerator": view.studied.accelerator,
        "emulated": view.studied.emulated,
        "uses": list(_uses(view)),
        "parts": _parts(view),
        "within": mean_over_cells(view, _WITHIN, _GUEST),
        "stalled": stalled if stalled and stalled["value"] >= _LEAST_STALLED else None,
        "copied": [
            {"implementation": name, "copied_share": share}
            for name, share in copied_shares(view).items()
            if share is not None
        ],
    }


def _uses(view: View) -> Iterator[Facts]:
    """Yield what each side used, inside and outside: a row per guest.

    Keys
    ----
    sides: Those that run in the guest.
    process, guest, hypervisor, overhead: [% of one CPU]: low and high, the smallest and the largest
        median of the cells; the process is that of all its sides together.
    """
    rows = view.measured
    shared = (rows["receiver_guest_status"] == "same_guest").any()
    percent = rows[THROUGHPUT] / 8.0 * 1e-9 * 100.0
    for side, counted in _watched(rows).items():
        if not counted.any():
            continue
        sides = [*SIDES] if shared else [side]
        columns = {"process": sum(rows[f"{one}_cpu_ns_per_byte"] for one in sides) * percent}
        columns |= {party: rows[f"{side}_{party}_cpu_ns_per_byte"] * percent for party in _PARTIES}
        medians = pd.DataFrame({**columns, **rows[POINT]}).groupby(POINT).median().dropna()
        if len(medians):
            yield {"sides": sides} | {
                name: {"low": float(medians[name].min()), "high": float(medians[name].max())}
                for name in columns
            }


def _parts(view: View) -> list[Facts] | None:
    """Return what the CPU time outside consists of, the largest part first; None if not counted.

    Keys
    ----
    name: Of `PARTS`; those that are 0 throughout are left out.
    value, low, high, n: Share of the whole: its mean over the cells in each round, and of that the
        mean over the rounds, so that the shares add up to 1.
    """
    found = [
        {"name": name} | share
        for name in PARTS
        if (share := mean_over_cells(view, part_column(name), _OUTSIDE)) and share["value"] > 0.0
    ]
    return sorted(found, key=lambda part: -float(part["value"])) or None


def _pair(studied: Studied, without: str, rows: pd.DataFrame) -> Facts:
    """Return what a condition in guests is, and the one that it is compared with.

    Keys
    ----
    slug, without: The condition in guests and the one that differs in nothing else.
    accelerator, emulated: Of the first.
    apart: Whether the process of one of its sides runs in no guest.
    """
    return {
        "slug": studied.name,
        "without": without,
        "accelerator": studied.accelerator,
        "emulated": studied.emulated,
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


def _point(cell: tuple[Any, ...]) -> Facts:
    return dict(zip(POINT, (str(cell[0]), int(cell[1]), int(cell[2])), strict=True))


def _compared(view: View, other: View) -> Facts | None:
    """Return what guests make of the cells that were measured without them, too.

    None where no cell was measured under both in the same round.

    Keys
    ----
    slug, without, accelerator, emulated, apart: See `_pair`.
    mtu: The largest packet's size [byte] in guests (here) and without (there), where they differ.
    throughput, inside, outside: The first over the second, over the cells together and paired by
        round, see `copycost.analysis.ratio_facts`: throughput; CPU time per byte of the two
        processes, in the guests as these say, over that of the two processes without guests; and
        CPU time per byte of the hypervisors over the latter. None where that was not measured.
    cells: Per cell: the columns of `POINT`; throughput, without_throughput [bit/s], cost (of the
        processes without guests), inside, outside [ns per byte] (estimates); rate, price (ratios of
        throughput and of outside to cost, paired by round); parts (share of outside by the names of
        `PARTS`, means over the rounds, which add up to 1; None where not counted).
    """
    names = [name for name in view.implementations if view.has(name) and other.has(name)]
    logs = _log_ratios(view.cube, other.cube, names, _COMPARED)
    if not logs["throughput"].notna().to_numpy().any():
        return None
    return {
        **_pair(view.studied, other.name, view.rows),
        "mtu": _mtus(view, other),
        **{key: together(view, found) if len(found) else None for key, found in logs.items()},
        "cells": list(_cells(view, other, logs)),
    }


def _mtus(view: View, other: View) -> Facts | None:
    here, there = (sorted(one.measured["mtu_bytes"].dropna().unique()) for one in (view, other))
    if here == there or len(here) != 1 or len(there) != 1:
        return None
    return {"here": int(here[0]), "there": int(there[0])}


def _shares(rows: pd.DataFrame) -> Facts | None:
    counted = rows[rows[_OUTSIDE] > 0.0]
    if counted.empty:
        return None
    return {name: float((counted[part_column(name)] / counted[_OUTSIDE]).mean()) for name in PARTS}


def _cells(view: View, other: View, logs: Mapping[str, pd.DataFrame]) -> Iterator[Facts]:
    settings = view.settings
    in_guests, without = (dict(list(one.measured.groupby(POINT))) for one in (view, other))
    for cell in logs["throughput"].index:
        here, there = in_guests[cell], without[cell]
        yield {
            **_point(cell),
            "throughput": estimate(here[THROUGHPUT], settings),
            "without_throughput": estimate(there[THROUGHPUT], settings),
            "cost": estimate(there[_INSIDE], settings),
            "inside": estimate(here[_INSIDE], settings),
            "outside": estimate(here[_OUTSIDE], settings),
            "parts": _shares(here),
            "rate": _ratio_at(logs["throughput"], cell, settings.confidence),
            "price": _ratio_at(logs["outside"], cell, settings.confidence),
        }


def round_trips_in_guests(
    table: pd.DataFrame | None, section: Mapping[str, Any] | None, confidence: float
) -> list[Facts]:
    """Return what guests make of round trips that were measured without them, too.

    Read are the table of round trips, None where there are none, and the section `round_trips` of
    the configuration.

    Keys
    ----
    slug, without, accelerator, emulated, apart: See `_pair`.
    cells: Per cell that both measured in the same round: implementation, msg_bytes, n_threads; p50,
        p99 (percentiles of the round trip), inside (CPU time of both processes, as their kernels
        count it) and outside (of the hypervisors and of a process in no guest, over that of the two
        processes without guests): ratios paired by round, see `ratio_facts`; None where not
        measured.
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
        here = of[studied.name]
        outside = outside_cpu(here, "round_trip").rename(_TRIP_OUTSIDE)
        here = pd.concat([here, outside], axis=1)
        names = studied.implementations
        logs = _log_ratios(LogCube(here), LogCube(of[without]), names, _COMPARED_TRIPS)
        cells = [
            _point(cell)
            | {key: _ratio_at(ratios, cell, confidence) for key, ratios in logs.items()}
            for cell in logs["p50"].index
        ]
        if cells:
            found.append(_pair(studied, without, here) | {"cells": cells})
    return found
