"""The table of the host, against what was found of it."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tools.recompute.document import Table
from tools.recompute.run import Run
from tools.recompute.slots import agrees

Host = Mapping[str, Any]


def host_row(
    run: Run, _c: str, _f: re.Match[str], row: Mapping[str, str], _t: Table
) -> Mapping[str, bool | None]:
    """Check a property of the host."""
    expected = _PROPERTIES.get(row["Property"])
    if expected is None:
        return {}
    said = row["Value"].replace("\\", "")
    return {"Value": _same(said, expected(run.host))}


def _same(said: str, expected: str | list[int]) -> bool:
    if isinstance(expected, str):
        return said == expected
    sizes = re.findall(r"[\d.]+ (?:B|[KMG]iB)", said)
    return len(sizes) == len(expected) and all(
        agrees("size", size, value) for size, value in zip(sizes, expected, strict=True)
    )


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _cpus(host: Host) -> str:
    cpu = host["cpu"]
    threads = _counted(cpu["threads_per_core"], "thread")
    return (
        f"{cpu['cpus_online']} online, {_counted(cpu['cores'], 'core')}, {threads} per core, "
        f"{_counted(cpu['numa_nodes'], 'memory node')}"
    )


def _caches(host: Host) -> list[int]:
    caches = host["cpu"]["caches"]
    return [caches[name] for name in ("l1d_bytes", "l2_bytes", "llc_bytes")]


_PROPERTIES: dict[str, Callable[[Host], str | list[int]]] = {
    "CPUs": _cpus,
    "Caches": _caches,
    "Memory": lambda host: f"{host['memory']['total_bytes'] / 2**30:.1f} GiB",
    "Kernel": lambda host: f"Linux {host['kernel']['release']}, {host['kernel']['version']}",
    "Timer, preemption": lambda host: (
        f"{host['kernel']['hz']} Hz, preemption {host['kernel']['preempt']}"
    ),
    "Locked memory, limit": lambda host: [host["memory"]["memlock_bytes"]],
    "`net.core.optmem_max`": lambda host: [host["net"]["optmem_max"]],
    "`net.ipv4.tcp_wmem`: least, default, most": lambda host: host["net"]["tcp_wmem"],
    "`net.ipv4.tcp_rmem`: least, default, most": lambda host: host["net"]["tcp_rmem"],
    "perf": lambda host: (
        f"{host['perf']['version']}, `perf_event_paranoid` {host['perf']['paranoid']}"
    ),
}
