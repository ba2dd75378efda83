"""Everything that the chapter on the CPU budget says, as numbers and verdicts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import plain
from copycost.config.cells import WHOLE_CPU
from copycost.config.testbeds import away_on, peer_of
from copycost.records.columns import SIDES
from copycost.stats.errors_in_variables import METHOD
from copycost.stats.settings import StatisticsSettings
from copycost.studies.cpu_budget.compared_curves import scaling_of, with_published
from copycost.studies.cpu_budget.points import (
    RANGE_RULE,
    SERIES,
    LinearRange,
    judge_bottleneck,
    linear_range,
    points_of,
    series_of,
)
from copycost.studies.cpu_budget.records import MISS_POINTS
from copycost.studies.shared_facts import (
    curve_facts,
    guests_among,
    is_emulated,
    outcome_facts,
    with_interval,
)

# what the chapter tells of the configuration
_TOLD = (
    "implementations", "limiters", "msg_bytes", "repetitions", "warmup_s", "duration_s",
)  # fmt: skip
# the driver's own rate and the kernel's count of the same window differ
_RATES_DIFFER = 0.05


def compute_facts(
    table: pd.DataFrame,
    host: Mapping[str, Any],
    section: Mapping[str, Any],
    statistics: StatisticsSettings,
    published: pd.DataFrame,
    profile: Mapping[str, Any] | None,
    peers: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the facts.

    `published` is ``data/published/cpu-overhead-tcp.csv``, `profile` the facts of that study (None
    where not measured), `peers` what is known of other machines, by their names.
    """
    n_cpus = int(host["cpu"]["cpus_online"])
    curves = [
        _curve(key, rows, statistics, n_cpus, _cpus_apart(str(key["testbed"]), n_cpus, peers or {}))
        for key, rows in series_of(table)
    ]
    measured = table[table["status"] == "measured"]
    return {
        "section": {name: section[name] for name in _TOLD},
        **outcome_facts(table, statistics, SERIES),
        "method": METHOD,
        "range_rule": RANGE_RULE,
        "verdict": _verdict(curves),
        "miss_points": MISS_POINTS,
        "congestion_controls": sorted(
            {str(name) for name in measured["congestion_control"].dropna()}
        ),
        "limiter_kinds": sorted({str(kind) for kind in measured["limiter_kind"].dropna()}),
        "clocks": _clocks(measured),
        "rates": _rates(measured),
        "curves": curves,
        "limiter": _limiter(measured),
        "guests": guests_among(curves),
        "scaling": scaling_of(curves, profile, int(section["msg_bytes"])),
        "published": with_published(curves, published),
    }


def _verdict(curves: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the slopes of the senders' lines and the highest bitrates, over all curves.

    Of those in emulated guests only where there are no others; None without a line.
    """
    lines = [curve for curve in curves if curve["lines"]["sender"] and curve["maximum"]]
    known = [curve for curve in lines if not curve["emulated"]] or lines
    if not known:
        return None
    values = {
        # `low` and `high` over the curves [bit/s per % of one CPU; bit/s]
        "slope": [curve["lines"]["sender"]["slope"]["value"] for curve in known],
        "maximum": [curve["maximum"]["bits_per_s"]["median"] for curve in known],
    }
    return {
        # curves that these are of, and those in emulated guests that are left out [count]
        "n": len(known),
        "n_left_out": len(lines) - len(known),
        **{name: {"low": min(of), "high": max(of)} for name, of in values.items()},
    }


def _cpus_apart(
    testbed: str, n_cpus: int, peers: Mapping[str, Mapping[str, Any]]
) -> dict[str, int] | None:
    """Return the CPUs of each side's machine over the network to another; None elsewhere."""
    if (peer := peer_of(testbed)) is None:
        return None
    there = int(peers[peer]["cpu"]["cpus_online"])
    return {side: there if side in away_on(testbed) else n_cpus for side in SIDES}


def _curve(
    key: Mapping[str, Any],
    rows: pd.DataFrame,
    statistics: StatisticsSettings,
    n_cpus: int,
    apart: Mapping[str, int] | None,
) -> dict[str, Any]:
    points = points_of(rows, statistics)
    n_threads = int(key["n_threads"])
    told = [point.told for point in points]
    curve = curve_facts(key, rows, told)
    guests = curve["guests"]
    outside = [f"{side}_hypervisor" for side in guests["sides"]] if guests else []
    ranges = {
        party: linear_range(points, party, statistics.confidence) for party in (*SIDES, *outside)
    }
    top = max((one["bits_per_s"] for one in told), key=lambda rate: rate["median"], default=None)
    return curve | {
        "lines": {party: _line(found) for party, found in ranges.items()},
        "maximum": top and {"bits_per_s": top},
        "bottleneck": judge_bottleneck(points, n_threads, n_cpus, apart),
    }


def _line(found: LinearRange | None) -> dict[str, Any] | None:
    """Return a line in plain values; intervals are None where there are none."""
    if found is None:
        return None
    line = found.line
    facts = {
        "slope": with_interval(line.slope, line.slope_low, line.slope_high),
        "intercept": with_interval(line.intercept, line.intercept_low, line.intercept_high),
        "limits": list(found.limits),
        "most_bits_per_s": found.most_bits_per_s,
    }
    return dict(plain(facts))


def _limiter(measured: pd.DataFrame) -> dict[str, Any]:
    """Return how far limiters were off where they were what decided, per stream [points]."""
    limited = measured[measured["limit_percent"] != WHOLE_CPU]
    decided = limited[~limited["saturated"].astype(bool)].astype({"sender_cpu_percent": float})
    off = decided["sender_cpu_percent"] / decided["n_threads"] - decided["limit_percent"]
    return {
        "n": len(off),
        "n_missed": int(limited["limiter_missed"].astype(bool).sum()),
        "least_off": None if off.empty else float(off.min()),
        "most_off": None if off.empty else float(off.max()),
    }


def _clocks(measured: pd.DataFrame) -> dict[str, Any]:
    """Return by how much perf's task clock says less than the scheduler's, per side [points].

    Of each side, on the curve where they are furthest apart: where both sides share CPUs they are,
    which the curves of one stream would hide. None where perf counted nothing.
    """
    found: dict[str, Any] = {}
    for side in SIDES:
        known = []
        for key, rows in series_of(measured):
            scheduler, perf = rows[f"{side}_cpu_percent"], rows[f"{side}_perf_percent"]
            less = (scheduler - perf).dropna()
            if not less.empty:
                one = {**plain(key), "emulated": is_emulated(rows)}
                one["median_ratio"] = float((perf / scheduler).dropna().median())
                known.append((abs(float(less.median())), one))
        found[side] = max(known, key=lambda found: found[0])[1] if known else None
    return found


def _rates(measured: pd.DataFrame) -> dict[str, Any] | None:
    """Return how the driver's bitrate compares with the kernel's count of the same window."""
    ratio = (measured["bits_per_s"] / measured["kernel_bits_per_s"]).dropna().astype(float)
    if ratio.empty:
        return None
    off = (ratio - 1.0).abs()
    return {
        "n": len(ratio),
        "n_differ": int((off > _RATES_DIFFER).sum()),
        "largest_off": float(off.max()),
        "allowed": _RATES_DIFFER,
    }
