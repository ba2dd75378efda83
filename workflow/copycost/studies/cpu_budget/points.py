"""From the table of repetitions to points, medians at each CPU limit, and to lines of bitrate.

The rule for the linear range: of the points at which the sender used what it was offered, in the
order of their CPU use, as many from the least on as lie on a line through them, and at least three.
On the line is what lies within 5 % of it, or no further off than the point itself is uncertain.
Points above the range, and saturated ones, are marked and left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.hosts.side import SIDES
from copycost.stats.errors_in_variables import Line, fit_line, pooled_errors
from copycost.stats.estimates import estimate
from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.shared_facts import party_estimates, party_values
from copycost.wording.numbers import NBSP

SERIES = ["testbed", "implementation", "limiter", "n_threads"]
"""What tells one curve of bitrate against CPU from another."""

_FEWEST_POINTS = 3
# share of the line's bitrate by which a point may lie off it
_OFF_LINE = 0.05

RANGE_RULE = (
    f"the points from the least CPU on, three or more, that lie within 5{NBSP}% of one line, or no"
    " further off it than they are uncertain; saturated points are left out"
)
"""The rule in words, for texts."""


@dataclass(frozen=True, slots=True)
class Point:
    """One CPU limit of one curve, and the repetitions behind what is told of it."""

    # the limit per stream, what it offers to all senders, what sides and other parties used [% of
    # one CPU], payload received [bit/s]; `saturated`: in most repetitions the senders could not use
    # what they were offered
    told: Facts
    # of sides and other parties [% of one CPU], and bitrates [bit/s], by repetition
    cpu: Mapping[str, FloatArray]
    bitrates: FloatArray
    # the longer of the sides' median times without a CPU though runnable [% of one CPU]; NaN where
    # one of them is not known
    waiting: float
    # by side with a guest of its own, the threads that run its virtual CPUs [count]
    vcpu_threads: Mapping[str, int]


def series_of(table: pd.DataFrame) -> Iterator[tuple[dict[str, object], pd.DataFrame]]:
    """Yield each curve's key and its rows, in the order of the table."""
    for key, rows in table.groupby(SERIES, sort=False):
        values = key if isinstance(key, tuple) else (key,)
        yield dict(zip(SERIES, values, strict=True)), rows


def points_of(rows: pd.DataFrame, settings: StatisticsSettings) -> list[Point]:
    """Return the points of one curve, from the least CPU offered to the most."""
    found = []
    measured = rows[(rows["status"] == "measured") & rows["bits_per_s"].notna()]
    for limit, part in measured.groupby("limit_percent"):
        used: dict[str, FloatArray] = {
            side: part[f"{side}_cpu_percent"].to_numpy(dtype=np.float64) for side in SIDES
        }
        rates = part["bits_per_s"].to_numpy(dtype=np.float64)
        others = party_values(part)
        most = 100.0 * float(part["n_threads"].iloc[0])  # each stream has one thread at each side
        vcpus = {side: part[f"{side}_vcpu_threads"].dropna() for side in SIDES}
        waiting = [part[f"{side}_waiting_percent"].astype(float).median() for side in SIDES]
        told: Facts = {
            "limit_percent": int(str(limit)),
            "offered_percent": float(part["offered_percent"].iloc[0]),
            "n": len(part),
            **{side: estimate(values, settings, most=most) for side, values in used.items()},
            "bits_per_s": estimate(rates, settings),
            "saturated": bool(part["saturated"].astype(bool).mean() > 0.5),
            "parties": party_estimates(others, settings),
        }
        point = Point(
            told,
            {**used, **others},
            rates,
            float(np.max(waiting)),
            {side: int(of.max()) for side, of in vcpus.items() if not of.empty},
        )
        found.append(point)
    return found


@dataclass(frozen=True, slots=True)
class LinearRange:
    """A line and the points that it holds for."""

    line: Line  # bitrate [bit/s] over CPU [% of one CPU]
    limits: tuple[int, ...]  # the limits of its points [% of one CPU per stream]
    most_bits_per_s: float  # the line's bitrate at its upper end


