"""Cells and round trips as if they had been measured in virtual machines, with a known truth."""

from typing import Any

import numpy as np
import pandas as pd

from synthetic.round_trips import RoundTrips, make_round_trips

USE = {"guest": 1.5, "vcpu": 1.6, "io": 0.9, "vhost": 0.0, "worker": 0.1, "hypervisor": 2.6,
       "overhead": 1.1}  # fmt: skip
"""Of a byte's cost to the processes: what the guest and its hypervisor's threads use."""


def in_guests(cells: pd.DataFrame, accelerator: str = "tcg", **statuses: str) -> pd.DataFrame:
    """Return cells with half the throughput on vm_pair, whose hypervisors use `USE`."""
    inside = cells["testbed"] == "vm_pair"
    added: dict[str, Any] = {
        "accelerator": pd.Series(accelerator, cells.index).where(inside),
        "throughput_bits_per_s": cells["throughput_bits_per_s"] * np.where(inside, 0.5, 1.0),
    }
    for side in ("sender", "receiver"):
        status = statuses.get(side, "counted")
        added[f"{side}_guest_status"] = np.where(inside, status, "no_guest")
        for party, factor in USE.items():
            added[f"{side}_{party}_cpu_ns_per_byte"] = (
                cells[f"{side}_cpu_ns_per_byte"] * factor
            ).where(inside & (status == "counted"))
    added["host_cpu_ns_per_byte"] = cells["both_cpu_ns_per_byte"].where(inside) * 3.0
    return cells.assign(**added)


def round_trips_in_guests(
    trips: RoundTrips,
    receiver: str = "counted",
    **changed: Any,  # noqa: ANN401
) -> pd.DataFrame:
    """Return round trips on veth, and five times as long between guests, of the same rounds."""
    veth = make_round_trips(trips).assign(accelerator=None)
    pair = veth.assign(testbed="vm_pair", condition="vm_pair", accelerator="tcg")
    times = [name for name in veth if str(name).endswith("_ns")]
    pair[times] *= 5.0
    pair["both_cpu_ns_per_round_trip"] *= 2.0
    rows = pd.concat([veth, pair.assign(**changed)], ignore_index=True)
    cost = rows["both_cpu_ns_per_round_trip"]
    inside = rows["testbed"] == "vm_pair"
    for side, status in (("sender", "counted"), ("receiver", receiver)):
        rows[f"{side}_guest_status"] = np.where(inside, status, "no_guest")
        rows[f"{side}_cpu_ns_per_round_trip"] = cost / 2.0
        watched = inside & (status == "counted")
        for party in USE:
            rows[f"{side}_{party}_cpu_ns_per_round_trip"] = (cost * 1.5).where(watched)
    return rows
