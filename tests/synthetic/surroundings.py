"""The configuration, the host facts and the memory floor that a synthetic run would have had."""

from typing import Any

from synthetic.run import EVENTS, LLC_BYTES, PMU_EVENTS, Run

_AXES = ("implementations", "testbeds", "msg_bytes", "n_threads", "working_sets")


def make_config(run: Run) -> dict:
    """Return the configuration of `run` in the words of config.yaml."""
    nothing = {"implementations": [], "testbeds": ["sink"], "msg_bytes": [65507],
               "n_threads": [1], "working_sets": ["hot"]}  # fmt: skip
    udp = {name: list(getattr(run.udp, name)) for name in _AXES} if run.udp else nothing
    return {
        "streams": {name: list(getattr(run, name)) for name in (*_AXES, "receivers", "placements")},
        "udp": {**udp, "receivers": ["recv"], "placements": ["apart"]},
        "measure": {
            "repetitions": run.repetitions, "warmup_s": 0.2, "duration_s": 1.0,
            "congestion_control": "cubic", "tcp_nodelay": "kernel", "send_buffer_bytes": "kernel",
            "receive_buffer_bytes": "kernel", "cpus": {"sender": "auto", "receiver": "auto"},
            "fresh": False, "interval_us": 0, "memory_floor": True, "order_seed": 1,
        },
        "statistics": {"confidence": 0.95, "resamples": 5000, "seed": 1},
        "report": {"title": "What each copy costs", "formats": ["html", "pdf"]},
    }  # fmt: skip


def make_host(run: Run) -> dict:
    """Return host facts of `run`, in the form of results/host.json."""
    pmu = {"status": "supported", "reason": None}
    no_pmu = {"status": "not_supported", "reason": "perf says <not supported>"}
    return {
        "schema_version": 1,
        "identity": {"kernel_release": "6.18.0", "cpu_model": "Model CPU", "n_cpus": run.cpus},
        "cpu": {
            "model": "Model CPU", "vendor": "Model", "cpus_online": run.cpus, "cores": run.cpus,
            "threads_per_core": 1, "numa_nodes": 1,
            "caches": {"l1d_bytes": 32768, "l2_bytes": 1048576, "llc_bytes": LLC_BYTES},
            "governor": None, "turbo": None, "virtualisation": None if run.counters else "kvm",
        },
        "kernel": {
            "release": "6.18.0", "version": "#1 SMP", "hz": 250, "irq_time_accounting": False,
            "virt_cpu_accounting_gen": False, "preempt": "voluntary",
        },
        "memory": {"total_bytes": 8 << 30, "memlock_bytes": None},
        "net": {
            "optmem_max": 131072, "tcp_rmem": [4096, 131072, 33554432],
            "tcp_wmem": [4096, 16384, 4194304], "congestion_default": "bbr",
            "congestion_available": ["reno", "bbr", "cubic"],
        },
        "perf": {
            "path": "/usr/bin/perf", "version": "6.1.0", "paranoid": -1, "status": "available",
            "reason": None, "remedy": None, "user_only": run.user_mode_only,
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
    }  # fmt: skip


def make_memory() -> dict[str, Any]:
    """Return what the analysis reads of results/memory.json: steps where the caches end."""

    def cost(n_bytes: int) -> float:
        steps = ((32 << 10, 0.006), (1 << 20, 0.014), (32 << 20, 0.035))
        return next((ns for size, ns in steps if n_bytes <= size), 0.085)

    points = [
        {"bytes": 1 << power, "ns_per_byte": [cost(1 << power) * (1 + 0.02 * i) for i in range(5)]}
        for power in range(14, 29)
    ]
    return {"status": "measured", "reason": None, "remedy": None, "floor": {"points": points}}
