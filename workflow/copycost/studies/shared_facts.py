"""What facts and figures of several studies tell alike: outcomes, intervals, what guests cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.config.strategy_capabilities import IPERF3
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import EMULATED, PARTIES, WATCHED, use_columns
from copycost.stats.estimates import Estimate, estimate
from copycost.stats.settings import FloatArray, StatisticsSettings


def outcome_facts(
    table: pd.DataFrame, statistics: StatisticsSettings, keys: Sequence[str]
) -> Facts:
    """Return what the facts of a study say of its repetitions."""
    measured = table[table["status"] == "measured"]
    versions = measured.loc[measured["implementation"] == IPERF3, "driver_version"].dropna()
    return {
        "confidence": statistics.confidence,
        "n_measured": len(measured),
        "n_repetitions": len(table),
        "losses": losses_of(table, keys),
        # of iperf3, in the measured repetitions
        "versions": sorted({str(version) for version in versions}),
        # several pairs of processes carried the streams
        "separate_processes": bool((measured["process_pairs"] > 1).any()),
        # measured repetitions with a foreign load [count]
        "n_foreign": flag_counts(measured).get("foreign_load", 0),
    }


def flag_counts(measured: pd.DataFrame) -> dict[str, int]:
    """Return how many repetitions carry each warning."""
    texts = measured["flags"].dropna()  # an empty field of a file is NaN
    codes = [code for text in texts for code in str(text).split(";") if code]
    return {code: codes.count(code) for code in sorted(set(codes))}


def losses_of(table: pd.DataFrame, keys: Sequence[str]) -> list[Facts]:
    """Return what was not measured, one entry per status and reason."""
    lost = table[table["status"] != "measured"]
    found = []
    for (status, reason), rows in lost.groupby(["status", "reason"], sort=False, dropna=False):
        remedies = [str(remedy) for remedy in rows["remedy"].dropna().unique()]
        entry: Facts = {
            # and for each of `keys` the values that it concerns
            "status": str(status),
            "reason": str(reason),
            "remedy": remedies[0] if remedies else None,
            "n": len(rows),
        }
        entry.update({key: [plain(value) for value in rows[key].unique()] for key in keys})
        found.append(entry)
    return found


def curve_facts(
    key: Mapping[str, Any],
    rows: pd.DataFrame,
    points: Sequence[Mapping[str, Any]],
    used: str = "{side}",
) -> Facts:
    """Return what the facts of every curve say: its key, its points, and whether guests ran it.

    Each point has what a side used at the key that `used` makes, and other parties at ``parties``
    [% of one CPU].
    """
    measured = rows[rows["status"] == "measured"]
    sides = [side for side in SIDES if measured[f"{side}_guest_status"].isin(WATCHED).any()]
    curve: Facts = {**plain(dict(key)), "points": points, "emulated": False, "guests": None}
    if not sides:
        return curve
    # one guest for both sides, which counts as the sender's
    shared = bool((measured["receiver_guest_status"] == "same_guest").any())
    curve["emulated"] = is_emulated(measured)  # an emulator ran the instructions of a guest
    curve["guests"] = {
        "emulated": curve["emulated"],
        "sides": sides,  # those in a guest that was watched, by itself or from outside
        "shared": shared,
        "spans": _spans(points, sides, shared, used),
    }
    return curve


def _spans(
    points: Sequence[Mapping[str, Any]], sides: Sequence[str], shared: bool, used: str
) -> list[Facts]:
    """Return, for each guest, from where to where the parties' medians go over the points.

    A party that was not counted at any point has None.
    """
    parties = [
        {**point["parties"], **{side: point[used.format(side=side)] for side in SIDES}}
        for point in points
    ]

    def span(name: str) -> dict[str, float] | None:
        medians = [one[name]["median"] for one in parties if name in one]
        return {"low": min(medians), "high": max(medians)} if medians else None

    found = []
    for side in sides:
        inside = {one: span(one) for one in (SIDES if shared else [side])}
        outside = {party: span(f"{side}_{party}") for party in PARTIES}
        waiting = span(f"{side}_vcpu_waiting")
        found.append(
            {"side": side, "of": inside | outside, "most_waiting": waiting and waiting["high"]}
        )
    return found


def with_interval(value: float, low: float, high: float) -> dict[str, float]:
    """Return an estimate with the ends of its interval."""
    return {"value": value, "low": low, "high": high}


def panels(
    curves: Sequence[Mapping[str, Any]], *keys: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each curve behind the title of its panel: its testbed, and those keys that differ."""
    more = [key for key in keys if len({curve[key] for curve in curves}) > 1]
    for curve in curves:
        emulated = ["emulated"] if curve["emulated"] else []
        yield ", ".join([curve["testbed"], *emulated, *(curve[key] for key in more)]), curve


def scaled_ends(found: Estimate, scale: float) -> Iterator[float | None]:
    """Yield a median and the ends of its interval in another unit."""
    for end in (found["median"], found["low"], found["high"]):
        yield None if end is None else end * scale


def guests_among(curves: Sequence[Mapping[str, Any]]) -> Facts | None:
    """Return whether sides in guests were emulated, None where no side ran in one."""
    of = [curve for curve in curves if curve["guests"] and curve["points"]]
    return {"emulated": any(curve["emulated"] for curve in of)} if of else None


def is_emulated(rows: pd.DataFrame) -> bool:
    """Return whether an emulator ran the instructions of a guest."""
    return bool((rows["accelerator"] == EMULATED).any())


def party_values(rows: pd.DataFrame) -> dict[str, FloatArray]:
    """Return the repetitions' values of every party that has any [% of one CPU], by its name.

    The names are those of the columns, without their ends: ``sender_hypervisor``, ``host``; and
    ``sender_vcpu_waiting``.
    """
    return {
        name.removesuffix("_percent").removesuffix("_cpu"): rows[name].to_numpy(dtype=np.float64)
        for name in (column.name for column in use_columns())
        if name.endswith(("_cpu_percent", "vcpu_waiting_percent", "io_waiting_percent"))
        and rows[name].notna().any()
    }


def party_estimates(
    values: Mapping[str, FloatArray], settings: StatisticsSettings
) -> dict[str, Estimate]:
    """Return the medians with intervals, of those parties that have any value."""
    found = {name: estimate(of, settings) for name, of in values.items()}
    return {name: middle for name, middle in found.items() if middle is not None}
