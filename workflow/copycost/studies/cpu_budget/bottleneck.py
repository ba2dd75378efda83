"""Which side ends the growth at the highest bitrate, and what was measured that says so."""

from collections.abc import Mapping, Sequence
from typing import Literal

from copycost.analysis.json_values import Facts
from copycost.studies.cpu_budget.points import Point

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
    top = max(points, key=lambda point: point.bits_per_s["median"])
    used = {"sender": top.sender["median"], "receiver": top.receiver["median"]}
    if apart:
        host = max(used[side] / n for side, n in apart.items())
    else:
        guests = bool(top.vcpu_threads)
        host = (top.parties["host"]["median"] if guests else sum(used.values())) / n_cpus
    sender, receiver = (percent / n_threads for percent in used.values())
    # the most of any guest [% of the time]: of a virtual CPU and of I/O on a CPU or waiting for one
    vcpu = vcpu_waiting = io = vhost = 0.0
    for side, n in top.vcpu_threads.items():
        use = {
            name: top.parties[f"{side}_{name}"]["median"]
            for name in ("vcpu", "vcpu_waiting", "io", "io_waiting", "vhost")
        }
        vcpu = max(vcpu, (use["vcpu"] + use["vcpu_waiting"]) / n)
        vcpu_waiting = max(vcpu_waiting, use["vcpu_waiting"] / n)
        io = max(io, use["io"] + use["io_waiting"])
        vhost = max(vhost, use["vhost"])
    # a guest whose virtual CPUs wait takes that for its processes' use
    waits_for_host = vcpu_waiting >= _WAITING_PERCENT
    waiting = [one for one in (top.sender_waiting, top.receiver_waiting) if one is not None]
    causes: tuple[tuple[Bottleneck, bool], ...] = (
        ("both", not waits_for_host and min(sender, receiver) >= _FULL_PERCENT),
        ("receiver", not waits_for_host and receiver >= _FULL_PERCENT),
        ("sender", not waits_for_host and sender >= _FULL_PERCENT),
        ("vcpu", not waits_for_host and vcpu >= _FULL_PERCENT),
        ("io", io >= _FULL_PERCENT),
        ("vhost", vhost >= _FULL_PERCENT),
        ("host", host >= 100.0 * _HOST_SHARE),
        ("vcpu_waiting", waits_for_host),
        ("waiting", len(waiting) == len(used) and max(waiting) / n_threads >= _WAITING_PERCENT),
        ("limit", not top.saturated and top.limit_percent < _FULL_PERCENT),
    )
    kind: Bottleneck = next((cause for cause, applies in causes if applies), "unknown")
    # CPU used per stream [% of one CPU]
    return {"kind": kind, "sender_percent": sender, "receiver_percent": receiver}
