"""Which side ends the growth at the highest bitrate, and what was measured that says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from copycost.studies.cpu_budget.points import Point

Bottleneck = Literal[
    "sender", "receiver", "both", "vcpu", "io", "vhost", "host", "vcpu_waiting", "waiting",
    "limit", "unknown",
]  # fmt: skip

FULL_PERCENT = 95.0
"""A side that uses this much of one CPU per stream has none left."""

_HOST_SHARE = 0.9
# of one CPU: waiting this long for a CPU is no accident of scheduling
_WAITING_PERCENT = 10.0


@dataclass(frozen=True, slots=True)
class GuestUse:
    """How a guest's hypervisor was occupied."""

    side: str  # whose guest it is
    # of the threads that run its virtual CPUs, and of main loop and I/O, each: on a CPU, or waiting
    # for one [% of the time]; in the latter kind at most that of one thread
    vcpu: float
    io: float
    vhost: float  # of the host's kernel thread that moves its packets, on a CPU [% of the time]
    vcpu_waiting: float  # of the former, waiting [% of the time]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The bottleneck at the point of the highest bitrate."""

    # ``sender`` or ``receiver`` (its CPUs are full), ``both``, ``host`` (both together fill the
    # CPUs of the host; where there are guests, the host's CPUs were full; where each side has a
    # machine of its own, one has filled its CPUs), ``vcpu``, ``io`` and ``vhost`` (the threads of a
    # guest's hypervisor that run its virtual CPUs, those of its main loop and I/O, and the kernel's
    # for its packets, were full), ``vcpu_waiting`` (virtual CPUs waited for one of the host's),
    # ``waiting`` (they waited for CPUs that others of them, or something else, had), ``limit`` (the
    # sender used all it was offered, and it was offered less than its CPUs have), ``unknown`` (none
    # of these)
    kind: Bottleneck
    # CPU used per stream [% of one CPU]
    sender_percent: float
    receiver_percent: float


def judge_bottleneck(
    points: Sequence[Point], n_threads: int, n_cpus: int, apart: Mapping[str, int] | None = None
) -> Judgement | None:
    """Return the bottleneck of a curve, None without points.

    `n_cpus` are those of this host; where each side has a machine of its own, `apart` are the CPUs
    of that, by side.
    """
    if not points:
        return None
    top = max(points, key=lambda point: point.bits_per_s["median"])
    sender, receiver = top.sender["median"] / n_threads, top.receiver["median"] / n_threads
    guests = _guests(top)
    processes = top.sender["median"] + top.receiver["median"]
    used = {"sender": top.sender["median"], "receiver": top.receiver["median"]}
    host = (top.parties["host"]["median"] if guests else processes) / n_cpus
    if apart:
        host = max(used[side] / n for side, n in apart.items())
    waiting = [
        None if value is None else value / n_threads
        for value in (top.sender_waiting, top.receiver_waiting)
    ]
    return Judgement(_kind(sender, receiver, host, waiting, guests, top), sender, receiver)


def _guests(top: Point) -> tuple[GuestUse, ...]:
    """Return how the hypervisors of a point's guests were occupied."""
    found = []
    for side, n_threads in top.vcpu_threads.items():
        middle = {
            name: top.parties[f"{side}_{name}"]["median"]
            for name in ("vcpu", "vcpu_waiting", "io", "io_waiting", "vhost")
        }
        found.append(
            GuestUse(
                side,
                (middle["vcpu"] + middle["vcpu_waiting"]) / n_threads,
                middle["io"] + middle["io_waiting"],
                middle["vhost"],
                middle["vcpu_waiting"] / n_threads,
            )
        )
    return tuple(found)


def _kind(
    sender: float,
    receiver: float,
    host: float,
    waiting: Sequence[float | None],
    guests: Sequence[GuestUse],
    top: Point,
) -> Bottleneck:
    vcpu_waiting = max((guest.vcpu_waiting for guest in guests), default=0.0)
    # a guest whose virtual CPUs wait takes that for its processes' use
    if vcpu_waiting < _WAITING_PERCENT:
        full = (sender >= FULL_PERCENT, receiver >= FULL_PERCENT)
        if all(full):
            return "both"
        if full[1]:
            return "receiver"
        if full[0]:
            return "sender"
        if any(guest.vcpu >= FULL_PERCENT for guest in guests):
            return "vcpu"
    if any(guest.io >= FULL_PERCENT for guest in guests):
        return "io"
    if any(guest.vhost >= FULL_PERCENT for guest in guests):
        return "vhost"
    if host >= 100.0 * _HOST_SHARE:
        return "host"
    if vcpu_waiting >= _WAITING_PERCENT:
        return "vcpu_waiting"
    known = [value for value in waiting if value is not None]
    if len(known) == len(waiting) and max(known) >= _WAITING_PERCENT:
        return "waiting"
    if not top.saturated and top.limit_percent < FULL_PERCENT:
        return "limit"
    return "unknown"
