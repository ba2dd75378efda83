"""What the CPU budget comes to: lines of bitrate over CPU, what ended the growth, and plans."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats

from tools.recompute.driven import SIDES, curves
from tools.recompute.estimates import Estimate
from tools.recompute.run import Run

FULL = 95.0
"""A thread or a side that uses that much of a CPU has none left [%]."""

_WAITED = 10.0
_HOST_FULL = 90.0
_FEWEST = 3
_OFF = 0.05
_MOST_CORRELATED = 0.95


@dataclass(frozen=True)
class Line:
    """Bitrate over CPU [bit/s per % of one CPU], and the points that it goes through.

    `limits` has their limits, and `beyond` those of points above it that were not saturated either.
    """

    slope: Estimate
    intercept: Estimate
    variance: np.ndarray
    reach: float
    explained: float
    cpu: tuple[float, float]
    limits: tuple[int, ...] = ()
    beyond: tuple[int, ...] = ()

    def at(self, percent: float) -> float:
        """Return the bitrate on the line."""
        return self.intercept.value + self.slope.value * percent

    def needs(self, bits_per_s: float, most: float) -> Estimate:
        """Return the CPU of a bitrate, with its interval by the delta method."""
        slope = self.slope.value
        percent = (bits_per_s - self.intercept.value) / slope
        if math.isnan(self.reach):
            return Estimate(max(percent, 0.0))
        gradient = np.array([1.0, percent])
        half = self.reach * math.sqrt(gradient @ self.variance @ gradient) / slope
        return Estimate(max(percent, 0.0), max(percent - half, 0.0), min(percent + half, most), n=2)


def top(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the repetitions of the point of the highest bitrate."""
    medians = rows.groupby("limit_percent")["bits_per_s"].median()
    return rows[rows["limit_percent"] == medians.idxmax()]


def saturated(rows: pd.DataFrame) -> list[int]:
    """Return the limits at which most repetitions left some of it unused."""
    share = rows.groupby("limit_percent")["saturated"].mean()
    return [int(limit) for limit in share[share > 0.5].index]


def parties(rows: pd.DataFrame) -> list[str]:
    """Return whose lines there are: both sides, and the hypervisors."""
    outside = [f"{side}_hypervisor" for side in SIDES]
    return [*SIDES, *(name for name in outside if name in rows and rows[name].notna().any())]


def line(rows: pd.DataFrame, party: str, confidence: float) -> Line | None:
    """Return the line through most points from the least CPU on; None where none is one."""
    full = saturated(rows)
    usable = [of for limit, of in rows.groupby("limit_percent") if limit not in full]
    usable.sort(key=lambda of: float(of[party].median()))
    for n in range(len(usable), _FEWEST - 1, -1):
        found = _fitted(usable[:n], party, confidence)
        if found is not None:
            limits = [int(of["limit_percent"].iloc[0]) for of in usable]
            return replace(found, limits=tuple(limits[:n]), beyond=tuple(limits[n:]))
    return None


