"""Facts about the running kernel."""

import re
from dataclasses import dataclass

from copycost.hosts.facts.files import HostFiles, Unknowns

_NO_CONFIG = "the kernel's configuration is in none of the usual places (/proc/config.gz, /boot)"


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """The running kernel; a fact that the host does not tell is None."""

    release: str | None
    version: str | None
    hz: int | None  # timer ticks per second
    # whether CPU clocks leave out the time in interrupts (CONFIG_IRQ_TIME_ACCOUNTING): then the CPU
    # time of a task does not contain the softirq work done in its context
    irq_time_accounting: bool | None
    # whether CPU time is taken at each kernel entry instead of by ticks
    virt_cpu_accounting_gen: bool | None
    preempt: str | None  # none, voluntary, lazy, full or rt


def read_kernel(files: HostFiles, unknown: Unknowns) -> KernelFacts:
    """Read the facts about the running kernel."""
    release = files.text("proc/sys/kernel/osrelease")
    config = kernel_config(files, release or "")
    options = parse_kernel_config(config) if config else None
    command_line = (files.text("proc/cmdline") or "").split()
    irq_time = None if options is None else options.get("IRQ_TIME_ACCOUNTING") == "y"
    if irq_time and "tsc=noirqtime" in command_line:
        irq_time = False
    accounting = None if options is None else options.get("VIRT_CPU_ACCOUNTING_GEN") == "y"
    return KernelFacts(
        release=unknown.checked(
            "kernel.release", release, "/proc/sys/kernel/osrelease cannot be read"
        ),
        version=unknown.checked(
            "kernel.version",
            files.text("proc/sys/kernel/version"),
            "/proc/sys/kernel/version cannot be read",
        ),
        hz=unknown.checked("kernel.hz", _hz(options or {}), _NO_CONFIG),
        irq_time_accounting=unknown.checked("kernel.irq_time_accounting", irq_time, _NO_CONFIG),
        virt_cpu_accounting_gen=unknown.checked(
            "kernel.virt_cpu_accounting_gen", accounting, _NO_CONFIG
        ),
        preempt=unknown.checked("kernel.preempt", _preempt(options, command_line), _NO_CONFIG),
    )


def kernel_config(files: HostFiles, release: str) -> str | None:
    """Return the configuration of the running kernel from where distributions put it, or None."""
    return (
        files.gzipped_text("proc/config.gz")
        or files.text(f"boot/config-{release}")
        or files.text(f"usr/lib/modules/{release}/config")
        or files.text(f"lib/modules/{release}/config")
    )


def parse_kernel_config(text: str) -> dict[str, str]:
    """Return the options that are set, without their prefix: ``{"HZ": "250", "VETH": "m"}``.

    Source
    ------
    Kernel document kbuild/kconfig-language.rst; options that are off appear only as comments.
    """
    return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))


def _hz(options: dict[str, str]) -> int | None:
    return int(hz) if re.fullmatch(r"[0-9]{1,6}", hz := options.get("HZ", "")) else None


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
    for option, name in (
        ("PREEMPT_RT", "rt"),
        ("PREEMPT", "full"),
        ("PREEMPT_LAZY", "lazy"),
        ("PREEMPT_VOLUNTARY", "voluntary"),
        ("PREEMPT_NONE", "none"),
    ):
        if options.get(option) == "y":
            return name
    return None
