"""What can be sampled on this host: by which event, and what has to be allowed first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from copycost.config.studies import EventChoice
from copycost.errors import Unavailable
from copycost.hosts.facts.files import HostFiles

# perf's name of the kernel's timer as an event
_TIMER = "cpu-clock"
_KALLSYMS = "proc/kallsyms"
_ALLOW = "run as root, or allow it: sudo sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0"


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """How to call ``perf record`` on this host.

    `event` is perf's name of what makes a sample, ``cycles`` or ``cpu-clock``; `frequency_hz` is
    how many are asked for per second of CPU time.
    """

    path: str
    version: str
    event: str
    frequency_hz: int

    @property
    def source(self) -> Literal["hardware", "timer"]:
        """Whether the processor's counter or the kernel's timer takes the samples."""
        return "timer" if self.event == _TIMER else "hardware"


def plan_sampling(
    host: Mapping[str, Any], event: EventChoice, frequency_hz: int, files: HostFiles
) -> SamplingPlan:
    """Return how to sample both sides on this host.

    The cycle counter is preferred: it also samples where interrupts are switched off, which the
    timer cannot. What the timer would have seen there, it sees where they are switched on again.
    By an event other than ``auto`` it is sampled or not at all.

    Unavailable where perf is missing, or the kernel may not be sampled, or hides where its
    functions are.
    """
    perf = host["perf"]
    if perf["status"] != "available":
        raise Unavailable(perf["reason"] or f"perf is {perf['status']}", perf["remedy"] or _ALLOW)
    if perf["user_only"]:
        raise Unavailable(
            f"the kernel may not be sampled (perf_event_paranoid is {perf['paranoid']})", _ALLOW
        )
    if _hides_addresses(files):
        raise Unavailable(
            f"the kernel hides where its functions are (kptr_restrict; /{_KALLSYMS} shows zeros)",
            _ALLOW,
        )
    has_cycles = perf["events"].get("cycles", {}).get("status") == "supported"
    if event == "cycles" and not has_cycles:
        raise Unavailable(
            "this processor, or the virtual machine, has no cycle counter to sample by",
            "set profile.event to auto or cpu_clock",
        )
    name = "cycles" if has_cycles and event != "cpu_clock" else _TIMER
    return SamplingPlan(perf["path"], str(perf["version"]), name, frequency_hz)


def alike(plans: Sequence[SamplingPlan]) -> list[SamplingPlan]:
    """Return plans for several machines that sample by the same event: by the timer if need be."""
    if len({plan.event for plan in plans}) == 1:
        return list(plans)
    return [replace(plan, event=_TIMER) for plan in plans]


def _hides_addresses(files: HostFiles) -> bool:
    """Tell whether all that an unprivileged reader sees are zeros, see kallsyms_show_value()."""
    return not any(re.match(r"0*[1-9a-f]", line) for line in files.lines(_KALLSYMS, 64))


def is_privileged(files: HostFiles) -> bool:
    """Tell whether perf may use large buffers, which are locked memory."""
    runs_as_root = re.search(
        r"^Uid:\s+\d+\s+0\s", files.text("proc/self/status") or "", re.MULTILINE
    )
    inside_and_outside = (files.text("proc/self/uid_map") or "").split()[:2]
    return runs_as_root is not None and inside_and_outside == ["0", "0"]
