"""What a byte takes of two machines, and what the link between them carries."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from tools.recompute.run import THROUGHPUT, Run
from tools.recompute.slots import agrees

SIDES = ("sender", "receiver")
MACHINES = "machines_cpu_ns_per_byte"
PER_TRIP = "cpu_ns_per_round_trip"
_CELL = ["implementation", "msg_bytes", "n_threads"]
# what a frame of Ethernet takes besides its packet, and the headers within that [bytes]
_FRAME, _TCP, _UDP = 38, 32, 8
_NEAR = 0.95


def parts(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return what each of four parties takes for a byte, by whose words it is told."""
    found = {}
    for side, words in (("sender", "its"), ("receiver", "that")):
        machine = rows[f"{side}_machine_cpu_ns_per_byte"].astype(float)
        process = rows[f"{side}_cpu_ns_per_byte"].astype(float)
        found[f"the {side.removesuffix('er')}ing process"] = process
        found[f"the rest of {words} machine"] = machine - process
    return found


def peer_of(condition: str) -> str:
    """Return the name of the other machine of a condition over the wire."""
    return condition.partition("-")[2].split("_")[0]


def one_kernel(run: Run, condition: str) -> bool:
    """Tell whether both ends of a condition over the wire are one machine."""
    peer = json.loads((run.results / f"peers/{peer_of(condition)}.json").read_text())
    return bool(peer["wire"].get("one_kernel"))


def of_the_limit(run: Run, condition: str) -> pd.DataFrame:
    """Return, by cell, what its sender was allowed, and the share of that which it sent."""
    rows = run.measured(condition)
    rows = rows.assign(share=rows["sent_bits_per_s"] / rows["rate_limit_bits_per_s"].astype(float))
    cells = rows.groupby(_CELL)[["share", "rate_limit_bits_per_s"]].median().reset_index()
    cells["limited"] = cells["share"] >= _NEAR
    return cells


def ends_row(run: Run, peer: str, row: Mapping[str, str]) -> Mapping[str, bool | None]:
    """Check a row of the table of both ends of the network against what was found of them."""
    found: dict[str, Any] = json.loads((run.results / f"peers/{peer}.json").read_text())
    wire, title = found["wire"], row["Property"]
    columns = {"This machine": (run.host, wire["here"]), f"`{peer}`": (found, wire["there"])}
    if title.startswith("Clock"):
        told, unit = row[f"`{peer}`"].removeprefix("known to ").split()
        known_ns = wire["clock"]["uncertainty_ns"] / {"ns": 1.0, "µs": 1e3, "ms": 1e6}[unit]
        return {f"`{peer}`": agrees("x", told, known_ns)}
    expected = _ENDS.get(title)
    if expected is None:
        return {}
    return {
        name: row[name].replace("\\", "") == (expected(*ends) or "not told")
        for name, ends in columns.items()
    }


def _queues(device: Mapping[str, Any]) -> str | None:
    receive, send = device["rx_queues"], device["tx_queues"]
    return None if receive is send is None else f"{receive} to receive, {send} to send"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


_ENDS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], str | None]] = {
    "Processor": lambda machine, _: _text(machine["cpu"]["model"]),
    "CPUs": lambda machine, _: _text(machine["cpu"]["cpus_online"]),
    "Frequency governor": lambda machine, _: _text(machine["cpu"]["governor"]),
    "Kernel": lambda machine, _: f"Linux {machine['kernel']['release']}",
    "Speed of its link": lambda _, device: (
        f"{device['speed_mbit_per_s'] / 1e3:g} Gbit/s" if device["speed_mbit_per_s"] else None
    ),
    "MTU": lambda _, device: f"{device['mtu_bytes']} bytes",
    "Queues": lambda _, device: _queues(device),
}


def link_speed(run: Run, condition: str) -> tuple[float, int]:
    """Return the speed of the slower device that tells one [bit/s], and IP's header [bytes]."""
    peer = peer_of(condition)
    wire: dict[str, Any] = json.loads((run.results / f"peers/{peer}.json").read_text())["wire"]
    speeds = [wire[end]["speed_mbit_per_s"] for end in ("here", "there")]
    ip_bytes = 40 if ":" in wire["here"]["address"] else 20
    return min(speed for speed in speeds if speed) * 1e6, ip_bytes


def of_the_link(run: Run, condition: str) -> pd.DataFrame:
    """Return, by cell, its median throughput, what the link carries at its size, and the share."""
    speed, ip_bytes = link_speed(run, condition)
    rows = run.measured(condition)
    cells = rows.groupby(_CELL)[[THROUGHPUT, "mss_bytes"]].median().reset_index()
    mtu = float(rows["mtu_bytes"].median())

    def efficiency(size: int, mss: float) -> float:
        if not math.isnan(mss):
            packet = min(mtu, mss + ip_bytes + _TCP)
            return min(mss, packet) / (packet + _FRAME)
        n_packets = math.ceil((size + _UDP) / ((mtu - ip_bytes) // 8 * 8))
        return size / (size + _UDP + n_packets * (ip_bytes + _FRAME))

    cells["carried"] = [
        speed * efficiency(int(size), float(mss))
        for size, mss in zip(cells["msg_bytes"], cells["mss_bytes"], strict=True)
    ]
    cells["share"] = cells[THROUGHPUT] / cells["carried"]
    cells["limited"] = cells["share"] >= _NEAR
    return cells
