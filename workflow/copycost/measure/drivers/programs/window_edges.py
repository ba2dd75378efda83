"""How late the edges of a window came.

At each edge a program's main thread, which sleeps in between, takes its snapshot and has perf
switched. Where dozens of threads share a CPU both are woken tens or hundreds of milliseconds late:
the window shrinks, and perf counts what lies outside of it. So both get precedence
(`Host.prioritise`), when all threads of the programs are there: these keep the priority that they
have, and so does all that is measured of them.
"""

from collections.abc import Mapping
from typing import Any


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
