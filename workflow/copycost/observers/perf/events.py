"""The events that are counted, as data: one entry each; everything else looks them up here."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Event:
    """What is known of an event.

    `domain` is who counts: the processor's own counters, which stand or fall together; the kernel;
    a clock. `in_kernel`: it happens in the kernel alone, so that counting user mode only always
    reads 0. `per_byte`: it is told per byte, as a cost. `level`: words for the misses of a cache
    level. `rare`: there may well be none in a window, so that 0 is a count.
    """

    perf_name: str
    unit: str
    meaning: str
    domain: Literal["hardware", "kernel", "clock"]
    in_kernel: bool = False
    per_byte: bool = False
    level: str | None = None
    rare: bool = False


EVENTS: Mapping[str, Event] = MappingProxyType(
    {
        "cycles": Event("cycles", "cycles", "CPU cycles", "hardware", per_byte=True),
        "instructions": Event("instructions", "instructions", "Instructions", "hardware",
                              per_byte=True),
        "l1d_loads": Event("L1-dcache-loads", "loads", "Loads from the L1 data cache", "hardware"),
        "l1d_load_misses": Event("L1-dcache-load-misses", "misses",
                                 "Loads that missed the L1 data cache", "hardware",
                                 per_byte=True, level="L1d load misses"),
        "llc_loads": Event("LLC-loads", "loads", "Loads that reached the last-level cache",
                           "hardware"),
        "llc_load_misses": Event("LLC-load-misses", "misses",
                                 "Loads that missed the last-level cache", "hardware",
                                 per_byte=True, level="LLC load misses"),
        "cache_misses": Event("cache-misses", "misses",
                              "Cache misses as the processor's maker defines them", "hardware",
                              per_byte=True, level="cache misses"),
        "context_switches": Event("context-switches", "count", "Context switches", "kernel",
                                  in_kernel=True, rare=True),
        "cpu_migrations": Event("cpu-migrations", "count", "Moves to another CPU", "kernel",
                                in_kernel=True, rare=True),
        "page_faults": Event("page-faults", "count", "Page faults", "kernel", rare=True),
        "task_clock_ns": Event("task-clock", "ns", "CPU time", "clock"),
        "ref_cycles": Event("msr/tsc/", "reference cycles",
                            "Ticks of the time-stamp counter while running", "clock",
                            per_byte=True),
    }
)  # fmt: skip
"""By their names in records and tables."""

PERF_EVENTS: Mapping[str, str] = MappingProxyType(
    {name: event.perf_name for name, event in EVENTS.items()}
)
HARDWARE_EVENTS = frozenset(name for name, event in EVENTS.items() if event.domain == "hardware")
KERNEL_EVENTS = frozenset(name for name, event in EVENTS.items() if event.in_kernel)
# that of a clock first, which every host has
COST_EVENTS = tuple(
    sorted(
        (name for name, event in EVENTS.items() if event.per_byte),
        key=lambda name: EVENTS[name].domain != "clock",
    )
)
MISS_LEVELS = tuple(name for name, event in EVENTS.items() if event.level is not None)
RARE_EVENTS = frozenset(name for name, event in EVENTS.items() if event.rare)
