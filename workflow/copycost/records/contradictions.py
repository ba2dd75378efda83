"""Whether the numbers of one record agree with one another, as far as the way of counting says.

A record that was damaged, or written by hand, is thus not taken for a measurement. What both sides
counted in their windows is not compared, since the windows differ at their edges.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from copycost.errors import DataError
from copycost.grid.cells import Cell
from copycost.perf.counters import PerfSide
from copycost.records.record import Record

_N_SHOWN = 3
# The clocks and the counters at an edge of a window are read one after the other, maybe with a
# wait for a CPU in between.
_CPU_TOLERANCE = 0.05
_CPU_TOLERANCE_NS = 20_000_000
# By which share perf may have counted for longer than the window.
_OFF_WINDOW = 0.05
# Linux can be built for so many (NR_CPUS_RANGE_END in arch/x86/Kconfig), and records do not say how
# many a machine has; of guests they do.
_MOST_CPUS = 8192
# What a running thread has used is brought up to date at clock ticks, and those of a hypervisor,
# which may leave no CPU idle, are read thread by thread.
_THREADS_TOLERANCE = 0.25
_THREADS_TOLERANCE_NS = 50_000_000


def require_agreement(record: Record, cell: Cell) -> None:
    """Refuse a measured record whose numbers contradict one another.

    Raises
    ------
    DataError
        Naming the first contradictions.
    """
    _refuse([*_of_sides(record, cell), *_of_counters(record)])


def require_possible_machines(record: Record) -> None:
    """Refuse a record in which a machine, a guest or its hypervisor was busier than it can be.

    Raises
    ------
    DataError
        Naming the first contradictions.
    """
    runs = [run for run in (record, record["undisturbed"]) if run is not None]
    _refuse([found for run in runs for found in (*_of_machines(run), *_of_guests(run))])


def _refuse(found: Sequence[str]) -> None:
    if found:
        raise DataError(
            f"{'; '.join(found[:_N_SHOWN])}; expected numbers that agree, so the record was "
            "damaged: delete it to measure the repetition again"
        )


def _of_sides(record: Record, cell: Cell) -> Iterator[str]:
    driver = record["driver"]
    if driver is None:
        return
    sender, receiver = driver["sender"], driver["receiver"]
    for name, side in (("sender", sender), ("receiver", receiver)):
        if side is not None:
            window = side["window"]
            if not window["start_ns"] <= window["half_ns"] <= window["end_ns"] > window["start_ns"]:
                yield f"the {name}'s window lasts {window['end_ns'] - window['start_ns']} ns"
                return
            yield from _of_counts(name, side)
            yield from _of_cpu_time(name, side, record, cell)
    yield from _of_messages(sender, cell)
    if receiver is not None and receiver["total"]["bytes"] > sender["total"]["bytes"]:
        yield (
            f"{receiver['total']['bytes']} bytes were received in all, "
            f"{sender['total']['bytes']} sent"
        )
    sends = sender["zero_copy"]
    if sends is not None and not (sends["copied"] or 0) <= sends["completed"] <= sends["sent"]:
        yield (
            f"of {sends['sent']} zero-copy sends {sends['completed']} completed and "
            f"{sends['copied']} were copied"
        )


def _of_counts(name: str, side: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a side counted more often in a part than in the whole."""
    within, total = side["in_window"], side["total"]
    for what, count in total.items():
        if within[what] > count:
            yield f"the {name} counted {what} {within[what]} times in the window, {count} in all"
    if within["first_half_bytes"] > within["bytes"]:
        yield f"the {name} has more bytes in the first half of the window than in all of it"
    of_threads = sum(thread["bytes"] for thread in side["threads"])
    if of_threads != within["bytes"]:
        yield f"the {name}'s threads have {of_threads} bytes, together {within['bytes']}"


def _of_messages(sender: Mapping[str, Any], cell: Cell) -> Iterator[str]:
    """Yield where bytes are not messages times their size.

    Bytes are counted once the kernel took them, and a message once all of it was handed over: what
    each thread has under way at an edge of the window, at most a batch and what lies in the ring,
    is counted in one and not in the other.
    """
    under_way = cell.n_threads * cell.batch + sender["ring"]["messages"]
    for part in ("in_window", "total"):
        n_bytes, messages = sender[part]["bytes"], sender[part]["messages"]
        if abs(n_bytes - messages * cell.msg_bytes) > under_way * cell.msg_bytes:
            yield f"{messages} messages of {cell.msg_bytes} bytes are {n_bytes} bytes"


