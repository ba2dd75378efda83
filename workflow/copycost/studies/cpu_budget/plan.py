"""How much CPU a bitrate takes, from what was measured; and what cannot be said.

Within the linear range the line says it, with its interval. Above it, up to the highest bitrate
measured, the two points around it do. Below the least bitrate measured no more is known than that
its CPU is enough. Beyond the highest there is no answer.
"""

import math
from collections.abc import Mapping
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
    rates = [float(point["bits_per_s"]["median"]) for point in points]
    used = [{**point["parties"], **{side: point[side] for side in SIDES}} for point in points]
    guests = curve["guests"]
    hypervisors = {side: f"{side}_hypervisor" for side in guests["sides"]} if guests else {}
    parties = [*SIDES, *hypervisors.values()]
    lines = {name: curve["lines"][name] for name in parties}
    basis: Basis
    needs: dict[str, Need] = {}
    if bits_per_s > rates[-1]:
        basis = "beyond"
    elif bits_per_s < rates[0]:
        basis = "least"
        needs = {name: Need(used[0][name]["median"], None, None) for name in parties}
    elif all(line and bits_per_s <= line["most_bits_per_s"] for line in lines.values()):
        basis = "line"
        # a side has one thread per stream, so there is a most
        most = dict.fromkeys(SIDES, 100.0 * curve["n_threads"])
        needs = {
            name: _on_line(line, bits_per_s, most.get(name, math.inf))
            for name, line in lines.items()
        }
    else:
        basis = "points"
        above = next(i for i, rate in enumerate(rates) if rate >= bits_per_s)
        below = max(0, above - 1)
        span = rates[above] - rates[below]
        share = (bits_per_s - rates[below]) / span if span > 0 else 1.0
        needs = {name: _between(used[below][name], used[above][name], share) for name in parties}
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
        rates[-1],
    )


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


def _between(left: Mapping[str, Any], right: Mapping[str, Any], share: float) -> Need:
    """Interpolate between what was used at two measured points.

    With the ends' intervals in CPU alone: what their bitrates are uncertain by comes on top.
    """

    def at(key: str) -> float | None:
        if left[key] is None or right[key] is None:
            return None
        return float(left[key] + share * (right[key] - left[key]))

    percent = at("median")
    assert percent is not None
    return Need(percent, at("low"), at("high"))
