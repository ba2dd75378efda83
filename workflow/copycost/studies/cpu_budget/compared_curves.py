"""Curves compared: more streams with one, and ours with what was published."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import plain
from copycost.records.columns import SIDES
from copycost.studies.profile.cell_facts import category_shares

# of a side's samples: smaller moves explain nothing
_LEAST_MOVE = 0.02
_MOST_MOVES = 4
_ACKNOWLEDGING = "acknowledgements, with all that they take"
_NOTHING: Mapping[str, Any] = {"median": 0.0, "low": 0.0, "high": 0.0}
# the testbed of ours for each published scenario; of two that are one run, both sides
_PUBLISHED_TESTBEDS = {
    "host-loopback": "loopback",
    "vm-loopback": "vm_loopback",
    "vm-to-vm-sender": "vm_pair",
    "vm-to-vm-receiver": "vm_pair",
}


def scaling_of(
    curves: Sequence[Mapping[str, Any]],
    profile: Mapping[str, Any] | None,
    msg_bytes: int,
) -> list[dict[str, Any]]:
    """Return how more streams compare with one, for each testbed, implementation and limiter.

    `profile` are the facts of that study, None where not measured; `msg_bytes` is the size of the
    writes of all curves.
    """
    found = []
    for one in curves:
        if one["n_threads"] != 1 or one["maximum"] is None:
            continue
        for many in curves:
            same = all(many[key] == one[key] for key in ("testbed", "implementation", "limiter"))
            if not same or many["n_threads"] == 1 or many["maximum"] is None:
                continue
            found.append(
                {
                    **{key: one[key] for key in ("testbed", "implementation", "limiter")},
                    "n_threads": many["n_threads"],
                    "maximum": _ratio(
                        _interval(many["maximum"]["bits_per_s"], "median"),
                        _interval(one["maximum"]["bits_per_s"], "median"),
                    ),
                    "shares": _shares(profile, one, msg_bytes, int(many["n_threads"])),
                    "emulated": one["emulated"],
                }
            )
    return found


def _interval(
    found: Mapping[str, Any] | None, name: str
) -> tuple[float, float | None, float | None] | None:
    return None if found is None else (float(found[name]), found["low"], found["high"])


def _ratio(
    above: tuple[float, float | None, float | None] | None,
    below: tuple[float, float | None, float | None] | None,
) -> dict[str, float | bool | None] | None:
    """Return a ratio and its interval, both sides' intervals joined as logarithms' are.

    `differs` tells that its interval leaves out 1, or that there is none.
    """
    if above is None or below is None or above[0] <= 0.0 or below[0] <= 0.0:
        return None
    value = above[0] / below[0]
    ends = (above[1], above[2], below[1], below[2])
    if any(end is None or end <= 0.0 for end in ends):
        return {"value": value, "low": None, "high": None, "differs": True}
    a_low, a_high, b_low, b_high = (float(end or 0.0) for end in ends)
    down = math.hypot(math.log(above[0] / a_low), math.log(b_high / below[0]))
    up = math.hypot(math.log(a_high / above[0]), math.log(below[0] / b_low))
    low, high = value * math.exp(-down), value * math.exp(up)
    return {"value": value, "low": low, "high": high, "differs": not low <= 1.0 <= high}


def _shares(
    profile: Mapping[str, Any] | None, curve: Mapping[str, Any], msg_bytes: int, n_threads: int
) -> list[dict[str, Any]] | None:
    """Return what takes another share of a side's CPU time with more streams than with one.

    A share counts where both its intervals leave no doubt; the largest moves come first. None where
    the study `profile` has not both with the curve's implementation and its size of writes.
    """
    if profile is None:
        return None
    found = {
        cell["n_threads"]: cell["sides"]
        for cell in profile["cells"]
        if cell["implementation"] == curve["implementation"]
        and cell["condition"] == curve["testbed"]
        and cell["msg_bytes"] == msg_bytes
    }
    if 1 not in found or n_threads not in found:
        return None
    moves: list[dict[str, Any]] = []
    for side in SIDES:
        one, many = (_work(found[n][side]) if side in found[n] else {} for n in (1, n_threads))
        for title in one.keys() | many.keys():
            before, after = one.get(title, _NOTHING), many.get(title, _NOTHING)
            moved = float(after["median"]) - float(before["median"])
            if abs(moved) >= _LEAST_MOVE and not _overlap(before, after):
                shares = {"one": before["median"], "many": after["median"], "moved": moved}
                moves.append({"side": side, "title": title, **shares})
    moves.sort(key=lambda move: (-abs(move["moved"]), move["side"], move["title"]))
    return moves[:_MOST_MOVES]


def _work(side: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the shares of all that a profiled side does, by title."""
    return {**category_shares(side), _ACKNOWLEDGING: side["acknowledging"]}


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two shares may be the same, by their intervals where they have any."""
    if any(end is None for end in (one["low"], one["high"], other["low"], other["high"])):
        return False
    return bool(one["low"] <= other["high"] and other["low"] <= one["high"])


def with_published(
    curves: Sequence[Mapping[str, Any]], published: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the published rows, each with the curves of ours that it can be compared with."""
    rows = []
    for row in plain(published.to_dict(orient="records")):
        side = "receiver" if row["scenario"].endswith("-receiver") else "sender"
        ours = [
            _ours(curve, side)
            for curve in curves
            if curve["testbed"] == _PUBLISHED_TESTBEDS.get(row["scenario"])
            and curve["n_threads"] == row["parallel_streams"]
            and curve["points"]
        ]
        if row["gbps_per_cpu_percent"] is not None:
            rows.append({**row, "ours": ours})
    return rows


def _ours(curve: Mapping[str, Any], side: str) -> dict[str, Any]:
    """Return of a curve what is published of such ones."""
    line = curve["lines"][side]
    return {
        **{key: curve[key] for key in ("testbed", "implementation", "limiter", "emulated")},
        "slope": None if line is None else line["slope"],
        "maximum": curve["maximum"],
    }
