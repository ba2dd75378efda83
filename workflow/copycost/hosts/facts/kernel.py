"""Facts about the running kernel."""

import re
from typing import Any

from copycost.hosts.facts.files import HostFiles, Unknowns

_NO_CONFIG = "the kernel's configuration is in none of the usual places (/proc/config.gz, /boot)"
# the options of which one is set, the strongest first
_PREEMPTION = {
    "PREEMPT_RT": "rt",
    "PREEMPT": "full",
    "PREEMPT_LAZY": "lazy",
    "PREEMPT_VOLUNTARY": "voluntary",
    "PREEMPT_NONE": "none",
}


def read_kernel(files: HostFiles, unknown: Unknowns) -> dict[str, Any]:
    """Return the facts about the running kernel; see `read_cpu`."""
    release = files.text("proc/sys/kernel/osrelease")
    version = files.text("proc/sys/kernel/version")
    options = _options(files, release or "")
    command_line = (files.text("proc/cmdline") or "").split()
    hz = (options or {}).get("HZ", "")
    irq_time = _is_on(options, "IRQ_TIME_ACCOUNTING")
    facts: dict[str, tuple[object, str]] = {
        "release": (release, "/proc/sys/kernel/osrelease cannot be read"),
        "version": (version, "/proc/sys/kernel/version cannot be read"),
        # timer ticks per second
        "hz": (int(hz) if re.fullmatch(r"[0-9]{1,6}", hz) else None, _NO_CONFIG),
        # whether CPU clocks leave out the time in interrupts (CONFIG_IRQ_TIME_ACCOUNTING): then
        # the CPU time of a task does not contain the softirq work done in its context
        "irq_time_accounting": (irq_time and "tsc=noirqtime" not in command_line, _NO_CONFIG),
        # whether CPU time is taken at each kernel entry instead of by ticks
        "virt_cpu_accounting_gen": (_is_on(options, "VIRT_CPU_ACCOUNTING_GEN"), _NO_CONFIG),
        "preempt": (_preempt(options, command_line), _NO_CONFIG),  # none, voluntary, ..., rt
    }
    return unknown.told("kernel", facts)


def _is_on(options: dict[str, str] | None, name: str) -> bool | None:
    return None if options is None else options.get(name) == "y"


def _options(files: HostFiles, release: str) -> dict[str, str] | None:
    """Return the options of the running kernel that are set: ``{"HZ": "250", "VETH": "m"}``.

    None where its configuration is in none of the places where distributions put it. Source:
    kbuild/kconfig-language.rst of the kernel; options that are off are comments only.
    """
    config = (
        files.gzipped_text("proc/config.gz")
        or files.text(f"boot/config-{release}")
        or files.text(f"usr/lib/modules/{release}/config")
        or files.text(f"lib/modules/{release}/config")
    )
    return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", config, re.MULTILINE)) if config else None


def _preempt(options: dict[str, str] | None, command_line: list[str]) -> str | None:
    """Return the preemption model; with PREEMPT_DYNAMIC the command line may overrule it.

    debugfs knows what it was switched to later, but only root may look there, and a fact must
    not depend on who asks.
    """
    if options is None:
        return None
    if options.get("PREEMPT_DYNAMIC") == "y":
        chosen = [word[8:] for word in command_line if word.startswith("preempt=")]
        if chosen:
            return chosen[-1]
    return next((name for option, name in _PREEMPTION.items() if _is_on(options, option)), None)