def _fitted(points: list[pd.DataFrame], party: str, confidence: float) -> Line | None:
    """Return the line through points, None where they lie off it.

    The most likely line where both directions err: the sum of the squared distances of the points,
    each measured in its own errors, is least.
    """
    x, y = (np.array([of[name].mean() for of in points]) for name in (party, "bits_per_s"))
    if np.ptp(x) <= 0:
        return None
    errors = _errors(points, party, x, y)
    if errors is None:
        slope = float(y.std() / x.std() * np.sign(np.cov(x, y)[0, 1]))
        intercept = float(y.mean() - slope * x.mean())
        if slope <= 0 or (abs(y - intercept - slope * x) > _OFF * abs(intercept + slope * x)).any():
            return None
        nothing = np.full((2, 2), math.nan)
        return Line(
            Estimate(slope), Estimate(intercept), nothing, math.nan,
            _explained(x, y, intercept, slope), (x.min(), x.max()),
        )  # fmt: skip
    covariances, freedom = errors

    def weights(slope: float) -> np.ndarray:
        across = np.array([-slope, 1.0])
        return np.array([1.0 / (across @ each @ across) for each in covariances])

    def through(slope: float) -> float:
        return float(np.average(y - slope * x, weights=weights(slope)))

    def distance(slope: float) -> float:
        return float((weights(slope) * (y - through(slope) - slope * x) ** 2).sum())

    plain = stats.linregress(x, y).slope
    slope = float(optimize.minimize_scalar(distance, (0.9 * plain, 1.1 * plain), tol=1e-12).x)
    intercept, weight = through(slope), weights(slope)
    off = y - intercept - slope * x
    by_chance = stats.t.ppf((1 + confidence) / 2, freedom) / np.sqrt(weight)
    if slope <= 0 or (abs(off) > np.maximum(_OFF * abs(y - off), by_chance)).any():
        return None
    # where on the line each point most likely is
    along = np.array([1.0, slope])
    inverses = [np.linalg.inv(each) for each in covariances]
    places = np.array([
        along @ inverse @ (px, py - intercept) / (along @ inverse @ along)
        for inverse, px, py in zip(inverses, x, y, strict=True)
    ])  # fmt: skip
    middle = np.average(places, weights=weight)
    of_slope = 1.0 / float((weight * (places - middle) ** 2).sum())
    variance = np.array([
        [1.0 / weight.sum() + middle**2 * of_slope, -middle * of_slope],
        [-middle * of_slope, of_slope],
    ])  # fmt: skip
    misfit = math.sqrt(distance(slope) / (len(x) - 2))
    reach = max(
        float(stats.t.ppf((1 + confidence) / 2, freedom)),
        float(stats.t.ppf((1 + confidence) / 2, len(x) - 2)) * misfit,
    )
    halves = reach * np.sqrt(np.diag(variance))
    return Line(
        Estimate(slope, slope - halves[1], slope + halves[1], n=2),
        Estimate(intercept, intercept - halves[0], intercept + halves[0], n=2),
        variance,
        reach,
        _explained(x, y, intercept, slope),
        (x.min(), x.max()),
    )


def _explained(x: np.ndarray, y: np.ndarray, intercept: float, slope: float) -> float:
    off = y - intercept - slope * x
    return float(1.0 - (off @ off) / (len(y) * y.var()))


def _errors(
    points: list[pd.DataFrame], party: str, x: np.ndarray, y: np.ndarray
) -> tuple[list[np.ndarray], int] | None:
    """Return each mean's covariance and the degrees of freedom: the spread of all points together.

    Of the CPU use as it is, of the bitrate in proportion to it.
    """
    off = np.concatenate([
        np.stack([of[party] - of[party].mean(), of["bits_per_s"] / of["bits_per_s"].mean() - 1.0])
        for of in points
    ], axis=1)  # fmt: skip
    freedom = sum(len(of) - 1 for of in points)
    if freedom == 0 or (off @ off.T).diagonal().min() <= 0:
        return None
    pooled = off @ off.T / freedom
    spread = np.sqrt(pooled.diagonal())
    correlated = np.clip(pooled[0, 1] / spread.prod(), -_MOST_CORRELATED, _MOST_CORRELATED)
    pooled[0, 1] = pooled[1, 0] = correlated * spread.prod()
    scales = [np.diag([1.0, abs(each)]) for each in y]
    return [
        scale @ pooled @ scale / len(of) for scale, of in zip(scales, points, strict=True)
    ], freedom


