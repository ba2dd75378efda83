"""What a repetition came to, in a line: for the terminal, whatever the study."""

from collections.abc import Mapping, Sequence
from typing import Any

from copycost.config import simulated
from copycost.config.cells import UNLIMITED, Cell
from copycost.config.conditions import COLD, HOT, RECV
from copycost.config.simulation_variants import PLAIN, VARIANTS
from copycost.config.testbeds import APART, PLACEMENTS
from copycost.errors import CopycostError
from copycost.hosts.side import SIDES
from copycost.measure.drivers.programs.driver import NAME as PROGRAMS
from copycost.measure.drivers.rates import rates_of
from copycost.records.derive import turns_of, window_ns
from copycost.records.record import cell_of
from copycost.wording.numbers import format_size
from copycost.wording.words import plural

# as of these studies, whose windows are limited, flooded or sampled
_OWN_WORDS = {"round_trips": "round trips", "profile": "profile", "datagrams": "datagrams"}


def line_of(record: Mapping[str, Any]) -> str:
    """Return a repetition and its result: ``veth two_copy 64 KiB x 1 thread, ...: 38 Gbit/s``."""
    return f"{describe_cell(cell_of(record))}: {describe_result(record)}"


def describe_cell(cell: Cell) -> str:
    """Return a cell in words: ``sink zero_copy 64 KiB x 4 threads, cold, repetition 1``."""
    if cell.study == simulated.STUDY:
        what = f"simulated {cell.testbed} {cell.implementation} {format_size(cell.msg_bytes)}"
        changed = () if cell.variant == PLAIN else (f"with {VARIANTS[cell.variant].change}",)
        return ", ".join([what, cell.working_set, *changed])
    parts = [
        f"{cell.testbed} {cell.implementation} {format_size(cell.msg_bytes)} x "
        f"{plural(cell.n_threads, 'thread')}"
    ]
    if cell.study in _OWN_WORDS:
        parts.append(_OWN_WORDS[cell.study])
    if cell.limiter != UNLIMITED:
        parts.append(f"{cell.limit_percent} % by {cell.limiter}")
    if cell.working_set == COLD:
        parts.append(COLD)
    elif cell.working_set != HOT:
        parts.append(f"ring of {format_size(int(cell.working_set))}")
    if cell.receiver != RECV:
        parts.append(f"received by {cell.receiver}")
    if cell.placement != APART:
        parts.append(PLACEMENTS[cell.placement])
    return ", ".join([*parts, f"repetition {cell.rep}"])


def describe_result(record: Mapping[str, Any]) -> str:
    """Return the result of a repetition in words: ``38.2 Gbit/s, 0.31 CPU ns/B``, or why not.

    Where nobody receives it is what was sent, and what that cost the sender.
    """
    if record["status"] != "measured":
        return f"{record['status'].upper()}, {record['reason']}"
    if "sampling" in record["observed"]:
        sampling = record["observed"]["sampling"]
        counts = (
            f"{side} {plural(one['samples'], 'sample')}" for side, one in sampling["sides"].items()
        )
        return f"{', '.join(counts)}, {sampling['lost']} lost"
    driver = record["driver"]
    if record["observed"].get("usage") is not None or driver["name"] != PROGRAMS:
        return _describe_rates(record)
    if driver["sender"]["round_trip"] is not None:
        return _describe_round_trips(driver["sender"]["round_trip"])
    sides = [side for side in SIDES if driver[side] is not None]
    last = sides[-1]  # the sender, where nobody receives
    turns = turns_of(driver)[0]
    n_bytes = driver[last]["in_window"]["bytes"]
    gbit_per_s = n_bytes * 8 / (window_ns(driver[last]) if turns is None else turns.length_ns)
    speed = f"{gbit_per_s:.3g} Gbit/s" + ("" if last == "receiver" else " sent")
    if not n_bytes:
        return speed
    cost, unit = _cost(record, sides)
    return f"{speed}, {cost / n_bytes:.3g} {unit}/B"


def _describe_rates(record: Mapping[str, Any]) -> str:
    try:
        found = rates_of(record)
    except CopycostError as error:
        return f"measured, {error}"
    used = [f"{side} {found[f'{side}_cpu_percent']:.0f} %" for side in SIDES]
    return f"{found['bits_per_s'] / 1e9:.3g} Gbit/s, {' and '.join(used)} of a CPU"


def _describe_round_trips(found: Mapping[str, Any]) -> str:
    if found["p50_ns"] is None:
        return f"{plural(found['samples'], 'round trip')} within the window, too few for a median"
    tail = "" if found["p99_ns"] is None else f", p99 {found['p99_ns'] / 1e3:.3g} us"
    return f"median {found['p50_ns'] / 1e3:.3g} us{tail}"


def _cost(record: Mapping[str, Any], sides: Sequence[str]) -> tuple[float, str]:
    """Return what the sides together spent in the window, and its unit: cycles where counted."""
    cycles = [_event(record, side, "cycles") for side in sides]
    if all(value is not None for value in cycles):
        return sum(value for value in cycles if value is not None), "cycles"
    spent_ns = 0.0
    for side in sides:
        task_clock_ns = _event(record, side, "task_clock_ns")
        own_ns = record["driver"][side]["process"]["cpu_ns"]
        spent_ns += own_ns if task_clock_ns is None else task_clock_ns
    return spent_ns, "CPU ns"


def _event(record: Mapping[str, Any], side: str, name: str) -> float | None:
    """Return the value of a perf event, None where it was not fully counted."""
    event = record["observed"]["perf_stat"][side]["events"].get(name)
    if event is None or event["status"] != "counted" or event["user_only"]:
        return None
    return float(event["value"])
