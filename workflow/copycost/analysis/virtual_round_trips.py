"""What guests make of round trips: the same cells in guests and without them, paired by round."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from copycost.analysis.conditions import Studied, studied_round_trips, with_condition
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.virtual import outside_cpu, slug_without
from copycost.hosts.side import SIDES
from copycost.stats.ratios import paired_ratio

_INSIDE, _OUTSIDE = "both_cpu_ns_per_round_trip", "outside_cpu_ns_per_round_trip"
# what is compared: its column in guests, and the one of the same cells without guests
_COMPARED = {
    "p50": ("p50_ns", "p50_ns"),
    "p99": ("p99_ns", "p99_ns"),
    "inside": (_INSIDE, _INSIDE),
    "outside": (_OUTSIDE, _INSIDE),
}


def round_trips_in_guests(
    table: pd.DataFrame | None, section: Mapping[str, Any] | None, confidence: float
) -> list[Facts]:
    """Return what guests make of round trips that were measured without them, too.

    Parameters
    ----------
    table
        The table of round trips; None where there are none.
    section
        The section `round_trips` of the configuration.

    Keys
    ----
    slug, without
        The condition in guests and the one that differs in nothing else.
    accelerator, emulated
        Of the first.
    apart
        Whether the process of one of its sides runs in no guest.
    cells
        Per cell that both measured in the same round: implementation, msg_bytes, n_threads; p50,
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
        _compared(one, of[one.name], other, of[other], confidence)
        for one in studied_round_trips(section, rows)
        if (other := slug_without(one.condition) or "") in of
    )
    return [one for one in compared if one["cells"]]


def _compared(
    studied: Studied, here: pd.DataFrame, without: str, there: pd.DataFrame, confidence: float
) -> Facts:
    inside = here.assign(**{_OUTSIDE: outside_cpu(here, "round_trip")})
    return {
        "slug": studied.name,
        "without": without,
        "accelerator": studied.accelerator,
        "emulated": studied.emulated,
        "apart": any((here[f"{side}_guest_status"] == "no_guest").any() for side in SIDES),
        "cells": [
            cell
            for name in studied.implementations
            for cell in _cells(LogCube(inside), LogCube(there), name, confidence)
        ],
    }


def _cells(here: LogCube, there: LogCube, name: str, confidence: float) -> Iterator[Facts]:
    logs = {
        key: here.values(one, name) - there.values(other, name)
        for key, (one, other) in _COMPARED.items()
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
