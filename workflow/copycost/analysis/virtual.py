"""What virtual machines cost: who pays for a byte, and the same cells without guests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, mean_over_cells
from copycost.analysis.conditions import POINT, Studied, studied_round_trips, with_condition
from copycost.analysis.evidence import copied_share
from copycost.analysis.external_validity import zero_copy_implementations
from copycost.analysis.json_values import Facts, plain
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts, together
from copycost.config.conditions import Condition
from copycost.config.testbeds import without_guests
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import WATCHED
from copycost.stats.estimates import estimate
from copycost.stats.ratios import holm, paired_ratio

PARTS = ("vcpu", "io", "vhost", "worker", "apart")
"""What the CPU time of a byte outside consists of: the threads of virtual CPUs, the hypervisor's
main loop and I/O threads, vhost, its other threads; the process of a side that runs in no guest."""

_OUTSIDE = "outside_cpu_ns_per_byte"
_INSIDE = "both_cpu_ns_per_byte"
# what is compared: its column in guests, and the one of the same cells without guests
_COMPARED = {
    "throughput": (THROUGHPUT, THROUGHPUT),
    "inside": (_INSIDE, _INSIDE),
    "outside": (_OUTSIDE, _INSIDE),
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
        accelerator, emulated, n_cells, uses (see `_uses`), parts (see `_parts`; None where the
        hypervisors were not counted), within (share of the processes in what the guests count as
        theirs; None likewise), stalled (share of the latter for which their virtual CPUs did not
        run; None likewise, and where it is too little to be told), copied (per way that asks for no
        copy: implementation, copied_share by the completions).
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
    others = {view.name: views.get(slug_without(view.studied.condition) or "") for view in measured}
    compared = [
        found
        for view in measured
        if (other := others[view.name]) and other.is_measured and (found := _compared(view, other))
    ]
    of_guests = None if published is None else published[published["qemu_cpu_max_percent"].notna()]
    return {
        "accelerators": sorted({name for view in measured if (name := view.studied.accelerator)}),
        "emulated": any(view.studied.emulated for view in measured),
        "conditions": [_condition(view) for view in measured],
        "compared": compared,
        "round_trips": [*round_trips] if measured else [],
        "alone": [
            view.name for view in measured if view.name not in {one["slug"] for one in compared}
        ],
        "published": [] if of_guests is None else plain(of_guests.to_dict("records")),
        "made": guest["virtual"] if guest and guest["virtual"]["unavailable"] is None else None,
    }


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
    counted = {side: rows[f"{side}_guest_status"].isin(WATCHED) for side in SIDES}
    outdoors = {side: rows[f"{side}_guest_status"] == "no_guest" for side in SIDES}

    def total(party: str) -> pd.Series:
        parts = [
            rows[f"{side}_{party}_cpu_ns_per_byte"].where(counted[side], 0.0) for side in SIDES
        ]
        found: pd.Series = (parts[0] + parts[1]).where(counted["sender"] | counted["receiver"])
        return found

    processes = {side: rows[f"{side}_cpu_ns_per_byte"] for side in SIDES}
    apart = sum(processes[side].where(outdoors[side], 0.0) for side in SIDES)
    within = sum(processes[side].where(~outdoors[side], 0.0) for side in SIDES)
    parts = {kind: total(kind) for kind in PARTS if kind != "apart"} | {"apart": apart}
    stalled = sum(
        (rows[f"{side}_guest_cpu_ns_per_byte"] - rows[f"{side}_vcpu_cpu_ns_per_byte"])
        .clip(lower=0.0)
        .where(counted[side], 0.0)
        for side in SIDES
    )
    found = {_OUTSIDE: outside_cpu(rows, "byte"), _GUEST: total("guest"), _WITHIN: within}
    found[_STALLED] = stalled
    found |= {part_column(name): values for name, values in parts.items()}
    # at once: a table of so many columns takes no single ones
    return pd.concat([rows, pd.DataFrame(found)], axis="columns")


def outside_cpu(rows: pd.DataFrame, unit: str) -> pd.Series:
    """Return the CPU time [ns] of all hypervisors, and of a process in no guest, per unit of work.

    NaN where the hypervisors were not counted; for the units see
    `copycost.records.cpu_attribution.UNITS`.
    """
    counted = {side: rows[f"{side}_guest_status"].isin(WATCHED) for side in SIDES}
    alone = {side: rows[f"{side}_guest_status"] == "no_guest" for side in SIDES}
    total: pd.Series = sum(
        (
            rows[f"{side}_{party}cpu_ns_per_{unit}"].where(where[side], 0.0)
            for side in SIDES
            for party, where in (("hypervisor_", counted), ("", alone))
        ),
        start=pd.Series(0.0, rows.index),
    )
    return total.where(counted["sender"] | counted["receiver"])


def part_column(part: str) -> str:
    """Return the column of one of `PARTS`."""
    return f"{part}_part_cpu_ns_per_byte"


def slug_without(condition: Condition) -> str | None:
    """Return the condition that differs in having no guests alone; None where there is none."""
    testbed = without_guests(condition.testbed)
    return None if testbed is None else replace(condition, testbed=testbed).slug


def _condition(view: View) -> Facts:
    stalled = mean_over_cells(view, _STALLED, _GUEST)
    return {
        "slug": view.name,
        "testbed": view.studied.condition.testbed,
        "guests": view.studied.guests,
        "accelerator": view.studied.accelerator,
        "emulated": view.studied.emulated,
        "n_cells": len(view.measured[POINT].drop_duplicates()),
        "uses": list(_uses(view)),
        "parts": _parts(view),
        "within": mean_over_cells(view, _WITHIN, _GUEST),
        "stalled": stalled if stalled and stalled["value"] >= _LEAST_STALLED else None,
        "copied": [
            {"implementation": name, "copied_share": share}
            for name in zero_copy_implementations(view)
            if (share := copied_share(view.of(name))) is not None
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
    counted = {side: (rows[f"{side}_guest_status"].isin(WATCHED)).any() for side in SIDES}
    shared = (rows["receiver_guest_status"] == "same_guest").any()
    percent = rows[THROUGHPUT] / 8.0 * 1e-9 * 100.0
    for side in SIDES:
        if counted[side]:
            sides = [*SIDES] if shared else [side]
            columns = {
                "process": sum(rows[f"{one}_cpu_ns_per_byte"] for one in sides) * percent
            } | {party: rows[f"{side}_{party}_cpu_ns_per_byte"] * percent for party in _PARTIES}
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


def _compared(view: View, other: View) -> Facts | None:
    """Return what guests make of the cells that were measured without them, too.

    None where no cell was measured under both in the same round.

    Keys
    ----
    slug, without: The condition in guests and the one that differs in nothing else.
    accelerator, emulated: Of the first.
    apart: Whether the process of one of its sides runs in no guest.
    mtu: The largest packet's size [byte] in guests (here) and without (there), where they differ.
    throughput, inside, outside: The first over the second, over the cells together and paired by
        round, see `copycost.analysis.ratio_facts`: throughput; CPU time per byte of the two
        processes, in the guests as these say, over that of the two processes without guests; and
        CPU time per byte of the hypervisors over the latter. None where that was not measured.
    cells: Per cell: the columns of `POINT`; throughput, without_throughput [bit/s], cost (of the
        processes without guests), inside, outside [ns per byte] (estimates); rate, price (ratios of
        throughput and of outside to cost, paired by round), rate_sure, price_sure (these stand
        after Holm's correction for all cells of the pair); parts (share of outside by the names of
        `PARTS`, means over the rounds, which add up to 1; None where not counted).
    """
    names = [name for name in view.implementations if view.has(name) and other.has(name)]
    logs = {}
    for key, (here, there) in _COMPARED.items():
        over = {
            name: view.cube.values(here, name) - other.cube.values(there, name) for name in names
        }
        whole = {
            name: found.dropna(how="all").dropna(axis="columns", how="all")
            for name, found in over.items()
        }
        logs[key] = pd.concat(whole or {"": pd.DataFrame()}, names=[POINT[0]])
    if not logs["throughput"].notna().to_numpy().any():
        return None
    return {
        "slug": view.name,
        "without": other.name,
        "accelerator": view.studied.accelerator,
        "emulated": view.studied.emulated,
        "mtu": _mtus(view, other),
        "apart": any((view.rows[f"{side}_guest_status"] == "no_guest").any() for side in SIDES),
        **{key: together(view, found) if len(found) else None for key, found in logs.items()},
        "cells": list(_cells(view, other, logs)),
    }


def _mtus(view: View, other: View) -> Facts | None:
    found = [sorted(one.measured["mtu_bytes"].dropna().unique()) for one in (view, other)]
    if found[0] == found[1] or [len(one) for one in found] != [1, 1]:
        return None
    return {"here": int(found[0][0]), "there": int(found[1][0])}


def _shares(rows: pd.DataFrame) -> Facts | None:
    counted = rows[rows[_OUTSIDE] > 0.0]
    if counted.empty:
        return None
    return {name: float((counted[part_column(name)] / counted[_OUTSIDE]).mean()) for name in PARTS}


def _cells(view: View, other: View, logs: Mapping[str, pd.DataFrame]) -> Iterator[Facts]:
    confidence = view.settings.confidence
    rows = {one.name: dict(list(one.measured.groupby(POINT))) for one in (view, other)}
    told: dict[str, dict[Any, tuple[Facts, bool]]] = {}
    for key in ("throughput", "outside"):
        ratios = [paired_ratio(row, confidence) for row in logs[key].to_numpy(dtype=np.float64)]
        sure = holm(np.array([ratio.p_value for ratio in ratios])) < 1.0 - confidence
        facts = [(ratio_facts(ratio), bool(one)) for ratio, one in zip(ratios, sure, strict=True)]
        told[key] = dict(zip(logs[key].index, facts, strict=True))
    for cell, (rate, rate_sure) in told["throughput"].items():
        here, there = rows[view.name][cell], rows[other.name][cell]
        price, price_sure = told["outside"].get(cell, (None, False))
        yield {
            **dict(zip(POINT, (str(cell[0]), int(cell[1]), int(cell[2])), strict=True)),
            "throughput": estimate(here[THROUGHPUT], view.settings),
            "without_throughput": estimate(there[THROUGHPUT], view.settings),
            "cost": estimate(there[_INSIDE], view.settings),
            "inside": estimate(here[_INSIDE], view.settings),
            "outside": estimate(here[_OUTSIDE], view.settings),
            "parts": _shares(here),
            "rate": rate,
            "rate_sure": rate_sure,
            "price": price,
            "price_sure": price_sure,
        }


_TRIP_INSIDE, _TRIP_OUTSIDE = "both_cpu_ns_per_round_trip", "outside_cpu_ns_per_round_trip"
_COMPARED_TRIPS = {
    "p50": ("p50_ns", "p50_ns"),
    "p99": ("p99_ns", "p99_ns"),
    "inside": (_TRIP_INSIDE, _TRIP_INSIDE),
    "outside": (_TRIP_OUTSIDE, _TRIP_INSIDE),
}


def round_trips_in_guests(
    table: pd.DataFrame | None, section: Mapping[str, Any] | None, confidence: float
) -> list[Facts]:
    """Return what guests make of round trips that were measured without them, too.

    Read are the table of round trips, None where there are none, and the section `round_trips` of
    the configuration.

    Keys
    ----
    slug, without: The condition in guests and the one that differs in nothing else.
    accelerator, emulated: Of the first.
    apart: Whether the process of one of its sides runs in no guest.
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
    compared = (
        _compared_trips(one, of[one.name], other, of[other], confidence)
        for one in studied_round_trips(section, rows)
        if (other := slug_without(one.condition) or "") in of
    )
    return [one for one in compared if one["cells"]]


