"""How much CPU a bitrate takes, from what was measured; and what cannot be said.

Within the linear range the line says it, with its interval. Above it, up to the highest bitrate
measured, the two points around it do. Below the least bitrate measured no more is known than that
its CPU is enough. Beyond the highest there is no answer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from copycost.hosts.side import SIDES

Basis = Literal["line", "points", "least", "beyond"]


@dataclass(frozen=True, slots=True)
class Need:
    """CPU of one side [% of one CPU] with its interval, None where there is none."""

    percent: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one curve says of a bitrate.

    `basis` is ``line``, ``points`` (between two measured points), ``least`` (no more than the least
    point's CPU) or ``beyond`` (more than was measured: there are no needs, and `total_percent` is
    infinite).
    """

    testbed: str
    implementation: str
    limiter: str
    n_threads: int
    basis: Basis
    sender: Need | None
    receiver: Need | None
    outside: Mapping[str, Need]  # of the hypervisors, by the side whose guest it is
    emulated: bool  # guests ran in an emulator
    # of the machine; what a side in a guest uses is part of what its hypervisor does
    total_percent: float
    highest_bits_per_s: float  # on the curve


def plan_for(facts: Mapping[str, Any], bits_per_s: float, testbed: str) -> list[Plan]:
    """Return what each curve of a testbed says, the least CPU of both sides first.

    `facts` are those of ``results/cpu_budget/facts.json``.
    """
    plans = [
        _plan(curve, bits_per_s)
        for curve in facts["curves"]
        if curve["testbed"] == testbed and curve["points"]
    ]
    return sorted(plans, key=lambda plan: plan.total_percent)


def _plan(curve: Mapping[str, Any], bits_per_s: float) -> Plan:
    points = sorted(curve["points"], key=lambda point: float(point["bits_per_s"]["median"]))
    highest = float(points[-1]["bits_per_s"]["median"])
    least = float(points[0]["bits_per_s"]["median"])
    guests = curve["guests"]
    hypervisors = {side: f"{side}_hypervisor" for side in guests["sides"]} if guests else {}
    parties = [*SIDES, *hypervisors.values()]
    basis: Basis
    needs: dict[str, Need] = {}
    if bits_per_s > highest:
        basis = "beyond"
    elif bits_per_s < least:
        basis = "least"
        needs = {name: Need(_of(points[0], name)["median"], None, None) for name in parties}
    else:
        lines = [curve["lines"][name] for name in parties]
        on_line = all(line is not None and bits_per_s <= line["most_bits_per_s"] for line in lines)
        basis = "line" if on_line else "points"
        # a side has one thread per stream, so there is a most
        most = dict.fromkeys(SIDES, 100.0 * curve["n_threads"])
        needs = {
            name: _on_line(curve["lines"][name], bits_per_s, most.get(name, math.inf))
            if on_line
            else _between(points, name, bits_per_s)
            for name in parties
        }
    in_guests = SIDES if guests and guests["shared"] else tuple(hypervisors)
    outermost = [*hypervisors.values(), *(side for side in SIDES if side not in in_guests)]
    return Plan(
        curve["testbed"],
        curve["implementation"],
        curve["limiter"],
        curve["n_threads"],
        basis,
        needs.get("sender"),
        needs.get("receiver"),
        {side: needs[name] for side, name in hypervisors.items() if name in needs},
        bool(guests and guests["emulated"]),
        sum(needs[name].percent for name in outermost) if needs else math.inf,
        highest,
    )


def _of(point: Mapping[str, Any], party: str) -> Mapping[str, Any]:
    """Return what a side or another party used at a point."""
    found: Mapping[str, Any] = point[party] if party in SIDES else point["parties"][party]
    return found


def _on_line(line: Mapping[str, Any], bits_per_s: float, most_percent: float) -> Need:
    """Read a bitrate's CPU off a line, up to what there can be at most."""
    slope, intercept = line["slope"]["value"], line["intercept"]["value"]
    percent = (bits_per_s - intercept) / slope
    if line["reach"] is None:
        return Need(max(0.0, percent), None, None)
    # delta method, see copycost.stats.errors_in_variables.Line.where
    variance = (
        line["intercept_variance"]
        + percent**2 * line["slope_variance"]
        + 2.0 * percent * line["covariance"]
    ) / slope**2
    half = line["reach"] * max(variance, 0.0) ** 0.5
    return Need(max(0.0, percent), max(0.0, percent - half), min(percent + half, most_percent))


def _between(points: Sequence[Mapping[str, Any]], party: str, bits_per_s: float) -> Need:
    """Interpolate between the two measured points around a bitrate."""
    above = next(i for i, p in enumerate(points) if p["bits_per_s"]["median"] >= bits_per_s)
    right = points[above]
    left = points[max(0, above - 1)]
    span = right["bits_per_s"]["median"] - left["bits_per_s"]["median"]
    share = (bits_per_s - left["bits_per_s"]["median"]) / span if span > 0 else 1.0

    def at(key: str) -> float | None:
        ends = (_of(left, party)[key], _of(right, party)[key])
        if ends[0] is None or ends[1] is None:
            return None
        return float(ends[0] + share * (ends[1] - ends[0]))

    percent = at("median")
    assert percent is not None
    # the ends' intervals in CPU alone: what their bitrates are uncertain by comes on top
    return Need(percent, at("low"), at("high"))
