"""Tables of datagrams with a known truth, and their facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from study_inputs import STATISTICS, guests_row, published, section_of

from copycost.studies.datagrams.facts import compute_facts
from copycost.studies.datagrams.records import DATAGRAMS

SIZES = (64, 1472, 8192, 65507)


@dataclass(frozen=True)
class Truth:
    """What a sender and a receiver do on one testbed."""

    testbed: str = "veth_udp"
    implementation: str = "iperf3"
    n_threads: int = 1
    fixed_ns: float = 1500.0
    ns_per_byte: float = 0.1
    # cost at the third size, in units of what the two terms say
    bump: float = 1.0
    loss: float = 0.2
    unaccounted: int = 0
    drained: bool = True
    driver_knows: bool = True
    counted: bool = True
    flags: str = ""
    noise: float = 0.01
    # what runs the guests' instructions, None without guests; one guest for both sides; of what is
    # lost, in TAP devices and bridge; packets of a datagram at the largest size
    accelerator: str | None = None
    shared: bool = False
    in_tap: float = 0.0
    in_bridge: float = 0.0
    most_packets: int = 1


PAIR = Truth(
    testbed="vm_pair_udp", accelerator="tcg", loss=0.5, in_tap=0.9, in_bridge=0.02, most_packets=45
)
IN_ONE = Truth(testbed="vm_loopback_udp", accelerator="tcg", shared=True)


@dataclass(frozen=True)
class Study:
    """A run of the study."""

    truths: Sequence[Truth] = (Truth(),)
    sizes: Sequence[int] = SIZES
    repetitions: int = 3
    lost: Sequence[tuple[str, str, str]] = ()  # status, reason, remedy


def table_of(study: Study) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        _row(truth, size, rep, rng)
        for truth in study.truths
        for rep in range(1, study.repetitions + 1)
        for size in study.sizes
    ]
    for status, reason, remedy in study.lost:
        for size in study.sizes:
            row = dict.fromkeys(DATAGRAMS.names, float("nan"))
            row.update(
                testbed="veth_udp", implementation="iperf3", msg_bytes=size, n_threads=1, rep=9,
                status=status, reason=reason, remedy=remedy, flags="",
            )  # fmt: skip
            rows.append(row)
    return pd.DataFrame(rows, columns=list(DATAGRAMS.names))


def _row(truth: Truth, size: int, rep: int, rng: np.random.Generator) -> dict[str, Any]:
    n, nan = truth.n_threads, float("nan")
    bump = truth.bump if size == SIZES[2] else 1.0
    sender_ns, receiver_ns = (
        bump * (fixed + truth.ns_per_byte * size) * (1 + rng.normal(0, truth.noise))
        for fixed in (truth.fixed_ns, 1200.0)
    )
    sent_per_s = 0.95 * n * 1e9 / sender_ns
    received_per_s = sent_per_s * (1 - truth.loss)
    sent = round(1.2 * sent_per_s)
    lost = round(sent * truth.loss)
    tap, bridge = round(lost * truth.in_tap), round(lost * truth.in_bridge)
    row = {
        "testbed": truth.testbed, "implementation": truth.implementation,
        "msg_bytes": size, "n_threads": n, "rep": rep,
        "status": "measured", "reason": None, "remedy": None,
        "sent_bits_per_s": sent_per_s * size * 8, "bits_per_s": received_per_s * size * 8,
        "sent_per_s": sent_per_s, "received_per_s": received_per_s,
        "sender_cpu_percent": 95.0 * n, "receiver_cpu_percent": received_per_s * receiver_ns / 1e7,
        "cpu_clock": "task_clock",
        "sender_ns": sender_ns, "receiver_ns": receiver_ns,
        "sent": sent, "received": sent - lost, "lost": lost,
        "lost_receive_buffer": lost - truth.unaccounted - tap - bridge,
        "lost_socket_memory": 0, "lost_tap": tap, "lost_bridge": bridge,
        "packets_each": truth.most_packets if size == SIZES[-1] else 1,
        "mtu_bytes": 1500 if truth.most_packets > 1 else 65535,
        "lost_device": 0, "lost_other": 0, "lost_reassembly": 0,
        "lost_unaccounted": truth.unaccounted, "drained": truth.drained,
        "driver_sent": sent if truth.driver_knows else nan,
        "driver_lost": lost if truth.driver_knows else nan,
        "driver_out_of_order": 0, "kernel_sent": sent, "kernel_lost": lost,
        "flags": truth.flags, "process_pairs": n,
        "driver_version": "3.12" if truth.implementation == "iperf3" else "0123abc",
    }  # fmt: skip
    row |= guests_row(
        truth.accelerator, {side: row[f"{side}_cpu_percent"] for side in ("sender", "receiver")},
        shared=truth.shared,
    )  # fmt: skip
    if not truth.counted:
        row.update({key: nan for key in row if key.startswith(("lost", "kernel"))})
        row.update(sent=nan, received=nan)
    return row


def facts_of(study: Study) -> dict[str, Any]:
    section = {**section_of(study.truths, study.repetitions), "msg_bytes": list(study.sizes)}
    return compute_facts(table_of(study), section, STATISTICS, published("udp"))