def _of_cpu_time(name: str, side: Mapping[str, Any], record: Record, cell: Cell) -> Iterator[str]:
    """Yield where a side has more CPU time than its threads can have had.

    io_uring has threads of the kernel besides, which count with the process: one per thread.
    """
    process = side["process"]
    parts_ns = process["user_ns"] + process["system_ns"]
    if abs(parts_ns - process["cpu_ns"]) > process["cpu_ns"] * _CPU_TOLERANCE + _CPU_TOLERANCE_NS:
        yield f"the {name}'s CPU time is {process['cpu_ns']} ns, its parts {parts_ns} ns"
    window = side["window"]
    window_ns = window["end_ns"] - window["start_ns"]
    with_kernel = "uring" in (cell.strategy if name == "sender" else cell.receiver)
    n_cpus = cell.n_threads * (2 if with_kernel else 1)
    most_ns = n_cpus * window_ns * (1 + _CPU_TOLERANCE) + _CPU_TOLERANCE_NS
    perf = dict(_perf_sides(record)).get(name)
    clock = perf and perf["events"].get("task_clock_ns")
    clocks = [process["cpu_ns"]]
    if clock and not counted_off_window(window):
        clocks.append(clock["value"])
    for cpu_ns in clocks:
        if cpu_ns is not None and cpu_ns > most_ns:
            yield f"the {name} used {cpu_ns:.0f} ns of {n_cpus} CPUs in {window_ns} ns"


def counted_off_window(window: Mapping[str, Any]) -> bool:
    """Tell whether perf counted for longer than a side's window by more than a few percent.

    A program tells perf to begin before the window and to stop after it, and waits for the answers.
    """
    beyond_ns = (window["perf_enable_ns"] or 0) + (window["perf_disable_ns"] or 0)
    return bool(beyond_ns > _OFF_WINDOW * (window["end_ns"] - window["start_ns"]))


def _of_counters(record: Record) -> Iterator[str]:
    for name, side in _perf_sides(record):
        for event, entry in side["events"].items():
            value = entry["value"]
            if value is not None and not 0 <= value < 1 << 64:
                yield f"the {name}'s {event} is {value}"


def _perf_sides(record: Record) -> Iterator[tuple[str, PerfSide]]:
    perf = record["observed"].get("perf_stat")
    if perf is not None:
        yield "sender", perf["sender"]
        if perf["receiver"] is not None:
            yield "receiver", perf["receiver"]


def _of_machines(record: Record) -> Iterator[str]:
    kernel, testbed = record["observed"].get("kernel"), record["testbed"]
    for side, found in ((kernel and kernel["machines"]) or {}).items():
        in_guest = testbed is not None and testbed["machines"][side]["kind"] == "guest"
        n_cpus = _vcpus(record) if in_guest else _MOST_CPUS
        yield from _of_busy_time(f"the {side}'s machine", found, found["at_ns"], n_cpus)


def _of_guests(record: Record) -> Iterator[str]:
    hypervisor = record["observed"].get("hypervisor")
    if hypervisor is None:
        return
    machine = hypervisor["machine"]
    yield from _of_busy_time("the guests' machine", machine, machine["window_ns"], _MOST_CPUS)
    for guest in hypervisor["guests"]:
        name, inside, window_ns = guest["name"], guest["inside"], guest["window_ns"]
        yield from _of_busy_time(name, inside, inside["window_ns"], _vcpus(record))
        n_threads, cpu_ns = guest["vcpu_threads"], guest["threads"]["vcpu"]["cpu_ns"]
        if window_ns <= 0:
            yield f"the window of the hypervisor of {name} lasts {window_ns} ns"
        elif cpu_ns > n_threads * (window_ns * (1 + _THREADS_TOLERANCE) + _THREADS_TOLERANCE_NS):
            yield (
                f"the virtual CPUs of {name} ran for {cpu_ns} ns in {n_threads} threads and "
                f"{window_ns} ns"
            )


def _of_busy_time(
    name: str, times: Mapping[str, Any], window_ns: int, n_cpus: int
) -> Iterator[str]:
    """Yield where all CPUs of a machine together were busy for longer than they can have been.

    Time in interrupts and softirqs is counted by clock ticks, each of which takes what it meets for
    all the time since the last: on a CPU that wakes up in step with them it may seem to last
    throughout, though the CPU was mostly idle. So much is allowed on one.
    """
    busy_ns, softirq_ns = times["busy_ns"], times["softirq_ns"]
    if window_ns <= 0:
        yield f"the window of {name} lasts {window_ns} ns"
        return
    if busy_ns > n_cpus * window_ns * (1 + _CPU_TOLERANCE) + _CPU_TOLERANCE_NS:
        yield f"{name} was busy for {busy_ns} ns of {n_cpus} CPUs in {window_ns} ns"
    if softirq_ns > busy_ns + window_ns * (1 + _CPU_TOLERANCE) + _CPU_TOLERANCE_NS:
        yield f"{name} was in softirqs for {softirq_ns} ns and busy for {busy_ns} ns"


def _vcpus(record: Record) -> int:
    """Return how many virtual CPUs each guest has, the most there can be where nothing says it."""
    testbed = record["testbed"]
    virtual = testbed.get("virtual") if testbed is not None else None
    return _MOST_CPUS if virtual is None else int(virtual["vcpus"])
