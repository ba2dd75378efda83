"""What a repetition came to, in a line: for the terminal, whatever the study."""

from collections.abc import Mapping
from typing import Any, cast

from copycost.config import simulated
from copycost.config.cells import UNLIMITED, Cell
from copycost.config.conditions import COLD, HOT, RECV
from copycost.config.simulation_variants import PLAIN, VARIANTS
from copycost.config.testbeds import APART, PLACEMENTS
from copycost.errors import CopycostError
from copycost.hosts.side import SIDES
from copycost.measure.drivers.programs.driver import NAME as PROGRAMS
from copycost.measure.drivers.rates import rates_of
from copycost.records.derive import derive_row
from copycost.records.record import Record, cell_of
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
    try:
        if record["observed"].get("usage") is not None or driver["name"] != PROGRAMS:
            return _describe_rates(rates_of(record))
        if driver["sender"]["round_trip"] is not None:
            return _describe_round_trips(driver["sender"]["round_trip"])
        return _describe_stream(derive_row(cast("Record", record)))
    except CopycostError as error:
        return f"measured, {error}"


def _describe_rates(found: Mapping[str, Any]) -> str:
    used = [f"{side} {found[f'{side}_cpu_percent']:.0f} %" for side in SIDES]
    return f"{found['bits_per_s'] / 1e9:.3g} Gbit/s, {' and '.join(used)} of a CPU"


def _describe_round_trips(found: Mapping[str, Any]) -> str:
    if found["p50_ns"] is None:
        return f"{plural(found['samples'], 'round trip')} within the window, too few for a median"
    tail = "" if found["p99_ns"] is None else f", p99 {found['p99_ns'] / 1e3:.3g} us"
    return f"median {found['p50_ns'] / 1e3:.3g} us{tail}"


def _describe_stream(row: Mapping[str, Any]) -> str:
    received = row.get("receiver_build") is not None
    speed = f"{row['throughput_bits_per_s'] / 1e9:.3g} Gbit/s" + ("" if received else " sent")
    of = "both" if received else "sender"
    cycles, cpu_ns = row.get(f"{of}_cycles_per_byte"), row.get(f"{of}_cpu_ns_per_byte")
    if cycles is not None and not row["user_mode_only"]:
        return f"{speed}, {cycles:.3g} cycles/B"
    return speed if cpu_ns is None else f"{speed}, {cpu_ns:.3g} CPU ns/B"