def linear_range(points: Sequence[Point], side: str, confidence: float) -> LinearRange | None:
    """Return the line of bitrate over one side's CPU, None where no three points make one."""
    usable = [point for point in points if not point.told["saturated"]]
    usable.sort(key=lambda point: float(np.median(point.cpu[side])))
    for n in range(len(usable), _FEWEST_POINTS - 1, -1):
        part = usable[:n]
        x = np.array([point.cpu[side].mean() for point in part])
        y = np.array([point.bitrates.mean() for point in part])
        if np.ptp(x) <= 0.0:
            continue
        errors = pooled_errors([p.cpu[side] for p in part], [p.bitrates for p in part])
        line = fit_line(x, y, errors, confidence)
        fitted = line.intercept + line.slope * x
        allowed = _OFF_LINE * np.abs(fitted)
        if errors is not None:
            # how far off the line a point may lie by chance alone [bit/s]
            slope = line.slope
            both = slope**2 * errors.x**2 + errors.y**2
            spread = np.sqrt(both - 2.0 * slope * errors.correlation * errors.x * errors.y)
            chance = t_quantile((1.0 + confidence) / 2.0, errors.freedom) * spread
            allowed = np.maximum(allowed, chance)
        if line.slope > 0.0 and np.all(np.abs(y - fitted) <= allowed):
            return LinearRange(
                line,
                tuple(point.told["limit_percent"] for point in part),
                line.at(float(x.max())),
            )
    return None


Bottleneck = Literal[
    "sender",  # its CPUs were full
    "receiver",
    "both",
    # threads of a guest's hypervisor were full: those that run its virtual CPUs, those of its main
    # loop and I/O, the kernel's for its packets
    "vcpu",
    "io",
    "vhost",
    # CPUs of this host were full; where each side has a machine of its own, those of one of them
    "host",
    "vcpu_waiting",  # virtual CPUs waited for one of the host's
    "waiting",  # the sides waited for CPUs that others of them, or something else, had
    "limit",  # the sender used all it was offered, and it was offered less than its CPUs have
    "unknown",
]

# of one CPU per stream: who uses as much has none left
_FULL_PERCENT = 95.0
_HOST_SHARE = 0.9
# of one CPU: waiting this long for a CPU is no accident of scheduling
_WAITING_PERCENT = 10.0


def judge_bottleneck(
    points: Sequence[Point], n_threads: int, n_cpus: int, apart: Mapping[str, int] | None = None
) -> Facts | None:
    """Return the bottleneck of a curve at its highest bitrate, None without points.

    `n_cpus` are those of this host; where each side has a machine of its own, `apart` are the CPUs
    of that, by side.
    """
    if not points:
        return None
    top = max(points, key=lambda point: float(point.told["bits_per_s"]["median"]))
    used: dict[str, float] = {side: top.told[side]["median"] for side in SIDES}
    parties = top.told["parties"]
    if apart:
        host = max(used[side] / n for side, n in apart.items())
    else:
        guests = bool(top.vcpu_threads)
        host = (parties["host"]["median"] if guests else sum(used.values())) / n_cpus
    sender, receiver = (percent / n_threads for percent in used.values())
    # the most of any guest [% of the time]: of a virtual CPU and of I/O on a CPU or waiting for one
    vcpu = vcpu_waiting = io = vhost = 0.0
    for side, n in top.vcpu_threads.items():
        use = {
            name: parties[f"{side}_{name}"]["median"]
            for name in ("vcpu", "vcpu_waiting", "io", "io_waiting", "vhost")
        }
        vcpu = max(vcpu, (use["vcpu"] + use["vcpu_waiting"]) / n)
        vcpu_waiting = max(vcpu_waiting, use["vcpu_waiting"] / n)
        io = max(io, use["io"] + use["io_waiting"])
        vhost = max(vhost, use["vhost"])
    # a guest whose virtual CPUs wait takes that for its processes' use
    waits_for_host = vcpu_waiting >= _WAITING_PERCENT
    causes: tuple[tuple[Bottleneck, bool], ...] = (
        ("both", not waits_for_host and min(sender, receiver) >= _FULL_PERCENT),
        ("receiver", not waits_for_host and receiver >= _FULL_PERCENT),
        ("sender", not waits_for_host and sender >= _FULL_PERCENT),
        ("vcpu", not waits_for_host and vcpu >= _FULL_PERCENT),
        ("io", io >= _FULL_PERCENT),
        ("vhost", vhost >= _FULL_PERCENT),
        ("host", host >= 100.0 * _HOST_SHARE),
        ("vcpu_waiting", waits_for_host),
        ("waiting", top.waiting / n_threads >= _WAITING_PERCENT),
        ("limit", not top.told["saturated"] and top.told["limit_percent"] < _FULL_PERCENT),
    )
    kind: Bottleneck = next((cause for cause, applies in causes if applies), "unknown")
    # CPU used per stream [% of one CPU]
    return {"kind": kind, "sender_percent": sender, "receiver_percent": receiver}
