"""Small facts for the macros of the analysis: what one branch needs, and no more."""

from collections.abc import Sequence
from typing import Any

Facts = dict[str, Any]
Case = tuple[str, str, tuple[object, ...]]
"""A macro, which of its branches, and what it gets."""

CONFIDENCE = 0.95
LABEL = "CPU time"
BOTH = ["two_copy", "one_copy"]
FIGURES = ["throughput", "ratio_heatmap", "copied_share", "cost_per_byte", "counters"]


def ratio(
    value: float, low: float | None = None, high: float | None = None, **more: object
) -> Facts:
    """Return a ratio with an interval, or one that was observed once."""
    sign = (
        0 if low is not None and high is not None and low < 1 < high else (value > 1) - (value < 1)
    )
    once = low is None
    return {"value": value, "low": low, "high": high, "sign": sign, "once": once, "n": 3} | more


UP = ratio(1.31, 1.22, 1.41)
DOWN = ratio(0.71, 0.65, 0.78)
EVEN = ratio(1.02, 0.94, 1.11)
ONCE = ratio(1.31)


def weighed(weight: str, found: Facts | float | None = None) -> Facts:
    """Return evidence of a weight."""
    value = found if isinstance(found, dict) else {"value": found, "low": None, "high": None}
    return {"weight": weight} | {key: value[key] for key in ("value", "low", "high")}


SHOWN, AGAINST = weighed("shown", UP), weighed("contradicted", DOWN)
OPEN, UNKNOWN = weighed("undecided", EVEN), weighed("not_measured")

COPIED = {"all_copied": weighed("shown", 1.0), "partly_copied": weighed("shown", 1.0)}
PARTLY = {"all_copied": weighed("contradicted", 0.25), "partly_copied": weighed("shown", 0.25)}
NOT_COPIED = {
    "all_copied": weighed("contradicted", 0.0),
    "partly_copied": weighed("contradicted", 0.0),
}
NOT_TOLD = {"all_copied": UNKNOWN, "partly_copied": UNKNOWN}


_LOSS = {"slug": "sink", "implementation": "uring_send", "reason": "nftables is not there"}
HELP, NO_HELP = _LOSS | {"remedy": "run as root"}, _LOSS | {"remedy": None}


def half(axis: str = "msg_bytes", sign: int = -1) -> Facts:
    """Return that the larger half lies above or below 1, and the smaller one on the other side."""
    return {"axis": axis, "sign": sign}


def over_cells(found: Facts, above: int = 0, below: int = 0, *halves: Facts) -> Facts:
    """Return a ratio over cells, or one of cells, or of halves of them, that contradict."""
    counts = {"n_cells": 6, "n_above": above, "n_below": below, "halves": list(halves)}
    return found | counts | {"contradict": bool((above and below) or halves)}


def factor(name: str, effect: Facts, above: int = 0, below: int = 0, *halves: Facts) -> Facts:
    """Return a factor of a difference by its effect on the throughput."""
    inverse = {"value": 1 / effect["value"], "low": 1 / effect["high"], "high": 1 / effect["low"]}
    ratio_ = effect | inverse if name == "cost" else effect
    shown = {"name": name, "effect": effect, "ratio": ratio_}
    return over_cells(shown, above, below, *halves)


def explained(relation: str, first: Facts, second: Facts, n_sides: int = 2) -> Facts:
    """Return what a difference consists of."""
    return {
        "throughput": DOWN,
        "factors": [first | {"share": 0.7}, second | {"share": 0.3}],
        "relation": relation,
        "instructions": None,
        "pace": None,
        "cpus": 1.352,
        "cpus_before": 1.871,
        "sides": [
            {"name": side, "effect": DOWN, "cost": UP} for side in ("sender", "receiver")[:n_sides]
        ],
    }


def grid(*msg_bytes: int, threads: tuple[int, ...] = (1, 2)) -> Facts:
    """Return a grid of sizes and thread counts."""
    return {"msg_bytes": list(msg_bytes or (1024, 4096, 65536)), "n_threads": list(threads)}


GRID = grid()


BRACKET = {"below_bytes": 4096, "above_bytes": 16384}


def group(
    outcome: str,
    better: Sequence[int] = (),
    worse: Sequence[int] = (),
    even: Sequence[int] = (),
    **more: Any,  # noqa: ANN401
) -> Facts:
    """Return what thread counts with one outcome have in common."""
    return {
        "outcome": outcome,
        "n_threads": [1],
        "sizes": {"better": list(better), "worse": list(worse), "even": list(even)},
        "all_sizes": sorted((*better, *worse, *even, *more.get("missing", []))),
        "change": BRACKET if outcome in ("from", "up_to") else None,
        "lone": [],
        "missing": [],
        "observed_once": False,
    } | more


def cell(value: float, msg_bytes: int, n_threads: int) -> Facts:
    """Return the ratio of one cell."""
    return {
        "ratio": value,
        "low": value * 0.9,
        "high": value * 1.1,
        "msg_bytes": msg_bytes,
        "n_threads": n_threads,
    }


def pair(
    overall: str = "undecided", better: int = 0, worse: int = 0, even: int = 0, **more: object
) -> Facts:
    """Return how one_copy fared against two_copy, by numbers of cells."""
    compared = better + worse + even
    return {
        "implementation": "one_copy",
        "baseline": "two_copy",
        "overall": overall,
        "n_compared": compared,
        "n_cells": compared,
        "n_better": better,
        "n_worse": worse,
        "n_even": even,
        "n_sure": better + worse,
        "expected_by_chance": compared * 0.05,
        "n_rounds": 3,
        "n_rounds_max": 3,
        "observed_once": False,
        "one_sided": not (better and worse),
        "pooled": UP,
        "common": None,
        "bracket": None,
        "reversals": [],
        "cost_where_faster": {
            "n_faster": better,
            "n_compared": better,
            "n_cheaper": better,
            "n_more_expensive": 0,
        },
        "worst": cell(0.8, 1024, 1),
        "best": cell(1.4, 65536, 2),
    } | more
