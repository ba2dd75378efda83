"""A curve of bitrate against CPU: points, medians at each CPU limit, a line, and a bottleneck.

The rule for the linear range: of the points at which the sender used what it was offered, in the
order of their CPU use, as many from the least on as lie on a line through them, and at least three.
On the line is what lies within 5 % of it, or no further off than the point itself is uncertain.
Points above the range, and saturated ones, are marked and left out.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.stats.errors_in_variables import fit_line, pooled_errors
from copycost.analysis.stats.estimates import estimate
from copycost.analysis.stats.ratios import t_quantile
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.hosts.side import SIDES
from copycost.studies.shared_facts import curve_facts, party_estimates, with_interval
from copycost.wording.numbers import NBSP

_FEWEST_POINTS = 3
# share of the line's bitrate by which a point may lie off it
_OFF_LINE = 0.05

RANGE_RULE = (
    f"the points from the least CPU on, three or more, that lie within 5{NBSP}% of one line, or no"
    " further off it than they are uncertain; saturated points are left out"
)
"""The rule in words, for texts."""

# of one CPU per stream: who uses as much has none left
_FULL_PERCENT = 95.0
_HOST_SHARE = 0.9
# of one CPU: waiting this long for a CPU is no accident of scheduling
_WAITING_PERCENT = 10.0


def curve_of(
    key: Mapping[str, object],
    rows: pd.DataFrame,
    settings: StatisticsSettings,
    n_cpus: int,
    apart: Mapping[str, int] | None,
) -> Facts:
    """Return the facts of a curve from its measured repetitions.

    `n_cpus` are those of this host; where each side has a machine of its own, `apart` are the CPUs
    of that, by side.
    """
    steps = [step for _, step in rows.groupby("limit_percent")]
    points = [_point(step, settings) for step in steps]
    followed = [step for step, point in zip(steps, points, strict=True) if not point["saturated"]]
    top = int(np.argmax([point["bits_per_s"]["median"] for point in points]))
    return curve_facts(key, rows, points) | {
        "lines": {side: _line(followed, side, settings.confidence) for side in SIDES},
        "maximum": {"bits_per_s": points[top]["bits_per_s"]},
        "bottleneck": _bottleneck(points[top], steps[top], n_cpus, apart),
    }


def _point(step: pd.DataFrame, settings: StatisticsSettings) -> Facts:
    """Return what is told of one limit: CPU in % of one CPU, payload received in bit/s."""
    most = 100.0 * float(step["n_threads"].iloc[0])  # each stream has one thread at each side
    return {
        "limit_percent": int(step["limit_percent"].iloc[0]),
        "offered_percent": float(step["offered_percent"].iloc[0]),
        "n": len(step),
        **{side: estimate(step[f"{side}_cpu_percent"], settings, most=most) for side in SIDES},
        "bits_per_s": estimate(step["bits_per_s"], settings),
        # in most repetitions the senders could not use what they were offered
        "saturated": bool(step["saturated"].astype(bool).mean() > 0.5),
        "parties": party_estimates(step, settings),
    }


def _line(steps: Sequence[pd.DataFrame], side: str, confidence: float) -> Facts | None:
    """Return the line of bitrate over a side's CPU, None where no three points make one."""
    column = f"{side}_cpu_percent"
    usable = sorted(steps, key=lambda step: float(step[column].median()))
    for n in range(len(usable), _FEWEST_POINTS - 1, -1):
        used, rates = (
            [step[name].to_numpy(dtype=np.float64) for step in usable[:n]]
            for name in (column, "bits_per_s")
        )
        x, y = (np.array([values.mean() for values in of]) for of in (used, rates))
        if np.ptp(x) <= 0.0:
            continue
        errors = pooled_errors(used, rates)
        line = fit_line(x, y, errors, confidence)
        fitted = line.intercept + line.slope * x
        allowed = _OFF_LINE * np.abs(fitted)
        if errors is not None:
            # how far off the line a point may lie by chance alone [bit/s]
            both = line.slope**2 * errors.x**2 + errors.y**2
            spread = np.sqrt(both - 2.0 * line.slope * errors.correlation * errors.x * errors.y)
            chance = t_quantile((1.0 + confidence) / 2.0, errors.freedom) * spread
            allowed = np.maximum(allowed, chance)
        if line.slope > 0.0 and np.all(np.abs(y - fitted) <= allowed):
            return {
                "slope": with_interval(line.slope, line.slope_low, line.slope_high),
                "intercept": with_interval(line.intercept, line.intercept_low, line.intercept_high),
                "limits": [int(step["limit_percent"].iloc[0]) for step in usable[:n]],
            }
    return None


def _bottleneck(
    point: Facts, step: pd.DataFrame, n_cpus: int, apart: Mapping[str, int] | None
) -> Facts:
    """Return what held the bitrate back at the highest point, and the CPU per stream there."""
    n_threads = int(step["n_threads"].iloc[0])
    used: dict[str, float] = {side: point[side]["median"] for side in SIDES}
    parties = {name: found["median"] for name, found in point["parties"].items()}
    sender, receiver = (percent / n_threads for percent in used.values())
    # the most of any guest [% of the time]: of a virtual CPU and of I/O on a CPU or waiting for one
    vcpu = vcpu_waiting = io = vhost = 0.0
    threads = {side: step[f"{side}_vcpu_threads"].max() for side in SIDES}
    guests = {side: n_vcpus for side, n_vcpus in threads.items() if n_vcpus > 0}
    for side, n_vcpus in guests.items():
        waiting = parties[f"{side}_vcpu_waiting"]
        vcpu = max(vcpu, (parties[f"{side}_vcpu"] + waiting) / n_vcpus)
        vcpu_waiting = max(vcpu_waiting, waiting / n_vcpus)
        io = max(io, parties[f"{side}_io"] + parties[f"{side}_io_waiting"])
        vhost = max(vhost, parties[f"{side}_vhost"])
    if apart:
        host = max(used[side] / n for side, n in apart.items())
    else:
        host = (parties["host"] if guests else sum(used.values())) / n_cpus
    # NaN where one of the sides' is not known
    side_waiting = np.max([step[f"{side}_waiting_percent"].median() for side in SIDES])
    # a guest whose virtual CPUs wait takes that for its processes' use
    waits_for_host = vcpu_waiting >= _WAITING_PERCENT
    causes = {
        "both": not waits_for_host and min(sender, receiver) >= _FULL_PERCENT,
        "receiver": not waits_for_host and receiver >= _FULL_PERCENT,
        "sender": not waits_for_host and sender >= _FULL_PERCENT,
        # threads of a guest's hypervisor were full: those that run its virtual CPUs, those of its
        # main loop and I/O, the kernel's for its packets
        "vcpu": not waits_for_host and vcpu >= _FULL_PERCENT,
        "io": io >= _FULL_PERCENT,
        "vhost": vhost >= _FULL_PERCENT,
        # CPUs of this host; where each side has a machine of its own, those of one of them
        "host": host >= 100.0 * _HOST_SHARE,
        "vcpu_waiting": waits_for_host,
        # the sides waited for CPUs that others of them, or something else, had
        "waiting": side_waiting / n_threads >= _WAITING_PERCENT,
        # the sender used all it was offered, and it was offered less than its CPUs have
        "limit": not point["saturated"] and point["limit_percent"] < _FULL_PERCENT,
    }
    kind = next((cause for cause, applies in causes.items() if applies), "unknown")
    return {"kind": kind, "sender_percent": sender, "receiver_percent": receiver}
