"""Curves compared: more streams with one, and ours with what was published."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import plain
from copycost.records.columns import SIDES

# of a side's samples: smaller moves explain nothing
_LEAST_MOVE = 0.02
_MOST_MOVES = 4
_ACKNOWLEDGING = "acknowledgements, with all that they take"
_NOTHING = {"median": 0.0, "low": 0.0, "high": 0.0}
_WHERE = ("testbed", "implementation", "limiter")
# the testbed of ours for each published scenario; of two that are one run, both sides
_PUBLISHED_TESTBEDS = {
    "host-loopback": "loopback",
    "vm-loopback": "vm_loopback",
    "vm-to-vm-sender": "vm_pair",
    "vm-to-vm-receiver": "vm_pair",
}


def scaling_of(
    curves: Sequence[Mapping[str, Any]], profile: Mapping[str, Any] | None, msg_bytes: int
) -> list[dict[str, Any]]:
    """Return how more streams compare with one, for each testbed, implementation and limiter.

    `profile` are the facts of that study, None where not measured; `msg_bytes` is the size of the
    writes of all curves.
    """
    known = [curve for curve in curves if curve["maximum"] is not None]
    return [
        {
            **{key: one[key] for key in _WHERE},
            "n_threads": many["n_threads"],
            "maximum": _ratio(many["maximum"]["bits_per_s"], one["maximum"]["bits_per_s"]),
            "shares": _shares(profile, one, msg_bytes, int(many["n_threads"])),
            "emulated": one["emulated"],
        }
        for one in known
        for many in known
        if one["n_threads"] == 1
        and many["n_threads"] != 1
        and all(many[key] == one[key] for key in _WHERE)
    ]


def _ratio(above: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a ratio and its interval, both sides' intervals joined as logarithms' are.

    `differs` tells that its interval leaves out 1, or that there is none.
    """
    top, bottom = float(above["median"]), float(below["median"])
    if top <= 0.0 or bottom <= 0.0:
        return None
    value = top / bottom
    ends = (above["low"], above["high"], below["low"], below["high"])
    if any(end is None or end <= 0.0 for end in ends):
        return {"value": value, "low": None, "high": None, "differs": True}
    down = math.hypot(math.log(top / ends[0]), math.log(ends[3] / bottom))
    up = math.hypot(math.log(ends[1] / top), math.log(bottom / ends[2]))
    low, high = value * math.exp(-down), value * math.exp(up)
    return {"value": value, "low": low, "high": high, "differs": not low <= 1.0 <= high}


def _shares(
    profile: Mapping[str, Any] | None, curve: Mapping[str, Any], msg_bytes: int, n_threads: int
) -> list[dict[str, Any]] | None:
    """Return what takes another share of a side's CPU time with more streams than with one.

    A share counts where both its intervals leave no doubt, so none does of one repetition; the
    largest moves come first. None where the study `profile` has not both with the curve's
    implementation and its size of writes.
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
        one, many = (
            {
                **{row["title"]: row["share"] for row in found[n][side]["categories"]},
                _ACKNOWLEDGING: found[n][side]["acknowledging"],
            }
            if side in found[n]
            else {}
            for n in (1, n_threads)
        )
        for title in one.keys() | many.keys():
            before, after = one.get(title, _NOTHING), many.get(title, _NOTHING)
            moved = float(after["median"]) - float(before["median"])
            ends = (before["low"], before["high"], after["low"], after["high"])
            apart = None not in ends and (ends[0] > ends[3] or ends[2] > ends[1])
            if abs(moved) >= _LEAST_MOVE and apart:
                shares = {"one": before["median"], "many": after["median"], "moved": moved}
                moves.append({"side": side, "title": title, **shares})
    moves.sort(key=lambda move: (-abs(move["moved"]), move["side"], move["title"]))
    return moves[:_MOST_MOVES]


def with_published(
    curves: Sequence[Mapping[str, Any]], published: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the published rows, each with the curves of ours that it can be compared with."""
    rows = []
    for row in plain(published.to_dict(orient="records")):
        side = "receiver" if row["scenario"].endswith("-receiver") else "sender"
        ours = [
            {
                **{key: curve[key] for key in (*_WHERE, "emulated")},
                "slope": line and line["slope"],
                "maximum": curve["maximum"],
            }
            for curve in curves
            for line in [curve["lines"][side]]
            if curve["testbed"] == _PUBLISHED_TESTBEDS.get(row["scenario"])
            and curve["n_threads"] == row["parallel_streams"]
            and curve["points"]
        ]
        if row["gbps_per_cpu_percent"] is not None:
            rows.append({**row, "ours": ours})
    return rows
