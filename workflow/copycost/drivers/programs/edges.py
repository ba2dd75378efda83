"""Let both edges of the window come on time, however many threads want the CPUs.

At each edge a program's main thread, which sleeps in between, takes its snapshot and has perf
switched. Where dozens of threads share a CPU both are woken tens or hundreds of milliseconds late:
the window shrinks, and perf counts what lies outside of it. So both get a real-time priority, which
lets them in at once; the threads that send and receive keep theirs, and so does all that is
measured of them.

Source: sched(7), "SCHED_FIFO", "Resetting scheduling policy for child processes" and "Privileges
and resource limits".
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from copycost.drivers.programs.side import Side
from copycost.errors import HostError

_LOWEST_PRIORITY = os.sched_param(1)


def make_edges_prompt(sides: Sequence[Side]) -> None:
    """Give perf and the main thread of each side's program precedence, where that is allowed.

    To be called when all threads of the programs are there: these keep the policy that they have,
    and whatever is started later begins with the usual one.
    """
    for side in sides:
        # who is gone is noticed elsewhere; without the right (CAP_SYS_NICE) it goes on as it was
        with suppress(HostError, OSError):
            for pid in {side.process.pid, side.program_pid}:
                policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
                os.sched_setscheduler(pid, policy, _LOWEST_PRIORITY)


def latest_edge_s(window: Mapping[str, Any]) -> float:
    """Return by how much the later edge of a side's window came too late [s].

    Parameters
    ----------
    window : mapping
        What the program printed of its window. An edge is over when the counts are taken and perf
        is switched, which comes first at the start and last at the end.
    """
    start_late_ns: int = window["start_ns"] - window["planned_start_ns"]
    end_late_ns: int = (
        window["end_ns"] - window["planned_end_ns"] + (window["perf_disable_ns"] or 0)
    )
    return max(start_late_ns, end_late_ns) / 1e9
