"""Everything that the chapter on the CPU budget says, as numbers and verdicts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.stats.errors_in_variables import METHOD
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.config.cells import WHOLE_CPU
from copycost.config.testbeds import away_on, peer_of
from copycost.records.columns import SIDES
from copycost.studies.cpu_budget.curves import RANGE_RULE, curve_of
from copycost.studies.cpu_budget.records import MISS_POINTS
from copycost.studies.shared_facts import (
    is_emulated,
    outcome_facts,
    series_of,
    with_published,
)

SERIES = ("testbed", "implementation", "limiter", "n_threads")
"""What tells one curve of bitrate against CPU from another."""

_PATH = SERIES[:-1]
# what the chapter tells of the configuration
_TOLD = (
    "implementations", "limiters", "msg_bytes", "repetitions", "warmup_s", "duration_s",
)  # fmt: skip
# the driver's own rate and the kernel's count of the same window differ
_RATES_DIFFER = 0.05
# of a side's samples: smaller moves explain nothing
_LEAST_MOVE = 0.02
_MOST_MOVES = 4
_ACKNOWLEDGING = "acknowledgements, with all that they take"
_NOTHING = {"median": 0.0, "low": 0.0, "high": 0.0}


def compute_facts(
    table: pd.DataFrame,
    section: Mapping[str, Any],
    statistics: StatisticsSettings,
    published: pd.DataFrame,
    host: Mapping[str, Any],
    profile: Mapping[str, Any] | None,
    peers: Mapping[str, Mapping[str, Any]],
) -> Facts:
    """Return the facts.

    `published` is ``data/published/cpu-overhead-tcp.csv``, `profile` the facts of that study (None
    where not measured), `peers` what is known of other machines, by their names.
    """
    n_cpus = int(host["cpu"]["cpus_online"])

    def apart(testbed: str) -> dict[str, int] | None:
        """Return the CPUs of each side's machine over the network to another; None elsewhere."""
        if (peer := peer_of(testbed)) is None:
            return None
        there = int(peers[peer]["cpu"]["cpus_online"])
        return {side: there if side in away_on(testbed) else n_cpus for side in SIDES}

    measured = table[table["status"] == "measured"]
    curves = [
        curve_of(key, rows, statistics, n_cpus, apart(key["testbed"]))
        for key, rows in series_of(measured.dropna(subset="bits_per_s"), SERIES)
    ]
    return {
        "section": {name: section[name] for name in _TOLD},
        **outcome_facts(table, statistics, SERIES),
        "method": METHOD,
        "range_rule": RANGE_RULE,
        "verdict": _verdict(curves),
        "miss_points": MISS_POINTS,
        **{
            f"{name}s": sorted(map(str, measured[name].dropna().unique()))
            for name in ("congestion_control", "limiter_kind")
        },
        "clocks": {side: _clocks(measured, side) for side in SIDES},
        "rates": _rates(measured),
        "curves": curves,
        "limiter": _limiter(measured),
        "emulated": any(curve["emulated"] for curve in curves),
        "scaling": list(_scaling(curves, profile, int(section["msg_bytes"]))),
        "published": [
            row
            for row in with_published(published, curves, _like)
            if row["gbps_per_cpu_percent"] is not None
        ],
    }


def _verdict(curves: Sequence[Facts]) -> Facts | None:
    """Return the slopes of the senders' lines and the highest bitrates, over all curves.

    Of those in emulated guests only where there are no others; None without a line.
    """
    lines = [curve for curve in curves if curve["lines"]["sender"]]
    known = [curve for curve in lines if not curve["emulated"]] or lines
    if not known:
        return None
    slopes = [curve["lines"]["sender"]["slope"]["value"] for curve in known]
    highest = [curve["maximum"]["bits_per_s"]["median"] for curve in known]
    return {
        # curves in emulated guests that are left out [count]
        "n_left_out": len(lines) - len(known),
        # bit/s per % of one CPU, and bit/s
        "slope": {"low": min(slopes), "high": max(slopes)},
        "maximum": {"low": min(highest), "high": max(highest)},
    }


def _limiter(measured: pd.DataFrame) -> Facts:
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


