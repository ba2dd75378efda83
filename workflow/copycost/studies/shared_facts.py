"""What facts and figures of several studies tell alike: outcomes, intervals, what guests cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.stats.estimates import Estimate, estimate
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.config.strategy_capabilities import IPERF3
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import EMULATED, WATCHED, use_columns

# the testbed of ours for each published scenario; of two that are one run, both sides
_PUBLISHED_PATHS = {
    "host-loopback": "loopback",
    "vm-loopback": "vm_loopback",
    "vm-to-vm": "vm_pair",
}
_TOLD_OF_GUESTS = ("guest", "hypervisor", "overhead", "vcpu_waiting")


def outcome_facts(
    table: pd.DataFrame, statistics: StatisticsSettings, keys: Sequence[str]
) -> Facts:
    """Return what the facts of a study say of its repetitions."""
    measured = table[table["status"] == "measured"]
    versions = measured.loc[measured["implementation"] == IPERF3, "driver_version"].dropna()
    return {
        "confidence": statistics.confidence,
        "n_measured": len(measured),
        "losses": losses_of(table, keys),
        # of iperf3, in the measured repetitions
        "versions": sorted({str(version) for version in versions}),
        # several pairs of processes carried the streams
        "separate_processes": bool((measured["process_pairs"] > 1).any()),
        # measured repetitions with a foreign load [count]
        "n_foreign": n_flagged(measured, "foreign_load"),
    }


def n_flagged(measured: pd.DataFrame, code: str) -> int:
    """Return how many repetitions carry a warning."""
    return sum(code in str(text).split(";") for text in measured["flags"])


def losses_of(table: pd.DataFrame, keys: Sequence[str]) -> list[Facts]:
    """Return what was not measured, one entry per status and reason.

    For each of `keys` it has the values that it concerns.
    """
    lost = table[table["status"] != "measured"]
    return [
        {
            "status": str(status),
            "reason": str(reason),
            "remedy": next((str(remedy) for remedy in rows["remedy"].dropna()), None),
            "n": len(rows),
            **{key: plain(list(rows[key].unique())) for key in keys},
        }
        for (status, reason), rows in lost.groupby(["status", "reason"], sort=False, dropna=False)
    ]


def series_of(
    table: pd.DataFrame, keys: Sequence[str]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield the key of each curve and its rows, in the order of the table."""
    for key, rows in table.groupby(list(keys), sort=False):
        yield plain(dict(zip(keys, key, strict=True))), rows


def curve_facts(
    key: Mapping[str, Any],
    rows: pd.DataFrame,
    points: Sequence[Mapping[str, Any]],
    used: str = "{side}",
) -> Facts:
    """Return what the facts of every curve say: its key, its points, and what guests ran it.

    `rows` are its measured repetitions. Each point has what a side used at the key that `used`
    makes, and other parties at ``parties`` [% of one CPU]. `guests` are those that were watched, by
    themselves or from outside, with where each party goes over the points; None: not counted.
    """
    curve: Facts = {**key, "points": points, "emulated": is_emulated(rows), "guests": []}
    sides = [side for side in SIDES if rows[f"{side}_guest_status"].isin(WATCHED).any()]
    if not sides:
        return curve
    medians = pd.DataFrame(
        {name: found["median"] for name, found in point["parties"].items()}
        | {side: point[used.format(side=side)]["median"] for side in SIDES}
        for point in points
    )
    spans = {
        name: {"low": float(column.min()), "high": float(column.max())}
        for name, column in medians.items()
    }
    # one guest for both sides, which counts as the sender's
    shared = bool((rows["receiver_guest_status"] == "same_guest").any())
    for side in sides:
        inside = {one: spans.get(one) for one in (SIDES if shared else [side])}
        around = {party: spans.get(f"{side}_{party}") for party in _TOLD_OF_GUESTS}
        curve["guests"].append({"side": "both" if shared else side, "of": inside | around})
    return curve


def is_emulated(rows: pd.DataFrame) -> bool:
    """Return whether an emulator ran the instructions of a guest."""
    return bool((rows["accelerator"] == EMULATED).any())


def party_estimates(rows: pd.DataFrame, settings: StatisticsSettings) -> dict[str, Estimate]:
    """Return what every party used, of those that have any value [% of one CPU].

    The names are those of the columns, without their ends: ``sender_hypervisor``, ``host``; and
    ``sender_vcpu_waiting``.
    """
    found = {
        column.name.removesuffix("_percent").removesuffix("_cpu"): estimate(
            rows[column.name], settings
        )
        for column in use_columns()
        if column.name.endswith(("_cpu_percent", "vcpu_waiting_percent", "io_waiting_percent"))
    }
    return {name: middle for name, middle in found.items() if middle is not None}


def with_interval(value: float, low: float, high: float) -> Facts:
    """Return an estimate with the ends of its interval, None where there is none."""
    return {"value": plain(value), "low": plain(low), "high": plain(high)}


def with_published(
    published: pd.DataFrame,
    curves: Sequence[Facts],
    of_curve: Callable[[Facts, Facts], Facts | None],
    transport: str = "",
) -> list[Facts]:
    """Return the published rows, each with what of ours it can be compared with.

    That is what `of_curve` says of a row and each curve with as many streams on the testbed of the
    same path, whose name ends with the `transport`; None: nothing.
    """
    rows: list[Facts] = plain(published.to_dict(orient="records"))
    for row in rows:
        path = _PUBLISHED_PATHS[row["scenario"].removesuffix("-sender").removesuffix("-receiver")]
        wanted = path + transport, row.get("parallel_streams", 1)
        alike = (one for one in curves if (one["testbed"], one["n_threads"]) == wanted)
        row["ours"] = [found for one in alike if (found := of_curve(row, one))]
    return rows


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
