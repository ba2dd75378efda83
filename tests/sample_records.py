"""Records for tests: whole and valid, with the few values that a test is about changed."""

import copy
from typing import Any

_BUILD = {"source_digest": "0123456789abcdef", "compiler": "gcc 12.2.0", "flags": "-O2"}
_EVENTS = {
    "cycles": 3e9, "instructions": 4.5e9, "l1d_loads": 1.2e9, "l1d_load_misses": 6e7,
    "llc_loads": 2e6, "llc_load_misses": 1e5, "cache_misses": 1.2e5, "context_switches": 1e3,
    "cpu_migrations": 2.0, "page_faults": 10.0, "task_clock_ns": 9.5e8, "ref_cycles": 2.4e9,
}  # fmt: skip
_COUNTED = {"status": "counted", "running_percent": 100.0, "user_only": False}
_PERF_SIDE = {
    "status": "counted",
    "reason": None,
    "events": {name: {"value": value, **_COUNTED} for name, value in _EVENTS.items()},
}
_WINDOW = {
    "planned_start_ns": 1_200_000_000, "planned_end_ns": 2_200_000_000,
    "start_ns": 1_200_000_000, "half_ns": 1_700_000_000, "end_ns": 2_200_000_000,
    "perf_enable_ns": 20_000, "perf_disable_ns": 30_000,
}  # fmt: skip
_PROCESS = {
    "cpu_ns": 900_000_000, "user_ns": 100_000_000, "system_ns": 800_000_000,
    "voluntary_switches": 900, "involuntary_switches": 5, "minor_faults": 10, "major_faults": 0,
}  # fmt: skip
_EFFECTIVE = {
    "congestion_control": "cubic", "send_buffer_bytes": 87_040, "receive_buffer_bytes": 131_072,
    "tcp_nodelay": False, "mss_bytes": 1448, "receive_lowat_bytes": 1,
}  # fmt: skip
_ZERO_COPY = {
    "sent": 24_000, "completed": 24_000, "copied": 18_000, "notifications": 900,
    "sent_in_window": 20_000, "completed_in_window": 19_990, "copied_in_window": 15_000,
    "notifications_in_window": 800, "copied_unknown": None,
}  # fmt: skip


def _side(program: str, way: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return what the results of both programs have, each its own."""
    kind = "strategy" if program == "sender" else "receiver"
    return copy.deepcopy({
        "schema_version": 1, "program": program, kind: way, "build": _BUILD,
        "options": {"n_threads": 1, **options}, "effective": _EFFECTIVE, "window": _WINDOW,
        "process": _PROCESS, "tcp": {"retransmits": 0},
    })  # fmt: skip


def _sender(implementation: str, msg_bytes: int) -> dict[str, Any]:
    calls = {"messages": 20_000, "send_calls": 20_000} | dict.fromkeys(
        ("poll_calls", "errqueue_calls", "other_calls", "short_writes", "enobufs_count",
         "eintr_count", "slot_waits", "datagrams"), 0
    )  # fmt: skip
    n_bytes = 20_000 * msg_bytes
    zero_copy = _ZERO_COPY if implementation == "zero_copy" else None
    return _side("sender", implementation, {}) | {
        "effective": {**_EFFECTIVE, "zero_copy": zero_copy is not None},
        "ring": {"bytes": 65_672, "messages": 1, "fresh": False},
        "in_window": {"bytes": n_bytes, "first_half_bytes": n_bytes // 2, **calls},
        "total": {"bytes": 24_000 * msg_bytes, **calls, "messages": 24_000},
        "zero_copy": zero_copy,
        "round_trip": None,
        "service_time": {
            "sample_every": 7, "samples": 2_857, "mean_ns": 49_000.0, "median_ns": 48_000.0,
            "p99_ns": 90_000.0, "max_ns": 400_000.0,
        },
        "threads": [{"messages": 20_000, "bytes": n_bytes, "cpu_start": 0, "cpu_end": 0}],
    }  # fmt: skip


def _receiver(msg_bytes: int) -> dict[str, Any]:
    n_bytes = 1_310_000_000 * msg_bytes // 65536  # the windows differ at their edges
    rest = {"eintr_count": 0, "mapped_bytes": 0, "datagrams": 0}
    in_window = {"bytes": n_bytes, "first_half_bytes": n_bytes // 2, "recv_calls": 10_000}
    return _side("receiver", "recv", {"read_bytes": 131072}) | {
        "in_window": in_window | rest,
        "total": {"bytes": 24_000 * msg_bytes, "recv_calls": 12_500, **rest},
        "verify": None,
        "threads": [{"bytes": n_bytes, "cpu_start": 1, "cpu_end": 1}],
    }


def _driver(implementation: str, msg_bytes: int) -> dict[str, Any]:
    sides = {"sender": _sender(implementation, msg_bytes), "receiver": _receiver(msg_bytes)}
    return {"name": "programs", **sides, "sink": None}


_MACHINE = {"name": "this host", "kind": "local", "facts_digest": "a" * 64,
            "clock_offset_ns": 0, "clock_uncertainty_ns": 0}  # fmt: skip


def _observed() -> dict[str, Any]:
    return {
        "perf_stat": {side: copy.deepcopy(_PERF_SIDE) for side in ("sender", "receiver")},
        "kernel": {
            "softnet_dropped": 0, "softnet_squeezed": 3, "tcp_retransmitted_segments": 0,
            "udp_in_errors": 0, "udp_receive_buffer_errors": 0, "machines": None,
        },
    }  # fmt: skip


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
        "sent_datagrams": sent, "dropped_datagrams": sent - lost, "lost_before_hook": lost,
        "dropped_packets": sent - lost, "dropped_bytes": (sent - lost) * n_bytes,
    }  # fmt: skip
    return record


def _busy(busy_ns: int, softirq_ns: int) -> dict[str, int]:
    return {"window_ns": 10**9, "busy_ns": busy_ns, "softirq_ns": softirq_ns, "steal_ns": 0}


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
        "inside": _busy(400_000_000, 100_000_000),
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
        "machine": _busy(1_500_000_000, 200_000_000),
        "guests": list(guests),
    }
    return record


def with_round_trips(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as if requests had been answered."""
    record["study"] = "round_trips"
    record["settings"]["mode"] = "request_response"
    record["driver"]["sender"]["round_trip"] = {
        "samples": 20_000, "mean_ns": 31_000.0, "p50_ns": 30_000.0, "p90_ns": 40_000.0,
        "p99_ns": 55_000.0, "p999_ns": 90_000.0, "max_ns": 400_000.0,
        "percentiles": [[0.0, 20_000], [0.5, 30_000], [0.99, 55_000], [1.0, 400_000]],
    }  # fmt: skip
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
            "testbed": testbed, "implementation": implementation, "msg_bytes": msg_bytes,
            "n_threads": n_threads, "working_set": working_set, "receiver": receiver,
            "placement": placement, "rep": rep,
        },
        "status": status,
        "reason": None if measured else "the sender ended with code 1",
        "remedy": None,
        "settings": {
            "warmup_s": 0.2, "duration_s": 1.0, "congestion_control": "cubic",
            "tcp_nodelay": "kernel", "send_buffer_bytes": None, "receive_buffer_bytes": None,
            "sender_cpus": [0], "receiver_cpus": [1], "mode": "stream", "fresh": False,
            "ring_bytes": 0 if working_set == "hot" else 1 << 28, "interval_ns": 0,
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
    }  # fmt: skip
    return copy.deepcopy({**record, **changes})
