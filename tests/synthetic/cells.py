"""The cells table of a synthetic run."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from copycost.config.conditions import Condition
from copycost.config.strategy_capabilities import can_exist, split_implementation
from copycost.config.testbeds import receives_on
from copycost.records.column import KEY
from synthetic.run import EVENTS, LLC_BYTES, PMU_EVENTS, Run, Udp

PER_BYTE = (
    "cpu_ns", "ref_cycles", "cycles", "instructions", "l1d_load_misses", "llc_load_misses",
    "cache_misses",
)  # fmt: skip
ZERO_COPY = ("zero_copy", "uring_zero_copy")


def make_cells(run: Run) -> pd.DataFrame:
    """Return a cells table of `run`, sorted by key."""
    rng = np.random.default_rng(run.seed)
    rows = []
    clock = 10**12
    more = run.udp.extra_repetitions if run.udp else 0
    for rep in range(1, run.repetitions + more + 1):
        drift = math.exp(rng.normal(0, run.noise))
        for key in _keys(run, rep):
            clock += 1_500_000_000
            rows.append(key | _row(run, rng, key, drift, clock))
    table = pd.DataFrame(rows)
    measured = table["status"] == "measured"
    for column, value in run.changes.items():
        changed = table[measured].apply(value, axis=1) if callable(value) else value
        table[column] = table[column].where(~measured, changed)
    return table.sort_values(list(KEY), ignore_index=True)


def _keys(run: Run, rep: int) -> Iterator[dict]:
    """Yield what names each cell that can exist."""
    grids: list[Run | Udp] = [] if rep > run.repetitions else [run]
    grids += [run.udp] if run.udp else []
    for grid in grids:
        receivers = grid.receivers if isinstance(grid, Run) else ("recv",)
        placements = grid.placements if isinstance(grid, Run) else ("apart",)
        places = itertools.product(grid.testbeds, grid.working_sets, receivers, placements)
        for testbed, working_set, receiver, placement in places:
            condition = Condition(testbed, working_set, receiver, placement)
            cells = itertools.product(grid.implementations, grid.msg_bytes, grid.n_threads)
            for implementation, size, threads in cells:
                if (
                    can_exist(implementation, testbed, size, receiver, placement)
                    or implementation in run.strange
                ):
                    strategy, batch = split_implementation(implementation)
                    ring_bytes = {"hot": 0, "cold": 4 * LLC_BYTES}.get(working_set)
                    yield {
                        "study": "streams", "testbed": testbed, "implementation": implementation,
                        "msg_bytes": size, "n_threads": threads, "working_set": working_set,
                        "receiver": receiver, "placement": placement, "rep": rep,
                        "condition": condition.slug, "strategy": strategy, "batch": batch,
                        "transport": condition.transport,
                        "ring_bytes": int(working_set) if ring_bytes is None else ring_bytes,
                        "fresh": False,
                    }  # fmt: skip


def _row(run: Run, rng: np.random.Generator, key: dict, drift: float, clock: int) -> dict:
    status, reason = "measured", None
    if key["testbed"] in run.skipped:
        status, reason = "skipped", run.skipped[key["testbed"]]
    elif key["implementation"] in run.unavailable:
        status, reason = "skipped", run.unavailable[key["implementation"]]
    elif run.failed(key["implementation"], key["msg_bytes"], key["n_threads"], key["rep"]):
        status, reason = "failed", "sender: connect: Connection reset by peer"
    stamps = {
        "status": status, "reason": reason,
        "remedy": "run as root" if status == "skipped" else None,
        "started_at": pd.Timestamp(clock, unit="ns", tz="UTC").isoformat(),
        "boot_id": "0" * 32, "start_ns": clock, "end_ns": clock + 1_300_000_000,
        "lock_wait_s": 0.0, "wall_s": 1.3, "host_digest": "d" * 64, "commit": "c" * 40,
        "sender_build": f"sender {key['implementation']}, source 0123456789abcdef",
        "receiver_build": "receiver, source 0123456789abcdef",
        **{
            f"{side}_guest_status": "no_guest" if status == "measured" else "not_measured"
            for side in ("sender", "receiver")
        },
    }  # fmt: skip
    values = _values(run, rng, key, drift)
    if key["transport"] == "datagram":
        values |= _over_udp(run, key, values)
    if not receives_on(key["testbed"]):
        values |= _without_receiver(values)
    if status != "measured":
        for name, value in values.items():
            nothing = "" if isinstance(value, str) else np.nan
            values[name] = "not_run" if name.endswith("_status") else nothing
        values["user_mode_only"] = run.user_mode_only
    return values | stamps


def _over_udp(run: Run, key: dict, values: dict) -> dict:
    """Return what is different over UDP."""
    assert run.udp is not None
    sent = round(values["messages"])
    lost = round(sent * run.udp.lost_share)
    zero = key["strategy"] in ZERO_COPY
    return {
        "datagrams_sent": sent, "datagrams_lost": lost,
        "datagrams_received": sent - lost if receives_on(key["testbed"]) else np.nan,
        "tcp_retransmits": np.nan, "congestion_control": "", "mss_bytes": np.nan,
        "mtu_bytes": 65535.0,
        "zc_copied": sent * run.udp.copied_share if zero else np.nan,
        "zc_copied_share": run.udp.copied_share if zero else np.nan,
        "slot_waits": sent * run.udp.slot_waits_per_message if zero else 0.0,
    }  # fmt: skip


def _without_receiver(values: dict) -> dict:
    """Return what nobody counts where nobody receives."""
    return {
        name: "no_receiver" if name.endswith("_status") else np.nan
        for name in values if name.startswith(("receiver_", "both_"))
    } | {"receiver_cpus": ""}  # fmt: skip


def _values(run: Run, rng: np.random.Generator, key: dict, drift: float) -> dict:
    """Return what was measured of a cell."""
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
    zero_sends = messages * 0.4 if key["strategy"] == "zero_copy" else 0.0
    cpus = range(run.cpus)
    row: dict[str, object] = {
        "window_s": 1.0, "received_bytes": received, "sent_bytes": received * 1.001,
        "messages": messages, "throughput_bits_per_s": rate, "first_half_share": 0.5,
        "service_mean_ns": service, "service_median_ns": service * 0.9,
        "service_p99_ns": service * 2.5, "service_max_ns": service * 50,
        "service_sampled_mean_ns": service, "service_samples": max(1.0, messages / 31),
        "cpu_source": "task_clock", "user_mode_only": run.user_mode_only,
        "sender_syscalls": messages * calls, "receiver_syscalls": received / 131072,
        "sender_syscalls_per_message": noisy(calls, 0.05),
        "context_switches_per_message": 0.0 if "context_switches" in run.zero_events
        else noisy(0.002 * threads * size / 4096),
        "zc_sent": sent, "zc_completed": sent, "zc_copied": sent * share,
        "zc_notifications": sent * (0.4 if key["strategy"] == "zero_copy" else 1.0),
        "zc_copied_share": share, "errqueue_calls": zero_sends,
        "short_writes": 0.0, "enobufs_count": 0.0, "slot_waits": 0.0,
        "mapped_share": 0.9 if key["receiver"] == "mmap" else np.nan,
        **dict.fromkeys(("datagrams_sent", "datagrams_received", "datagrams_lost"), np.nan),
        "tcp_retransmits": 0.0, "softnet_dropped": 0.0, "congestion_control": "cubic",
        "sender_cpus": ",".join(str(cpu) for cpu in cpus),
        "receiver_cpus": ",".join(str((cpu + run.cpus // 2) % run.cpus) for cpu in cpus),
        "mss_bytes": 65483.0, "send_buffer_bytes": 2626560.0, "receive_buffer_bytes": 6291456.0,
        "read_bytes": 131072.0,
        "receive_lowat_bytes": min(16.0 * size, 2.0**20) if size >= 4096 else 1.0,
        "offload_tso": True, "offload_gso": True, "offload_gro": False, "mtu_bytes": 1500.0,
        "isolation": "root", "warnings": run.warnings(impl, size, threads, key["rep"]),
    }  # fmt: skip
    return row | _counters(run, key, received, messages, cpu, noisy)


def _counters(
    run: Run,
    key: dict,
    received: float,
    messages: float,
    cpu_ns: Mapping[str, float],
    noisy: Callable[[float], float],
) -> dict:
    """Return what perf and the clocks counted, per side and per byte received."""
    misses = run.misses(key["implementation"], key["msg_bytes"])
    row: dict[str, object] = {}
    for side in ("sender", "receiver"):
        cpu = cpu_ns[side]
        events = {
            "cycles": cpu * 3.0, "instructions": noisy(cpu * 3.6), "l1d_loads": noisy(cpu),
            "l1d_load_misses": noisy(received * 0.016 * misses),
            "llc_loads": noisy(received * 0.004),
            "llc_load_misses": noisy(received * 0.0004 * (1 + misses) / 2),
            "cache_misses": noisy(received * 0.0005),
            "context_switches": noisy(messages * 0.001 * key["n_threads"]),
            "cpu_migrations": 0.0, "page_faults": 0.0, "task_clock_ns": cpu,
            "ref_cycles": cpu * 2.4,
        }  # fmt: skip
        row[f"{side}_cpu_ns"] = cpu
        for event in EVENTS:
            counted = run.counters or event not in PMU_EVENTS
            value = 0.0 if event in run.zero_events else events[event]
            row[f"{side}_{event}"] = value if counted else np.nan
            row[f"{side}_{event}_status"] = "counted" if counted else "not_supported"
        row[f"{side}_min_running_percent"] = 100.0
        for quantity in PER_BYTE:
            row[f"{side}_{quantity}_per_byte"] = row[f"{side}_{quantity}"] / received
    for quantity in PER_BYTE:
        row[f"both_{quantity}_per_byte"] = (
            row[f"sender_{quantity}_per_byte"] + row[f"receiver_{quantity}_per_byte"]
        )
    return row
