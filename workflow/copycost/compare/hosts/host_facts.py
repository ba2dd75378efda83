"""What tells hosts apart: kernel, processor, caches, memory."""

import re
from collections.abc import Mapping
from typing import Any

from copycost.compare.hosts.host_results import HostSet
from copycost.studies.memory.record import read_memory
from copycost.wording.filters import exact_size, significant

_LONGEST = 60

Told = dict[str, str | float | None]

_TEXTS: dict[str, tuple[str, ...]] = {
    "kernel": ("kernel", "release"),
    "processor": ("cpu", "model"),
    "vendor": ("cpu", "vendor"),
    "virtualisation": ("cpu", "virtualisation"),
    "preemption": ("kernel", "preempt"),
    "governor": ("cpu", "governor"),
}
_NUMBERS: dict[str, tuple[str, ...]] = {
    "CPUs": ("cpu", "cpus_online"),
    "L1d cache": ("cpu", "caches", "l1d_bytes"),
    "L2 cache": ("cpu", "caches", "l2_bytes"),
    "last-level cache": ("cpu", "caches", "llc_bytes"),
    "memory": ("memory", "total_bytes"),
    "timer frequency": ("kernel", "hz"),
}


def told_by(one: HostSet) -> Told:
    """Return the facts of a host by name: texts, numbers, None for what it does not tell."""
    host = one.facts()
    told: Told = {}
    for name, keys in (_TEXTS | _NUMBERS).items():
        value: Any = host
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in _TEXTS and isinstance(value, str):
            told[name] = " ".join(value.split())[:_LONGEST] or None
        elif name in _NUMBERS and is_number and 0 < value < 1e18:
            told[name] = value
        else:
            told[name] = None
    series = re.match(r"\d+\.\d+", str(told["kernel"] or ""))
    told["kernel series"] = f"Linux {series[0]}" if series else None
    told["virtualisation"] = told["virtualisation"] or "none"
    path = one.folder / "memory.json"
    floor = read_memory(path)["floor"] if path.is_file() else None
    told["memory floor"] = None
    if floor is not None:  # what a copy of a byte costs in the largest working set [ns]
        values = sorted(max(floor["points"], key=lambda point: point["bytes"])["ns_per_byte"])
        told["memory floor"] = float(values[len(values) // 2])
    return told


def shown_fact(name: str, value: str | float | None) -> str:
    """Return a fact as a table has it."""
    if value is None:
        return "not reported"
    if name.endswith("cache") or name == "memory":
        return exact_size(int(value))
    if name == "memory floor":
        return f"{significant(float(value), 2)} ns per byte"
    return f"{value} Hz" if name == "timer frequency" else str(value)
