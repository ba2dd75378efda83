"""Which side ends the growth at the highest bitrate, and what was measured that says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from copycost.studies.cpu_budget.points import Point

Bottleneck = Literal["sender", "receiver", "both", "host", "waiting", "limit", "unknown"]

FULL_PERCENT = 95.0
"""A side that uses this much of one CPU per stream has none left."""

_HOST_SHARE = 0.9
# of one CPU: waiting this long for a CPU is no accident of scheduling
_WAITING_PERCENT = 10.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """The bottleneck at the point of the highest bitrate.

    Attributes
    ----------
    kind
        ``sender`` or ``receiver`` (its CPUs are full), ``both``, ``host`` (both together fill the
        CPUs of the host), ``waiting`` (they waited for CPUs that others of them, or something
        else, had), ``limit`` (the sender used all it was offered, and it was offered less than its
        CPUs have), ``unknown`` (none of these).
    limit_percent
        Of the point [% of one CPU per stream].
    sender_percent, receiver_percent
        CPU used per stream [% of one CPU].
    host_percent
        CPU used by both sides [% of all CPUs of the host].
    sender_waiting, receiver_waiting
        Runnable without a CPU, per stream [% of one CPU]; None where nobody tells.
    """

    kind: Bottleneck
    limit_percent: int
    sender_percent: float
    receiver_percent: float
    host_percent: float
    sender_waiting: float | None
    receiver_waiting: float | None


def judge_bottleneck(points: Sequence[Point], n_threads: int, n_cpus: int) -> Judgement | None:
    """Return the bottleneck of a curve, None without points."""
    if not points:
        return None
    top = max(points, key=lambda point: point.bits_per_s["median"])
    sender, receiver = top.sender["median"] / n_threads, top.receiver["median"] / n_threads
    host = (top.sender["median"] + top.receiver["median"]) / n_cpus
    waiting = [
        None if value is None else value / n_threads
        for value in (top.sender_waiting, top.receiver_waiting)
    ]
    return Judgement(
        _kind(sender, receiver, host, waiting, top),
        top.limit_percent,
        sender,
        receiver,
        host,
        waiting[0],
        waiting[1],
    )


def _kind(
    sender: float, receiver: float, host: float, waiting: Sequence[float | None], top: Point
) -> Bottleneck:
    full = (sender >= FULL_PERCENT, receiver >= FULL_PERCENT)
    if all(full):
        return "both"
    if full[1]:
        return "receiver"
    if full[0]:
        return "sender"
    if host >= 100.0 * _HOST_SHARE:
        return "host"
    known = [value for value in waiting if value is not None]
    if len(known) == len(waiting) and max(known) >= _WAITING_PERCENT:
        return "waiting"
    if not top.saturated and top.limit_percent < FULL_PERCENT:
        return "limit"
    return "unknown"
