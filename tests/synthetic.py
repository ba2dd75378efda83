"""Cells tables with a known truth, for tests of what is computed and written from such tables.

Not measurements, and never shown as such: every number comes from a small model and a seed.
"""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.capabilities import can_exist, split_implementation
from copycost.conditions import Condition

EVENTS = (
    "cycles", "instructions", "l1d_loads", "l1d_load_misses", "llc_loads", "llc_load_misses",
    "cache_misses", "context_switches", "cpu_migrations", "page_faults", "task_clock_ns",
    "ref_cycles",
)  # fmt: skip
PMU_EVENTS = EVENTS[:7]
PER_BYTE = (
    "cpu_ns", "ref_cycles", "cycles", "instructions", "l1d_load_misses", "llc_load_misses",
    "cache_misses",
)  # fmt: skip
SIZES = (256, 1024, 4096, 16384, 65536, 262144, 1048576)
THREADS = (1, 2, 4, 8)
IMPLEMENTATIONS = ("two_copy", "one_copy", "zero_copy")
ZERO_COPY = ("zero_copy", "uring_zero_copy")

Truth = Callable[[str, int, int], float]
UDP_SIZES = (1024, 4096, 8192, 16384, 32768, 49152, 65507)
LLC_BYTES = 33554432


def default_log_ratio(implementation: str, msg_bytes: int, n_threads: int) -> float:
    """one_copy gains from about 8 KiB up, zero_copy loses everywhere (its bytes are copied)."""
    if implementation == "one_copy":
        return 0.06 * (math.log2(msg_bytes) - 13.0)
    if implementation == "zero_copy":
        return -0.9 + 0.03 * (math.log2(msg_bytes) - 8.0)
    return 0.0


def default_sink_log_ratio(working_set: str, implementation: str, msg_bytes: int) -> float:
    """zero_copy gains from 23 KiB up where bytes lie in the caches, from 6 KiB where not."""
    if implementation == "one_copy":
        return 0.08
    if implementation.startswith(("zero_copy", "uring_zero_copy")):
        return 0.35 * (math.log2(msg_bytes) - (14.5 if working_set == "hot" else 12.6))
    return 0.0


def default_scaling(n_threads: int) -> float:
    """Two CPUs: two threads gain, more do not."""
    return {1: 1.0, 2: 1.6}.get(n_threads, 1.5)


def default_misses(implementation: str, msg_bytes: int) -> float:
    """Fewer copies miss less, whatever the size."""
    return {"two_copy": 1.0, "one_copy": 0.75, "zero_copy": 0.6}.get(implementation, 0.8)


@dataclass(frozen=True)
class Udp:
    """The grid over UDP."""

    implementations: Sequence[str] = IMPLEMENTATIONS
    testbeds: Sequence[str] = ("sink",)
    msg_bytes: Sequence[int] = UDP_SIZES
    n_threads: Sequence[int] = (1,)
    working_sets: Sequence[str] = ("hot", "cold")
    log_ratio: Callable[[str, str, int], float] = default_sink_log_ratio
    """By working set, implementation and size."""
    copied_share: float = 0.0
    lost_share: float = 0.0
    slot_waits_per_message: float = 0.0


