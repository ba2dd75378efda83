"""What the facts of cpu_budget and datagrams are computed from besides their tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.analysis.stats.settings import StatisticsSettings

STATISTICS = StatisticsSettings(0.95, 1000, 1)
_PUBLISHED = Path(__file__).parents[1] / "data" / "published"


def section_of(truths: Sequence[Any], repetitions: int) -> dict[str, Any]:
    """Return what the sections of both studies state, from the truth of each curve."""
    implementations = list(dict.fromkeys(truth.implementation for truth in truths))
    return {
        "implementations": implementations or ["iperf3"],
        "repetitions": repetitions,
        "warmup_s": 0.3,
        "duration_s": 1.0,
    }


def published(protocol: str) -> pd.DataFrame:
    """Return the published table for ``tcp`` or ``udp``."""
    return pd.read_csv(_PUBLISHED / f"cpu-overhead-{protocol}.csv")


def guests_row(
    accelerator: str | None,
    processes: Mapping[str, float],
    *,
    shared: bool = False,
    outside_per_inside: float = 2.5,
    in_io: float = 0.3,
    in_vhost: float = 0.0,
    vcpu_waiting: float = 0.2,
    off_window: bool = False,
) -> dict[str, Any]:
    """Return the columns of what guests used, for processes that used so much inside [%].

    Sides run in no guests without an accelerator, and in one if it is `shared`; `off_window`: the
    guests read what they used at other times. Per CPU of the processes, the hypervisor uses
    `outside_per_inside`, of which `in_io` and `in_vhost` are the shares of main loop and I/O, and
    of the kernel's threads for packets.
    """
    row: dict[str, Any] = {f"{side}_guest_status": "no_guest" for side in processes}
    if accelerator is None:
        return row
    row |= {"accelerator": accelerator, "host_cpu_percent": 150.0}
    inside = {"sender": sum(processes.values())} if shared else processes
    if shared:
        row["receiver_guest_status"] = "same_guest"
    for side, used in inside.items():
        outside = outside_per_inside * used
        io, vhost = in_io * outside, in_vhost * outside
        row |= {
            f"{side}_guest_status": "counted", f"{side}_vcpu_threads": 1,
            f"{side}_guest_cpu_percent": 1.2 * used,
            f"{side}_hypervisor_cpu_percent": outside, f"{side}_io_cpu_percent": io,
            f"{side}_vcpu_cpu_percent": outside - io - vhost,
            f"{side}_vhost_cpu_percent": vhost,
            f"{side}_worker_cpu_percent": 0.0,
            f"{side}_overhead_cpu_percent": outside - min(1.2 * used, outside - io - vhost),
            f"{side}_vcpu_waiting_percent": vcpu_waiting, f"{side}_io_waiting_percent": 0.0,
        }  # fmt: skip
        if off_window:
            row[f"{side}_guest_status"] = "off_window"
            for name in ("guest", "overhead"):
                row[f"{side}_{name}_cpu_percent"] = float("nan")
    return row
