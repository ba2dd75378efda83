"""How much CPU a bitrate takes, from what was measured; and what cannot be said.

Within the linear range the line says it, with its interval. Above it, up to the highest bitrate
measured, the two points around it do. Below the least bitrate measured no more is known than that
its CPU is enough. Beyond the highest there is no answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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

    Attributes
    ----------
    testbed, implementation, limiter, n_threads
        The curve.
    basis
        ``line``, ``points`` (between two measured points), ``least`` (no more than the least
        point's CPU), ``beyond`` (more than was measured).
    sender, receiver
        None where the basis is ``beyond``.
    highest_bits_per_s
        The highest bitrate measured on the curve.
    """

    testbed: str
    implementation: str
    limiter: str
    n_threads: int
    basis: Basis
    sender: Need | None
    receiver: Need | None
    highest_bits_per_s: float

    @property
    def total_percent(self) -> float:
        """CPU of both sides [% of one CPU]; infinite where there is no answer."""
        if self.sender is None or self.receiver is None:
            return float("inf")
        return self.sender.percent + self.receiver.percent


def plan_for(facts: Mapping[str, Any], bits_per_s: float, testbed: str) -> list[Plan]:
    """Return what each curve of a testbed says, the least CPU of both sides first.

    Parameters
    ----------
    facts : mapping
        ``results/cpu_budget/facts.json``.
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
    basis: Basis
    needs: dict[str, Need | None] = {"sender": None, "receiver": None}
    if bits_per_s > highest:
        basis = "beyond"
    elif bits_per_s < least:
        basis = "least"
        needs = {side: Need(float(points[0][side]["median"]), None, None) for side in needs}
    else:
        lines = [curve["lines"][side] for side in needs]
        on_line = all(line is not None and bits_per_s <= line["most_bits_per_s"] for line in lines)
        basis = "line" if on_line else "points"
        needs = {
            side: _on_line(curve["lines"][side], bits_per_s, 100.0 * curve["n_threads"])
            if on_line
            else _between(points, side, bits_per_s)
            for side in needs
        }
    return Plan(
        curve["testbed"],
        curve["implementation"],
        curve["limiter"],
        curve["n_threads"],
        basis,
        needs["sender"],
        needs["receiver"],
        highest,
    )


def _on_line(line: Mapping[str, Any], bits_per_s: float, most_percent: float) -> Need:
    """Read a bitrate's CPU off a line; a side has one thread per stream, so there is a most."""
    slope, intercept = line["slope"]["value"], line["intercept"]["value"]
    percent = (bits_per_s - intercept) / slope
    if line["reach"] is None:
        return Need(max(0.0, percent), None, None)
    # delta method, see copycost.stats.errors_in_both.Line.where
    variance = (
        line["intercept_variance"]
        + percent**2 * line["slope_variance"]
        + 2.0 * percent * line["covariance"]
    ) / slope**2
    half = line["reach"] * max(variance, 0.0) ** 0.5
    return Need(max(0.0, percent), max(0.0, percent - half), min(percent + half, most_percent))


def _between(points: Sequence[Mapping[str, Any]], side: str, bits_per_s: float) -> Need:
    """Interpolate between the two measured points around a bitrate."""
    above = next(i for i, p in enumerate(points) if p["bits_per_s"]["median"] >= bits_per_s)
    right = points[above]
    left = points[max(0, above - 1)]
    span = right["bits_per_s"]["median"] - left["bits_per_s"]["median"]
    share = (bits_per_s - left["bits_per_s"]["median"]) / span if span > 0 else 1.0

    def at(key: str) -> float | None:
        ends = (left[side][key], right[side][key])
        if ends[0] is None or ends[1] is None:
            return None
        return float(ends[0] + share * (ends[1] - ends[0]))

    percent = at("median")
    assert percent is not None
    # the ends' intervals in CPU alone: what their bitrates are uncertain by comes on top
    return Need(percent, at("low"), at("high"))