def bottleneck(rows: pd.DataFrame, n_cpus: int) -> str:
    """Return what ended the growth at the highest bitrate."""
    of = top(rows)
    n_threads = int(of["n_threads"].iloc[0])
    numbers = of.select_dtypes("number").median()
    full = [numbers[side] / n_threads >= FULL for side in SIDES]
    guests = [side for side in SIDES if f"{side}_hypervisor" in parties(of)]

    def most(kind: str, per_vcpu: bool, *, waiting: bool = False) -> float:
        found = [
            ((0.0 if waiting else numbers[f"{side}_{kind}"]) + numbers[f"{side}_{kind}_waiting"])
            / (numbers[f"{side}_vcpus"] if per_vcpu else 1.0)
            for side in guests
        ]
        return max(found, default=0.0)

    waited = most("vcpu", per_vcpu=True, waiting=True)
    if waited < _WAITED:
        if any(full):
            return "both" if all(full) else SIDES[full.index(True)]
        if most("vcpu", per_vcpu=True) >= FULL:
            return "vcpu"
    if most("io", per_vcpu=False) >= FULL:
        return "io"
    if max((numbers[f"{side}_vhost"] for side in guests), default=0.0) >= FULL:
        return "vhost"
    used = numbers["host"] if guests else numbers["sender"] + numbers["receiver"]
    if used / n_cpus >= _HOST_FULL:
        return "host"
    if waited >= _WAITED:
        return "vcpu_waiting"
    waits = [numbers[f"{side}_waiting"] / n_threads for side in SIDES]
    if not any(map(math.isnan, waits)) and max(waits) >= _WAITED:
        return "waiting"
    limit = int(of["limit_percent"].iloc[0])
    return "limit" if limit not in saturated(rows) and limit < FULL else "unknown"


@dataclass(frozen=True)
class Plan:
    """What a curve says of a bitrate: the CPU of each party, infinite in all beyond the highest."""

    key: dict[str, Any]
    basis: str
    needs: dict[str, Estimate]
    total: float
    highest: float
    emulated: bool


def plans(run: Run, testbed: str, bits_per_s: float) -> Iterator[Plan]:
    """Yield what each curve of a testbed says of a bitrate."""
    for key, rows in curves(run.driven("cpu_budget")):
        if key["testbed"] == testbed:
            yield _plan(run, key, rows, bits_per_s)


def _plan(run: Run, key: dict[str, Any], rows: pd.DataFrame, bits_per_s: float) -> Plan:
    names = parties(rows)
    most = dict.fromkeys(SIDES, 100.0 * key["n_threads"])
    points = sorted(
        (of for _, of in rows.groupby("limit_percent")), key=lambda of: of["bits_per_s"].median()
    )
    rates = [float(of["bits_per_s"].median()) for of in points]
    # what a side in a guest uses is part of what its hypervisor does
    spent = names[2:] if bool(rows["shared"].any()) else [
        f"{side}_hypervisor" if f"{side}_hypervisor" in names else side for side in SIDES
    ]  # fmt: skip
    lines = {name: line(rows, name, run.settings.confidence) for name in names}
    needs: dict[str, Estimate] = {}
    if bits_per_s > rates[-1]:
        basis = "beyond"
    elif bits_per_s < rates[0]:
        basis = "the least point"
        needs = {name: Estimate(float(points[0][name].median())) for name in names}
    elif all(of is not None and bits_per_s <= of.at(of.cpu[1]) for of in lines.values()):
        basis = "the line"
        needs = {
            name: of.needs(bits_per_s, most.get(name, math.inf))
            for name, of in lines.items()
            if of is not None
        }
    else:
        basis = "between two points"
        above = next(i for i, rate in enumerate(rates) if rate >= bits_per_s)
        ends = points[max(above - 1, 0)], points[above]
        span = rates[above] - rates[max(above - 1, 0)]
        share = (bits_per_s - rates[max(above - 1, 0)]) / span if span > 0 else 1.0
        for name in names:
            a, b = (run.median_of(of[name]).within(most.get(name, math.inf)) for of in ends)
            middle, low, high = (
                (1 - share) * getattr(a, end) + share * getattr(b, end)
                for end in ("value", "low", "high")
            )
            scatter = max(a.scatter[0], b.scatter[0]), max(a.scatter[1], b.scatter[1])
            needs[name] = Estimate(middle, low, high, n=min(a.n, b.n), scatter=scatter)
    total = sum(needs[name].value for name in spent) if needs else math.inf
    return Plan(key, basis, needs, total, rates[-1], bool(rows["emulated"].any()))
