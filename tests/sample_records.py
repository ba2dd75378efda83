"""Records for tests: whole and valid, with the few values that a test is about changed."""

import copy
from typing import Any

_BUILD = {"source_digest": "0123456789abcdef", "compiler": "gcc 12.2.0", "flags": "-O2"}
_EVENTS = {
    "cycles": 3_000_000_000,
    "instructions": 4_500_000_000,
    "l1d_loads": 1_200_000_000,
    "l1d_load_misses": 60_000_000,
    "llc_loads": 2_000_000,
    "llc_load_misses": 100_000,
    "cache_misses": 120_000,
    "context_switches": 1_000,
    "cpu_migrations": 2,
    "page_faults": 10,
    "task_clock_ns": 950_000_000,
    "ref_cycles": 2_400_000_000,
}


def _window() -> dict[str, Any]:
    return {
        "planned_start_ns": 1_200_000_000,
        "planned_end_ns": 2_200_000_000,
        "start_ns": 1_200_000_000,
        "half_ns": 1_700_000_000,
        "end_ns": 2_200_000_000,
        "perf_enable_ns": 20_000,
        "perf_disable_ns": 30_000,
    }


def _process() -> dict[str, Any]:
    return {
        "cpu_ns": 900_000_000,
        "user_ns": 100_000_000,
        "system_ns": 800_000_000,
        "voluntary_switches": 900,
        "involuntary_switches": 5,
        "minor_faults": 10,
        "major_faults": 0,
    }


def _effective() -> dict[str, Any]:
    return {
        "congestion_control": "cubic",
        "send_buffer_bytes": 87_040,
        "receive_buffer_bytes": 131_072,
        "tcp_nodelay": False,
        "mss_bytes": 1448,
        "receive_lowat_bytes": 1,
    }


def _perf_side() -> dict[str, Any]:
    return {
        "status": "counted",
        "reason": None,
        "events": {
            name: {
                "value": float(value),
                "status": "counted",
                "running_percent": 100.0,
                "user_only": False,
            }
            for name, value in _EVENTS.items()
        },
    }