def _compared_trips(
    studied: Studied, here: pd.DataFrame, without: str, there: pd.DataFrame, confidence: float
) -> Facts:
    inside = here.assign(**{_TRIP_OUTSIDE: outside_cpu(here, "round_trip")})
    return {
        "slug": studied.name,
        "without": without,
        "accelerator": studied.accelerator,
        "emulated": studied.emulated,
        "apart": any((here[f"{side}_guest_status"] == "no_guest").any() for side in SIDES),
        "cells": [
            cell
            for name in studied.implementations
            for cell in _trip_cells(LogCube(inside), LogCube(there), name, confidence)
        ],
    }


def _trip_cells(here: LogCube, there: LogCube, name: str, confidence: float) -> Iterator[Facts]:
    logs = {
        key: here.values(one, name) - there.values(other, name)
        for key, (one, other) in _COMPARED_TRIPS.items()
    }
    logs = {key: found.dropna(how="all") for key, found in logs.items()}
    for msg_bytes, n_threads in logs["p50"].index:
        at = (msg_bytes, n_threads)
        yield {"implementation": name, "msg_bytes": int(msg_bytes), "n_threads": int(n_threads)} | {
            key: ratio_facts(paired_ratio(found.loc[at].to_numpy(float), confidence))
            if at in found.index
            else None
            for key, found in logs.items()
        }