@dataclass(frozen=True)
class Run:
    """What the synthetic run is like; every field has a plausible default."""

    implementations: Sequence[str] = IMPLEMENTATIONS
    testbeds: Sequence[str] = ("veth",)
    msg_bytes: Sequence[int] = SIZES
    n_threads: Sequence[int] = THREADS
    repetitions: int = 3
    noise: float = 0.02
    seed: int = 1
    log_ratio: Truth = default_log_ratio
    scaling: Callable[[int], float] = default_scaling
    counters: bool = False
    zero_events: Sequence[str] = ()
    copied_share: Callable[[int], float] = lambda msg_bytes: 1.0
    failed: Callable[[str, int, int, int], bool] = lambda *cell: False
    skipped: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Implementations that this host does not have, and why."""
    user_mode_only: bool = False
    cpus: int = 2
    size_bend: float = 0.0
    warnings: Callable[[str, int, int, int], str] = lambda *cell: ""
    changes: Mapping[str, object] = field(default_factory=dict)
    """Columns of measured rows that have another value (or a function of the row) than usual."""
    misses: Callable[[str, int], float] = default_misses
    known_caches: bool = True
    working_sets: Sequence[str] = ("hot",)
    receivers: Sequence[str] = ("recv",)
    udp: Udp | None = None
    strange: Sequence[str] = ("send_file",)
    """Strategies that the table of capabilities does not know."""


def make_cells(run: Run) -> pd.DataFrame:
    """Return a cells table of `run`, sorted by key."""
    rng = np.random.default_rng(run.seed)
    rows = []
    clock = 10**12
    for rep in range(1, run.repetitions + 1):
        drift = math.exp(rng.normal(0, run.noise))
        for key in _keys(run, rep):
            clock += 1_500_000_000
            rows.append(key | _row(run, rng, key, drift, clock))
    table = pd.DataFrame(rows)
    measured = table["status"] == "measured"
    for column, value in run.changes.items():
        changed = table[measured].apply(value, axis=1) if callable(value) else value
        table[column] = table[column].where(~measured, changed)
    keys = [
        "study", "testbed", "implementation", "msg_bytes", "n_threads", "working_set", "receiver",
        "rep",
    ]  # fmt: skip
    return table.sort_values(keys, ignore_index=True)


def _keys(run: Run, rep: int) -> Iterator[dict]:
    grids: list[Run | Udp] = [run, *([run.udp] if run.udp else [])]
    for grid in grids:
        receivers = grid.receivers if isinstance(grid, Run) else ("recv",)
        places = itertools.product(grid.testbeds, grid.working_sets, receivers)
        for testbed, working_set, receiver in places:
            condition = Condition(testbed, working_set, receiver)
            cells = itertools.product(grid.implementations, grid.msg_bytes, grid.n_threads)
            for implementation, size, threads in cells:
                if (
                    can_exist(implementation, testbed, size, receiver)
                    or implementation in run.strange
                ):
                    strategy, batch = split_implementation(implementation)
                    yield {
                        "study": "streams",
                        "testbed": testbed,
                        "implementation": implementation,
                        "msg_bytes": size,
                        "n_threads": threads,
                        "working_set": working_set,
                        "receiver": receiver,
                        "rep": rep,
                        "condition": condition.slug,
                        "strategy": strategy,
                        "batch": batch,
                        "transport": condition.transport,
                        "ring_bytes": {"hot": 0, "cold": 4 * LLC_BYTES}.get(working_set)
                        if working_set in ("hot", "cold")
                        else int(working_set),
                        "fresh": False,
                    }


def _row(run: Run, rng: np.random.Generator, key: dict, drift: float, clock: int) -> dict:
    status, reason = "measured", None
    if key["testbed"] in run.skipped:
        status, reason = "skipped", run.skipped[key["testbed"]]
    elif key["implementation"] in run.unavailable:
        status, reason = "skipped", run.unavailable[key["implementation"]]
    elif run.failed(key["implementation"], key["msg_bytes"], key["n_threads"], key["rep"]):
        status, reason = "failed", "sender: connect: Connection reset by peer"
    stamps = {
        "status": status,
        "reason": reason,
        "remedy": "run as root" if status == "skipped" else None,
        "started_at": pd.Timestamp(clock, unit="ns", tz="UTC").isoformat(),
        "boot_id": "0" * 32,
        "start_ns": clock,
        "end_ns": clock + 1_300_000_000,
        "lock_wait_s": 0.0,
        "wall_s": 1.3,
        "host_digest": "d" * 64,
        "commit": "c" * 40,
        "sender_build": f"sender {key['implementation']}, source 0123456789abcdef",
        "receiver_build": "receiver, source 0123456789abcdef",
    }
    values = _values(run, rng, key, drift)
    if key["transport"] == "datagram":
        values |= _over_udp(run, key, values)
    if key["testbed"] == "sink":
        values |= _without_receiver(values)
    if status != "measured":
        values = {
            name: "" if isinstance(value, str) else (value if name in _KEPT else np.nan)
            for name, value in values.items()
        }
        for name in values:
            if name.endswith("_status"):
                values[name] = "not_run"
    return values | stamps


_KEPT = ("user_mode_only",)


def _over_udp(run: Run, key: dict, values: dict) -> dict:
    """Return what is different over UDP."""
    assert run.udp is not None
    sent = round(values["messages"])
    zero = key["strategy"] in ZERO_COPY
    return {
        "datagrams_sent": sent,
        "datagrams_lost": round(sent * run.udp.lost_share),
        "datagrams_received": np.nan
        if key["testbed"] == "sink"
        else sent - round(sent * run.udp.lost_share),
        "tcp_retransmits": np.nan,
        "congestion_control": "",
        "mss_bytes": np.nan,
        "mtu_bytes": 65535.0,
        "zc_copied": sent * run.udp.copied_share if zero else np.nan,
        "zc_copied_share": run.udp.copied_share if zero else np.nan,
        "slot_waits": sent * run.udp.slot_waits_per_message if zero else 0.0,
    }


def _without_receiver(values: dict) -> dict:
    """Return what nobody counts where nobody receives."""
    gone = {
        name: np.nan
        for name in values
        if name.startswith(("receiver_", "both_")) and not name.endswith("_status")
    }
    statuses = {
        name: "no_receiver"
        for name in values
        if name.startswith("receiver_") and name.endswith("_status")
    }
    return gone | statuses | {"receiver_cpus": ""}


def _values(run: Run, rng: np.random.Generator, key: dict, drift: float) -> dict:
    impl, size, threads = key["implementation"], key["msg_bytes"], key["n_threads"]
    zero = key["strategy"] in ZERO_COPY

    def noisy(value: float, scale: float = 1.0) -> float:
        return float(value * drift * math.exp(rng.normal(0, run.noise * scale)))

    base = 8 * size / (400.0 + 0.09 * size) * 1e9 * run.scaling(threads)
    base *= math.exp(run.size_bend * math.log2(size))
    if key["transport"] == "datagram":
        assert run.udp is not None
        gain = run.udp.log_ratio(key["working_set"], impl, size)
    else:
        gain = run.log_ratio(impl, size, threads)
    # Bytes from memory cost more to copy than bytes from a cache.
    base *= 1.0 if key["working_set"] == "hot" else 0.45
    rate = noisy(base * math.exp(gain))
    received = rate / 8
    messages = received / size
    service = 1e9 * threads / messages
    cpu = {
        "sender": noisy(min(threads, run.cpus / 2) * 0.9e9),
        "receiver": noisy(min(threads, run.cpus / 2) * 0.6e9),
    }
    calls = {"zero_copy": 1.4}.get(key["strategy"], 1.0) / key["batch"]
    share = run.copied_share(size) if zero else np.nan
    sent = round(messages) if zero else np.nan
    row: dict[str, object] = {
        "window_s": 1.0,
        "received_bytes": received,
        "sent_bytes": received * 1.001,
        "messages": messages,
        "throughput_bits_per_s": rate,
        "service_mean_ns": service,
        "service_median_ns": service * 0.9,
        "service_p99_ns": service * 2.5,
        "service_max_ns": service * 50,
        "service_samples": max(1.0, messages / 31),
        "first_half_share": 0.5,
        "cpu_source": "task_clock",
        "user_mode_only": run.user_mode_only,
        "sender_syscalls": messages * calls,
        "receiver_syscalls": received / 131072,
        "sender_syscalls_per_message": noisy(calls, 0.05),
        "context_switches_per_message": 0.0
        if "context_switches" in run.zero_events
        else noisy(0.002 * threads * size / 4096),
        "zc_sent": sent,
        "zc_completed": sent,
        "zc_copied": sent * share if zero else np.nan,
        "zc_notifications": sent * (0.4 if key["strategy"] == "zero_copy" else 1.0)
        if zero
        else np.nan,
        "zc_copied_share": share,
        "short_writes": 0.0,
        "enobufs_count": 0.0,
        "errqueue_calls": messages * 0.4 if key["strategy"] == "zero_copy" else 0.0,
        "slot_waits": 0.0,
        "mapped_share": 0.9 if key["receiver"] == "mmap" else np.nan,
        "datagrams_sent": np.nan,
        "datagrams_received": np.nan,
        "datagrams_lost": np.nan,
        "tcp_retransmits": 0.0,
        "softnet_dropped": 0.0,
        "congestion_control": "cubic",
        "sender_cpus": ",".join(str(cpu) for cpu in range(run.cpus)),
        "receiver_cpus": ",".join(str((cpu + run.cpus // 2) % run.cpus) for cpu in range(run.cpus)),
        "mss_bytes": 65483.0,
        "send_buffer_bytes": 2626560.0,
        "receive_buffer_bytes": 6291456.0,
        "receive_lowat_bytes": min(16.0 * key["msg_bytes"], 2.0**20)
        if key["msg_bytes"] >= 4096
        else 1.0,
        "offload_tso": True,
        "offload_gso": True,
        "offload_gro": False,
        "mtu_bytes": 1500.0,
        "isolation": "root",
        "warnings": run.warnings(impl, size, threads, key["rep"]),
    }
    misses = run.misses(impl, size)
    for side in ("sender", "receiver"):
        row[f"{side}_cpu_ns"] = cpu[side]
        events = {
            "cycles": cpu[side] * 3.0,
            "instructions": noisy(cpu[side] * 3.6),
            "l1d_loads": noisy(cpu[side]),
            "l1d_load_misses": noisy(received * 0.016 * misses),
            "llc_loads": noisy(received * 0.004),
            "llc_load_misses": noisy(received * 0.0004 * (1 + misses) / 2),
            "cache_misses": noisy(received * 0.0005),
            "context_switches": noisy(messages * 0.001 * threads),
            "cpu_migrations": 0.0,
            "page_faults": 0.0,
            "task_clock_ns": cpu[side],
            "ref_cycles": cpu[side] * 2.4,
        }
        for event in EVENTS:
            counted = run.counters or event not in PMU_EVENTS
            value = 0.0 if event in run.zero_events else events[event]
            row[f"{side}_{event}"] = value if counted else np.nan
            row[f"{side}_{event}_status"] = "counted" if counted else "not_supported"
        row[f"{side}_min_running_percent"] = 100.0
        for quantity in PER_BYTE:
            total = row["sender_cpu_ns" if side == "sender" else "receiver_cpu_ns"]
            total = total if quantity == "cpu_ns" else row[f"{side}_{quantity}"]
            row[f"{side}_{quantity}_per_byte"] = total / received
    for quantity in PER_BYTE:
        row[f"both_{quantity}_per_byte"] = (
            row[f"sender_{quantity}_per_byte"] + row[f"receiver_{quantity}_per_byte"]
        )
    return row


def make_config(run: Run) -> dict:
    """Return the configuration of `run` in the words of config.yaml."""
    return {
        "streams": {
            "implementations": list(run.implementations),
            "testbeds": list(run.testbeds),
            "msg_bytes": list(run.msg_bytes),
            "n_threads": list(run.n_threads),
            "working_sets": list(run.working_sets),
            "receivers": list(run.receivers),
        },
        "udp": {
            "implementations": list(run.udp.implementations) if run.udp else [],
            "testbeds": list(run.udp.testbeds) if run.udp else ["sink"],
            "msg_bytes": list(run.udp.msg_bytes) if run.udp else [65507],
            "n_threads": list(run.udp.n_threads) if run.udp else [1],
            "working_sets": list(run.udp.working_sets) if run.udp else ["hot"],
            "receivers": ["recv"],
        },
        "measure": {
            "repetitions": run.repetitions,
            "warmup_s": 0.2,
            "duration_s": 1.0,
            "congestion_control": "cubic",
            "tcp_nodelay": "kernel",
            "send_buffer_bytes": "kernel",
            "receive_buffer_bytes": "kernel",
            "cpus": {"sender": "auto", "receiver": "auto"},
            "fresh": False,
            "interval_us": 0,
            "memory_floor": True,
            "order_seed": 1,
        },
        "statistics": {"confidence": 0.95, "resamples": 5000, "seed": 1},
        "report": {"title": "What each copy costs", "formats": ["html", "pdf"]},
    }


def make_host(run: Run) -> dict:
    """Return host facts of `run`, in the form of results/host.json."""
    pmu = {"status": "supported", "reason": None}
    no_pmu = {"status": "not_supported", "reason": "perf says <not supported>"}
    return {
        "schema_version": 1,
        "identity": {"kernel_release": "6.18.0", "cpu_model": "Model CPU", "n_cpus": run.cpus},
        "cpu": {
            "model": "Model CPU",
            "vendor": "Model",
            "cpus_online": run.cpus,
            "cores": run.cpus,
            "threads_per_core": 1,
            "numa_nodes": 1,
            "caches": {"l1d_bytes": 32768, "l2_bytes": 1048576, "llc_bytes": LLC_BYTES}
            if run.known_caches
            else dict.fromkeys(("l1d_bytes", "l2_bytes", "llc_bytes")),
            "governor": None,
            "turbo": None,
            "virtualisation": None if run.counters else "kvm",
        },
        "kernel": {
            "release": "6.18.0",
            "version": "#1 SMP",
            "hz": 250,
            "irq_time_accounting": False,
            "virt_cpu_accounting_gen": False,
            "preempt": "voluntary",
        },
        "memory": {"total_bytes": 8 << 30, "memlock_bytes": None},
        "net": {
            "optmem_max": 131072,
            "tcp_rmem": [4096, 131072, 33554432],
            "tcp_wmem": [4096, 16384, 4194304],
            "congestion_default": "bbr",
            "congestion_available": ["reno", "bbr", "cubic"],
        },
        "perf": {
            "path": "/usr/bin/perf",
            "version": "6.1.0",
            "paranoid": -1,
            "status": "available",
            "reason": None,
            "remedy": None,
            "user_only": run.user_mode_only,
            "events": {
                event: {
                    "perf_name": event,
                    **(pmu if run.counters or event not in PMU_EVENTS else no_pmu),
                }
                for event in EVENTS
            },
        },
        "testbeds": {
            name: {
                "available": name not in run.skipped,
                "isolation": "host" if name == "loopback" else "root",
                "reason": run.skipped.get(name),
                "remedy": "run as root" if name in run.skipped else None,
            }
            for name in ("veth", "veth_no_offload", "loopback", "sink", "veth_udp")
        },
        "tools": {"gcc": {"path": "/usr/bin/gcc", "version": "12.2.0"}},
        "unknown": {"cpu.governor": "no cpufreq driver"},
    }


def write_run(run: Run, folder: Path) -> None:
    """Write cells.parquet, cells.csv, host.json and config.json of `run` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = make_cells(run)
    cells.to_parquet(folder / "cells.parquet", index=False)
    cells.to_csv(folder / "cells.csv", index=False)
    for name, content in (("host", make_host(run)), ("config", make_config(run))):
        (folder / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")