def _sender(implementation: str, msg_bytes: int) -> dict[str, Any]:
    calls = {
        "messages": 20_000,
        "send_calls": 20_000,
        "poll_calls": 0,
        "errqueue_calls": 0,
        "other_calls": 0,
        "short_writes": 0,
        "enobufs_count": 0,
        "eintr_count": 0,
        "slot_waits": 0,
        "datagrams": 0,
    }
    n_bytes = 20_000 * msg_bytes
    in_window = {"bytes": n_bytes, "first_half_bytes": n_bytes // 2, **calls}
    zero_copy = None
    if implementation == "zero_copy":
        zero_copy = {
            "sent": 24_000,
            "completed": 24_000,
            "copied": 18_000,
            "notifications": 900,
            "sent_in_window": 20_000,
            "completed_in_window": 19_990,
            "copied_in_window": 15_000,
            "notifications_in_window": 800,
            "copied_unknown": None,
        }
    return {
        "schema_version": 1,
        "program": "sender",
        "strategy": implementation,
        "build": dict(_BUILD),
        "options": {"n_threads": 1},
        "effective": {**_effective(), "zero_copy": zero_copy is not None},
        "ring": {"bytes": 65_672, "messages": 1, "fresh": False},
        "window": _window(),
        "in_window": in_window,
        "total": {"bytes": 24_000 * msg_bytes, **calls, "messages": 24_000},
        "zero_copy": zero_copy,
        "round_trip": None,
        "service_time": {
            "sample_every": 7,
            "samples": 2_857,
            "mean_ns": 49_000.0,
            "median_ns": 48_000.0,
            "p99_ns": 90_000.0,
            "max_ns": 400_000.0,
        },
        "process": _process(),
        "tcp": {"retransmits": 0},
        "threads": [{"messages": 20_000, "bytes": n_bytes, "cpu_start": 0, "cpu_end": 0}],
    }


def _receiver(msg_bytes: int) -> dict[str, Any]:
    n_bytes = 1_310_000_000 * msg_bytes // 65536  # the windows differ at their edges
    return {
        "schema_version": 1,
        "program": "receiver",
        "receiver": "recv",
        "build": dict(_BUILD),
        "options": {"n_threads": 1, "read_bytes": 131072},
        "effective": _effective(),
        "window": _window(),
        "in_window": {
            "bytes": n_bytes,
            "first_half_bytes": n_bytes // 2,
            "recv_calls": 10_000,
            "eintr_count": 0,
            "mapped_bytes": 0,
            "datagrams": 0,
        },
        "total": {
            "bytes": 24_000 * msg_bytes,
            "recv_calls": 12_500,
            "eintr_count": 0,
            "mapped_bytes": 0,
            "datagrams": 0,
        },
        "verify": None,
        "process": _process(),
        "tcp": {"retransmits": 0},
        "threads": [{"bytes": n_bytes, "cpu_start": 1, "cpu_end": 1}],
    }


def _driver(implementation: str, msg_bytes: int) -> dict[str, Any]:
    sides = {"sender": _sender(implementation, msg_bytes), "receiver": _receiver(msg_bytes)}
    return {"name": "programs", **sides, "sink": None}


_MACHINE = {
    "name": "this host",
    "kind": "local",
    "facts_digest": "a" * 64,
    "clock_offset_ns": 0,
    "clock_uncertainty_ns": 0,
}


def _observed() -> dict[str, Any]:
    return {
        "perf_stat": {"sender": _perf_side(), "receiver": _perf_side()},
        "kernel": {
            "softnet_dropped": 0,
            "softnet_squeezed": 3,
            "tcp_retransmitted_segments": 0,
            "udp_in_errors": 0,
            "udp_receive_buffer_errors": 0,
            "machines": None,
        },
    }


def on_sink(record: dict[str, Any], lost: int = 0) -> dict[str, Any]:
    """Return a record as if it had been measured on a sink, where nobody receives."""
    sender = record["driver"]["sender"]
    total = sender["total"]
    total["datagrams"] = sent = total["messages"]
    n_bytes = record["cell"]["msg_bytes"]
    record["cell"]["testbed"] = record["testbed"]["kind"] = "sink"
    record["driver"]["receiver"] = record["observed"]["perf_stat"]["receiver"] = None
    sender["tcp"] = record["settings"]["receiver_cpus"] = None
    sender["effective"] |= {"congestion_control": None, "mss_bytes": None}
    record["driver"]["sink"] = {
        "sent_datagrams": sent,
        "dropped_datagrams": sent - lost,
        "lost_before_hook": lost,
        "dropped_packets": sent - lost,
        "dropped_bytes": (sent - lost) * n_bytes,
    }
    return record


def guest_entry(name: str, *sides: str, accelerator: str = "tcg") -> dict[str, Any]:
    """Return what is found of a guest that was busy for 0.4 s of 1 s, at 0.7 s of CPU outside."""
    second = 1_000_000_000

    def threads(cpu: float, kernel: float, waiting: float | None) -> dict[str, Any]:
        return {
            "cpu_ns": round(cpu * second),
            "user_ns": round((cpu - kernel) * second),
            "kernel_ns": round(kernel * second),
            "guest_ns": 0,
            "waiting_ns": None if waiting is None else round(waiting * second),
        }

    return {
        "name": name,
        "sides": list(sides),
        "accelerator": accelerator,
        "vcpu_threads": 1,
        "inside": {
            "window_ns": second,
            "busy_ns": 400_000_000,
            "softirq_ns": 100_000_000,
            "steal_ns": 0,
        },
        "window_ns": second,
        "threads": {
            "vcpu": threads(0.5, 0.05, 0.02),
            "io": threads(0.16, 0.1, 0.01),
            "vhost": threads(0.0, 0.0, 0.0),
            "worker": threads(0.04, 0.0, None),
        },
    }


def in_guests(record: dict[str, Any], *guests: dict[str, Any]) -> dict[str, Any]:
    """Return a record as if its sides had run in guests."""
    record["observed"]["hypervisor"] = {
        "machine": {
            "window_ns": 1_000_000_000,
            "busy_ns": 1_500_000_000,
            "softirq_ns": 200_000_000,
            "steal_ns": 0,
        },
        "guests": list(guests),
    }
    return record


def with_round_trips(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as if requests had been answered."""
    record["study"] = "round_trips"
    record["settings"]["mode"] = "request_response"
    record["driver"]["sender"]["round_trip"] = {
        "samples": 20_000,
        "mean_ns": 31_000.0,
        "p50_ns": 30_000.0,
        "p90_ns": 40_000.0,
        "p99_ns": 55_000.0,
        "p999_ns": 90_000.0,
        "max_ns": 400_000.0,
        "percentiles": [[0.0, 20_000], [0.5, 30_000], [0.99, 55_000], [1.0, 400_000]],
    }
    return record


def beside(record: dict[str, Any], reference: dict[str, Any]) -> dict[str, Any]:
    """Return a record as if it had been measured in turns with that of a reference, 40 ms each."""
    ms, driver = 10**6, record["driver"]
    driver["reference"] = {key: reference["driver"][key] for key in ("sender", "receiver", "sink")}
    driver["reference"] |= {
        "implementation": reference["cell"]["implementation"],
        "perf_stat": reference["observed"]["perf_stat"],
    }
    driver["slices"] = [
        [0, 0, 20 * ms, 9 * ms, ms, ms],
        [1, 20 * ms, 40 * ms, 4 * ms, ms, ms],
        [1, 40 * ms, 60 * ms, 5 * ms, ms, ms],
        [0, 60 * ms, 80 * ms, 9 * ms, ms, ms],
    ]
    return record


def sample_record(
    implementation: str = "two_copy",
    *,
    testbed: str = "veth",
    msg_bytes: int = 65536,
    n_threads: int = 1,
    working_set: str = "hot",
    receiver: str = "recv",
    placement: str = "apart",
    rep: int = 1,
    start_ns: int = 1_000_000_000,
    status: str = "measured",
    **changes: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return a record; `changes` replaces whole top-level entries."""
    measured = status == "measured"
    record = {
        "schema_version": 5,
        "study": "streams",
        "cell": {
            "testbed": testbed,
            "implementation": implementation,
            "msg_bytes": msg_bytes,
            "n_threads": n_threads,
            "working_set": working_set,
            "receiver": receiver,
            "placement": placement,
            "rep": rep,
        },
        "status": status,
        "reason": None if measured else "the sender ended with code 1",
        "remedy": None,
        "settings": {
            "warmup_s": 0.2,
            "duration_s": 1.0,
            "congestion_control": "cubic",
            "tcp_nodelay": "kernel",
            "send_buffer_bytes": None,
            "receive_buffer_bytes": None,
            "sender_cpus": [0],
            "receiver_cpus": [1],
            "mode": "stream",
            "fresh": False,
            "ring_bytes": 0 if working_set == "hot" else 1 << 28,
            "interval_ns": 0,
        },
        "host_digest": "a" * 64,
        "commit": "b" * 40,
        "boot_id": "11111111-2222-3333-4444-555555555555",
        "started_at": "2026-01-31T12:00:00+00:00",
        "start_ns": start_ns,
        "end_ns": start_ns + 1_500_000_000,
        "lock_wait_s": 0.0,
        "wall_s": 1.5,
        "testbed": {
            "kind": testbed,
            "isolation": "root",
            "mtu_bytes": 1500,
            "offloads": {"tso": True, "gso": True, "gro": True},
            "addresses": ["198.18.0.1", "198.18.0.2"],
            "machines": {"sender": _MACHINE, "receiver": _MACHINE},
        }
        if measured
        else None,
        "driver": _driver(implementation, msg_bytes) if measured else None,
        "window": {"start_ns": 1_200_000_000, "end_ns": 2_200_000_000} if measured else None,
        "observed": _observed() if measured else {},
        "undisturbed": None,
        "warnings": [],
    }
    return copy.deepcopy({**record, **changes})
