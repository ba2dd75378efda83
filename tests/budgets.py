"""Tables of CPU budgets with a known truth, and their facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from study_inputs import STATISTICS, guests_row, published, section_of

from copycost.studies.cpu_budget.facts import compute_facts
from copycost.studies.cpu_budget.records import CPU_BUDGET, judge_limit

LIMITS = (10, 25, 40, 60, 80, 100)


@dataclass(frozen=True)
class Truth:
    """What a sender does with a CPU budget on one testbed."""

    testbed: str = "loopback"
    n_threads: int = 1
    gbps_per_percent: float = 0.28
    # bitrate [Gbit/s] at which the curve ends, whatever CPU is offered
    ceiling: float = 1e9
    receiver_per_sender: float = 0.7
    implementation: str = "iperf3"
    limiter: str = "cgroup"
    waiting: float = 0.5
    noise: float = 0.01
    flags: str = ""
    # what perf counts of the sender's and the receiver's CPU time; None: nothing of either
    perf: float | None = 0.99
    receiver_perf: float = 0.85
    # the kernel's count of what was read, over the driver's
    kernel: float = 1.004
    bend: float = 0.0
    # what runs the guests' instructions, None without guests; one guest for both sides; CPU of the
    # hypervisor per CPU of the processes inside, and its part in main loop and I/O
    accelerator: str | None = None
    shared: bool = False
    outside_per_inside: float = 2.5
    in_io: float = 0.3
    in_vhost: float = 0.0
    vcpu_waiting: float = 0.2
    off_window: bool = False


PAIR = Truth(testbed="vm_pair", gbps_per_percent=0.05, accelerator="tcg", ceiling=2.2, waiting=0.0)
IN_ONE = Truth(
    testbed="vm_loopback", gbps_per_percent=0.12, accelerator="tcg", shared=True,
    outside_per_inside=1.3, in_io=0.0, receiver_per_sender=0.3,
)  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A run of the study."""

    truths: Sequence[Truth] = (Truth(),)
    limits: Sequence[int] = LIMITS
    repetitions: int = 3
    lost: Sequence[tuple[str, str, str, str]] = ()  # testbed, status, reason, remedy
    profile: Mapping[str, Any] | None = None
    host_cpus: int = 4
    peer_cpus: int = 16
    section: Mapping[str, Any] = field(default_factory=dict)


def table_of(study: Study) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    rows = []
    for truth in study.truths:
        for rep in range(1, study.repetitions + 1):
            rows += [_row(truth, limit, rep, rng) for limit in study.limits]
    for testbed, status, reason, remedy in study.lost:
        for limit in study.limits:
            row = dict.fromkeys(CPU_BUDGET.names, float("nan"))
            row.update(
                testbed=testbed, implementation="iperf3", limiter="cgroup", n_threads=1, rep=1,
                limit_percent=limit, status=status, reason=reason, remedy=remedy,
                offered_percent=float(limit), flags="", limiter_missed=False, saturated=False,
            )  # fmt: skip
            rows.append(row)
    return pd.DataFrame(rows, columns=list(CPU_BUDGET.names))


def _row(truth: Truth, limit: int, rep: int, rng: np.random.Generator) -> dict[str, Any]:
    n = truth.n_threads
    wanted = n * limit
    rate = truth.gbps_per_percent * wanted + truth.bend * wanted**2
    held = rate <= truth.ceiling
    sender = wanted if held else wanted * truth.ceiling / rate
    sender += n * rng.normal(0, 0.1)
    rate = min(rate, truth.ceiling) * (1 + rng.normal(0, truth.noise)) * 1e9
    receiver = truth.receiver_per_sender * sender
    held_share = 0.0 if limit == 100 or not held else 1.0
    if truth.limiter == "cpulimit":
        held_share = 0.0 if limit == 100 else float("nan")
    missed, saturated = judge_limit(
        sender / n, float(limit), held_share, receiver / n, truth.waiting, held=True
    )
    nan = float("nan")
    return {
        "testbed": truth.testbed, "implementation": truth.implementation, "limiter": truth.limiter,
        "n_threads": n, "limit_percent": limit, "rep": rep, "status": "measured",
        "reason": None, "remedy": None,
        "limiter_kind": "cgroup v1" if truth.limiter == "cgroup" else "cpulimit",
        "offered_percent": float(n * limit), "sender_cpu_percent": sender,
        "receiver_cpu_percent": receiver,
        "sender_perf_percent": truth.perf * sender if truth.perf else nan,
        "receiver_perf_percent": truth.receiver_perf * receiver if truth.perf else nan,
        "sender_waiting_percent": truth.waiting * n, "receiver_waiting_percent": truth.waiting * n,
        "sent_bits_per_s": rate, "bits_per_s": rate, "kernel_bits_per_s": rate * truth.kernel,
        "retransmits": 0, "held_share": held_share, "limiter_missed": missed,
        "saturated": saturated, "flags": truth.flags, "n_intervals": 9,
        "driver_version": "3.12" if truth.implementation == "iperf3" else "0123abc",
        "process_pairs": n,
        "congestion_control": "cubic",
        **guests_row(
            truth.accelerator, {"sender": sender, "receiver": receiver}, shared=truth.shared,
            outside_per_inside=truth.outside_per_inside, in_io=truth.in_io,
            in_vhost=truth.in_vhost,
            vcpu_waiting=truth.vcpu_waiting, off_window=truth.off_window,
        ),
    }  # fmt: skip


def facts_of(study: Study) -> dict[str, Any]:
    section = {
        **section_of(study.truths, study.repetitions),
        "limiters": list(dict.fromkeys(truth.limiter for truth in study.truths)) or ["cgroup"],
        "limit_percent": list(study.limits),
        "msg_bytes": 131072,
        **study.section,
    }
    return compute_facts(
        table_of(study),
        {"cpu": {"cpus_online": study.host_cpus}},
        section,
        STATISTICS,
        published("tcp"),
        study.profile,
        {"lab2": {"cpu": {"cpus_online": study.peer_cpus}}},
    )
