"""Curves beside each other: more streams beside one, and ours beside what was published."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.driven.facts import SIDES, category_shares, published_rows
from copycost.iperf3 import IPERF3

# of a side's samples: smaller moves are within what sampling leaves open
_LEAST_MOVE = 0.02
_MOST_MOVES = 4
_PUBLISHED_SCENARIO = "host-loopback"
"""The one published scenario that this study has too."""


def scaling_of(
    curves: Sequence[Mapping[str, Any]], profile: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return how more streams compare with one, for each testbed, driver and limiter."""
    found = []
    for one in curves:
        if one["n_streams"] != 1 or one["maximum"] is None:
            continue
        for many in curves:
            same = all(many[key] == one[key] for key in ("testbed", "driver", "limiter"))
            if not same or many["n_streams"] == 1 or many["maximum"] is None:
                continue
            slopes = {
                side: _ratio(
                    _interval((many["lines"][side] or {}).get("slope"), "value"),
                    _interval((one["lines"][side] or {}).get("slope"), "value"),
                )
                for side in SIDES
            }
            found.append(
                {
                    **{key: one[key] for key in ("testbed", "driver", "limiter")},
                    "n_streams": many["n_streams"],
                    "maximum": _ratio(
                        _interval(many["maximum"]["bits_per_s"], "median"),
                        _interval(one["maximum"]["bits_per_s"], "median"),
                    ),
                    "slopes": slopes,
                    "differs": _differs(slopes["sender"]),
                    "shares": _shares(profile, str(one["testbed"]), int(many["n_streams"])),
                }
            )
    return found


def _differs(ratio: Mapping[str, float | None] | None) -> bool:
    """Return whether a ratio is not 1, by its interval where there is one."""
    if ratio is None:
        return False
    low, high = ratio["low"], ratio["high"]
    return low is None or high is None or not low <= 1.0 <= high


def _interval(
    found: Mapping[str, Any] | None, name: str
) -> tuple[float, float | None, float | None] | None:
    return None if found is None else (float(found[name]), found["low"], found["high"])


def _ratio(
    above: tuple[float, float | None, float | None] | None,
    below: tuple[float, float | None, float | None] | None,
) -> dict[str, float | None] | None:
    """Return a ratio and its interval, both sides' intervals joined as logarithms' are."""
    if above is None or below is None or above[0] <= 0.0 or below[0] <= 0.0:
        return None
    value = above[0] / below[0]
    ends = (above[1], above[2], below[1], below[2])
    if any(end is None or end <= 0.0 for end in ends):
        return {"value": value, "low": None, "high": None}
    a_low, a_high, b_low, b_high = (float(end or 0.0) for end in ends)
    down = math.hypot(math.log(above[0] / a_low), math.log(b_high / below[0]))
    up = math.hypot(math.log(a_high / above[0]), math.log(below[0] / b_low))
    return {"value": value, "low": value * math.exp(-down), "high": value * math.exp(up)}


def _shares(
    profile: Mapping[str, Any] | None, testbed: str, n_streams: int
) -> list[dict[str, Any]] | None:
    """Return the categories of functions whose share moves most from one stream to more.

    None where the study `profile` has not both. Shares are of each side's samples, 0 to 1.
    """
    if profile is None:
        return None
    found = {
        cell["n_threads"]: cell["sides"]
        for cell in profile["cells"]
        if cell["implementation"] == IPERF3 and cell["testbed"] == testbed
    }
    if 1 not in found or n_streams not in found:
        return None
    moves: list[dict[str, Any]] = []
    for side in SIDES:
        one, many = (
            category_shares(found[n][side]) if side in found[n] else {} for n in (1, n_streams)
        )
        for title in one.keys() & many.keys():
            if abs(many[title] - one[title]) >= _LEAST_MOVE:
                move = {"side": side, "title": title, "one": one[title], "many": many[title]}
                moves.append(move)
    moves.sort(key=lambda move: (-abs(move["many"] - move["one"]), move["side"], move["title"]))
    return moves[:_MOST_MOVES]


def beside_published(
    curves: Sequence[Mapping[str, Any]], published: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the published rows, each with the curves of ours that it can stand beside."""
    rows = []
    for row in published_rows(published):
        ours = []
        if row["scenario"] == _PUBLISHED_SCENARIO:
            ours = [
                {
                    "testbed": curve["testbed"],
                    "driver": curve["driver"],
                    "limiter": curve["limiter"],
                    "slope": None
                    if curve["lines"]["sender"] is None
                    else curve["lines"]["sender"]["slope"],
                    "maximum": curve["maximum"],
                    "sender_most": max((p["sender"]["median"] for p in curve["points"]), default=0),
                    "receiver_most": max(
                        (p["receiver"]["median"] for p in curve["points"]), default=0
                    ),
                }
                for curve in curves
                if curve["testbed"] == "loopback"
                and curve["n_streams"] == row["parallel_streams"]
                and curve["points"]
            ]
        rows.append({**row, "ours": ours})
    return rows
