"""Two machines for tests: what is known of them, and cells that were measured over the wire."""

from typing import Any

import numpy as np
import pandas as pd

from copycost.config.testbeds import is_wire
from copycost.records.cpu_attribution import machine_columns

# of a byte's cost to a process: what its machine as a whole takes, and interrupts and softirqs
WHOLE, SOFTIRQ = 1.5, 0.3
WIRES = ("wire-lab2", "wire_in-lab2")


def device(**changed: object) -> dict[str, Any]:
    """Return one end of the network."""
    found: dict[str, Any] = {
        "address": "192.0.2.1", "device": "eth0", "driver": "mlx5_core",
        "speed_mbit_per_s": 100_000, "mtu_bytes": 1500, "rx_queues": 8, "tx_queues": 8,
        "scatter_gather": True, "tx_checksum": True, "kind": None, "irqbalance": True,
        "interrupt_cpus": {"eth0-0": "0", "eth0-1": "1", "eth0-2": "1"},
    }  # fmt: skip
    return found | changed


def other_machine(**changed: object) -> dict[str, Any]:
    """Return the content of results/peers/PEER.json; what is changed is of its device."""
    wire = {"unavailable": None, "peer": "user@other", "here": device(), "there": device(**changed),
            "one_kernel": False, "clock": {"offset_ns": 5, "uncertainty_ns": 12_000}}  # fmt: skip
    cpu = {"model": "Another CPU", "cpus_online": 16, "virtualisation": None, "governor": None}
    return {"wire": wire, "cpu": cpu, "kernel": {"release": "6.1.0"}, "net": {}, "unknown": {}}


def over_wire(cells: pd.DataFrame, **changed: object) -> pd.DataFrame:
    """Return cells with what the two machines took, where each side is on one."""
    away = cells["testbed"].map(is_wire)
    found: dict[str, Any] = dict.fromkeys((column.name for column in machine_columns()), np.nan)
    for side in ("sender", "receiver"):
        cost = cells[f"{side}_cpu_ns_per_byte"].where(away)
        found[f"{side}_machine_cpu_ns_per_byte"] = WHOLE * cost
        found[f"{side}_machine_softirq_cpu_ns_per_byte"] = SOFTIRQ * cost
        found[f"{side}_device_rx_dropped"] = np.where(away, 0.0, np.nan)
    found["clock_uncertainty_ns"] = np.where(away, 20_000.0, np.nan)
    found |= {"isolation": cells["isolation"].where(~away, "host")}
    return cells.assign(**found | changed)