def _clocks(measured: pd.DataFrame, side: str) -> Facts | None:
    """Return how perf's task clock compares with the scheduler's, on the curve with the most off.

    Where both sides share CPUs they are furthest apart, which the curves of one stream would hide.
    None where perf counted nothing.
    """
    known = []
    for key, rows in series_of(measured, SERIES):
        scheduler, perf = rows[f"{side}_cpu_percent"], rows[f"{side}_perf_percent"]
        less = (scheduler - perf).median()
        if not math.isnan(less):
            ratio = float((perf / scheduler).median())
            known.append((abs(less), {**key, "emulated": is_emulated(rows), "median_ratio": ratio}))
    return max(known, key=lambda one: one[0])[1] if known else None


def _rates(measured: pd.DataFrame) -> Facts | None:
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


def _scaling(
    curves: Sequence[Facts], profile: Mapping[str, Any] | None, msg_bytes: int
) -> Iterator[Facts]:
    """Yield how more streams compare with one, for each testbed, implementation and limiter."""
    for one, many in permutations(curves, 2):
        of_one_path = all(many[key] == one[key] for key in _PATH)
        if of_one_path and one["n_threads"] == 1:
            before, after = (_profiled(profile, curve, msg_bytes) for curve in (one, many))
            yield {
                **{key: many[key] for key in SERIES},
                "maximum": _ratio(many["maximum"]["bits_per_s"], one["maximum"]["bits_per_s"]),
                "shares": _moves(before, after) if before and after else None,
                "emulated": one["emulated"],
            }


def _ratio(above: Mapping[str, Any], below: Mapping[str, Any]) -> Facts | None:
    """Return a ratio and its interval, both sides' intervals joined as logarithms' are."""
    top, bottom = float(above["median"]), float(below["median"])
    if top <= 0.0 or bottom <= 0.0:
        return None
    value = top / bottom
    ends = (above["low"], above["high"], below["low"], below["high"])
    if None in ends or min(ends) <= 0.0:
        return {"value": value, "low": None, "high": None}
    down = math.hypot(math.log(top / ends[0]), math.log(ends[3] / bottom))
    up = math.hypot(math.log(ends[1] / top), math.log(bottom / ends[2]))
    return {"value": value, "low": value * math.exp(-down), "high": value * math.exp(up)}


def _profiled(
    profile: Mapping[str, Any] | None, curve: Facts, msg_bytes: int
) -> Mapping[str, Any] | None:
    """Return the sides of the profile with a curve's writes; None where the study has not any."""
    wanted = {
        "implementation": curve["implementation"], "condition": curve["testbed"],
        "msg_bytes": msg_bytes, "n_threads": curve["n_threads"],
    }  # fmt: skip
    cells = profile["cells"] if profile else ()
    return next((cell["sides"] for cell in cells if wanted.items() <= cell.items()), None)


def _moves(one: Mapping[str, Any], many: Mapping[str, Any]) -> list[Facts]:
    """Return what takes another share of a side's CPU time with more streams than with one.

    A share counts where both its intervals leave no doubt, so none does of one repetition; the
    largest moves come first.
    """
    moves: list[Facts] = []
    for side in SIDES:
        before, after = (_shares(of.get(side)) for of in (one, many))
        for title in before.keys() | after.keys():
            of_one, of_many = before.get(title, _NOTHING), after.get(title, _NOTHING)
            moved = float(of_many["median"]) - float(of_one["median"])
            ends = (of_one["low"], of_one["high"], of_many["low"], of_many["high"])
            apart = None not in ends and (ends[0] > ends[3] or ends[2] > ends[1])
            if abs(moved) >= _LEAST_MOVE and apart:
                shares = {"one": of_one["median"], "many": of_many["median"], "moved": moved}
                moves.append({"side": side, "title": title, **shares})
    moves.sort(key=lambda move: (-abs(move["moved"]), move["side"], move["title"]))
    return moves[:_MOST_MOVES]


def _shares(side: Mapping[str, Any] | None) -> dict[str, Any]:
    if side is None:
        return {}
    found = {row["title"]: row["share"] for row in side["categories"]}
    return found | {_ACKNOWLEDGING: side["acknowledging"]}


def _like(row: Facts, curve: Facts) -> Facts:
    """Return what of a curve a published row can be compared with."""
    line = curve["lines"]["receiver" if row["scenario"].endswith("-receiver") else "sender"]
    told = {key: curve[key] for key in (*_PATH, "emulated", "maximum")}
    return told | {"slope": line and line["slope"]}
