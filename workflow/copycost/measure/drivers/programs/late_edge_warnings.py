"""What may have disturbed a window, by our programs' own account: late edges, few samples.

At each edge a program's main thread, which sleeps in between, takes its snapshot and has perf
switched. Where dozens of threads share a CPU both are woken tens or hundreds of milliseconds late:
the window shrinks, and perf counts what lies outside of it. So both get precedence
(`Host.prioritise`), when all threads of the programs are there: these keep the priority that they
have, and so does all that is measured of them.
"""

from collections.abc import Mapping
from typing import Any

from copycost.config.cells import Cell
from copycost.hosts.side import SideName
from copycost.records.derive import counted_off_window, window_ns
from copycost.records.record import Disturbance, disturbance

_LATE_SHARE = 0.01
_FEWEST_SAMPLES = 100
_ODD_SHARE = 0.05


def own_disturbances(
    sender: Mapping[str, Any],
    receiver: Mapping[str, Any] | None,
    sink: Mapping[str, int] | None,
    unknown_peers: str = "",
) -> list[Disturbance]:
    """Return warnings about a measured window, by what the programs printed.

    `unknown_peers` tells who else came to the sender's port; '' for nobody.
    """
    found = [disturbance("unknown_peers", unknown_peers)] if unknown_peers else []
    late_s = max(_late_s(side["window"]) for side in (sender, receiver) if side is not None)
    if late_s > _LATE_SHARE * window_ns(sender) / 1e9:
        detail = f"an edge of the window came {late_s * 1e3:.1f} ms late"
        found.append(disturbance("window_edge_late", detail))
    round_trip = sender["round_trip"]
    samples = (round_trip or sender["service_time"])["samples"]
    if samples < _FEWEST_SAMPLES:
        detail = f"{samples} round trips were made in the window, too few for their p99"
        if round_trip is None:
            sampled = f"{samples} service times were sampled in the window"
            detail = f"{sampled}, so that p99 rests on the slowest one"
        found.append(disturbance("few_messages", detail))
    if sink is not None and sink["lost_before_hook"]:
        lost, sent = sink["lost_before_hook"], sink["sent_datagrams"]
        detail = f"{lost} of {sent} datagrams were lost before the hook that drops them"
        found.append(disturbance("sink_loss", detail))
    return found


def latest_edge_s(window: Mapping[str, Any]) -> float:
    """Return by how much the later edge of a side's window, as it printed it, came too late [s].

    An edge is over when the counts are taken and perf is switched, which comes first at the start
    and last at the end.
    """
    start_late_ns: int = window["start_ns"] - window["planned_start_ns"]
    end_late_ns: int = (
        window["end_ns"] - window["planned_end_ns"] + (window["perf_disable_ns"] or 0)
    )
    return max(start_late_ns, end_late_ns) / 1e9


def _late_s(window: Mapping[str, Any]) -> float:
    """Return by how much a side was late itself, and not perf [s].

    What perf takes to be switched counts as well where its counts no longer stand for the window.
    """
    if counted_off_window(window):
        return latest_edge_s(window)
    start_ns = window["start_ns"] - (window["perf_enable_ns"] or 0)
    return latest_edge_s({**window, "start_ns": start_ns, "perf_disable_ns": None})


def odd_numbers(cell: Cell, sides: Mapping[SideName, Mapping[str, Any]]) -> list[Disturbance]:
    """Return the warning that numbers of a window were not read at one moment, if it shows.

    Between two looks a program may have to wait for a CPU while its threads go on.
    """
    found = []
    sender = sides["sender"]
    n_bytes, messages = sender["in_window"]["bytes"], sender["in_window"]["messages"]
    # what a thread has under way at an edge is counted in one of them: a batch, and the ring
    under_way = cell.n_threads * cell.batch + sender["ring"]["messages"]
    if abs(n_bytes - messages * cell.msg_bytes) > under_way * cell.msg_bytes:
        found.append(f"{messages} messages of {cell.msg_bytes} bytes are {n_bytes} bytes")
    for name, side in sides.items():
        # io_uring has threads of the kernel besides, which count with the process: one per thread
        with_kernel = "uring" in (cell.strategy if name == "sender" else cell.receiver)
        n_cpus = cell.n_threads * (2 if with_kernel else 1)
        cpu_ns, most_ns = side["process"]["cpu_ns"], n_cpus * window_ns(side)
        if cpu_ns > most_ns * (1 + _ODD_SHARE):
            found.append(
                f"the {name} used {cpu_ns / 1e6:.1f} ms of CPU time, and its CPUs had"
                f" {most_ns / 1e6:.1f} ms"
            )
    return [disturbance("odd_numbers", "; ".join(found))] if found else []
