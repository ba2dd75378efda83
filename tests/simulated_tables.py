"""Records of simulated counts with a known truth, their tables and their facts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from copycost.config.cells import Cell
from copycost.config.checkout import ROOT
from copycost.records.derive import Row
from copycost.records.table import make_table
from copycost.studies.profile.functions import load_categories
from copycost.studies.simulated.facts import beside_facts, compute_facts
from copycost.studies.simulated.reading import SimulatedRecord, without_counts
from copycost.studies.simulated.table import FUNCTIONS, SIMULATED, rows_of
from copycost.studies.simulated.walks import WALKS, walk_facts

LINE = 64
SIZES = (4096, 16384, 49152, 262144, 1048576)
IMPLEMENTATIONS = ("two_copy", "one_copy", "zero_copy")
CATEGORIES = load_categories(ROOT / "data/functions")
CACHES = {
    "line_bytes": LINE,
    "prefetcher": "none",
    "l1d": {"size_bytes": 32 << 10, "ways": 8},
    "l2": {"size_bytes": 1 << 20, "ways": 16},
    "llc": {"size_bytes": 16 << 20, "ways": 16},
}
GUEST = {
    "kernel": "6.12.1-test",
    "kernel_source": "a package",
    "kernel_arguments": ["nokaslr", "init_on_alloc=1"],
    "qemu": "7.2.0",
    "cpu": "max,-erms",
    "tunables": "",
}
ASSUMED: dict[str, list[str]] = {"ways": [], "sizes": []}
Misses = Mapping[str, tuple[int, int]]
"""Loads and stores that miss, by level."""
SECTION = {"implementations": list(IMPLEMENTATIONS), "enabled": True, "window_bytes": 4 << 20}


@dataclass(frozen=True)
class Truth:
    """What is missed per line of payload."""

    testbeds: Sequence[str] = ("loopback", "sink")
    working_sets: Sequence[str] = ("hot", "cold")
    sizes: Sequence[int] = SIZES
    implementations: Sequence[str] = IMPLEMENTATIONS
    variants: Sequence[str] = ("plain", "half_caches", "no_zeroing")
    user: float = 2.0  # by the application's copy, of a level that does not hold it and its source
    kernel: float = 2.0  # by each copy of the kernel, likewise
    deferred: float = 0.0
    second: float = 0.0  # more L1d misses of the kernel with what spares the application's copy
    # by variant, what to multiply all that with
    changed: tuple[tuple[str, float], ...] = ()
    lost: Sequence[tuple[str, str, str]] = ()  # status, reason, remedy


def cells_of(truth: Truth) -> list[tuple[str, str, int, str, str]]:
    """Return all cells that can exist, as `record_of` takes them."""
    return [
        (testbed, implementation, size, working_set, variant)
        for variant in truth.variants
        for testbed in truth.testbeds
        for working_set in truth.working_sets
        for size in (truth.sizes if variant == "plain" else (49152,))
        for implementation in truth.implementations
        if size in truth.sizes and (testbed != "sink" or size <= 65507)
    ]


def records_of(truth: Truth) -> list[SimulatedRecord]:
    """Return the records of all cells."""
    return [record_of(truth, *cell) for cell in cells_of(truth)]


def record_of(
    truth: Truth, testbed: str, implementation: str, size: int, working_set: str, variant: str
) -> SimulatedRecord:
    """Return one record."""
    cell = Cell(
        "simulated", testbed, implementation, size, 1, working_set=working_set, variant=variant
    )
    n_messages = max(2, (4 << 20) // size)
    outcome = {"status": "measured", "reason": None, "remedy": None}
    return without_counts(cell, outcome, n_messages, 8) | {
        "guest": GUEST,
        "assumed": ASSUMED,
        "sender": {
            "messages": n_messages,
            "bytes": n_messages * size,
            "zero_copy": _zero_copy(testbed, implementation, n_messages),
        },
        "receiver": None if testbed == "sink" else {"bytes": _received(n_messages * size)},
        "counted": {
            "schema_version": 1,
            "caches": CACHES,
            "functions": _functions(
                truth, testbed, implementation, size, working_set == "cold",
                dict(truth.changed).get(variant, 1.0),
            ),
        },
    }  # fmt: skip


def lost_record(outcome: tuple[str, str, str]) -> SimulatedRecord:
    """Return the record of a cell that could not be counted."""
    told = dict(zip(("status", "reason", "remedy"), outcome, strict=True))
    return without_counts(Cell("simulated", "loopback", "two_copy", 1024, 1), told)


def _received(sent: int) -> int:
    """Return how much a receiver has of what is sent in a window: more, as it wakes up late."""
    return sent * 5 // 4


def _zero_copy(testbed: str, implementation: str, n_messages: int) -> dict[str, Any] | None:
    if implementation != "zero_copy":
        return None
    copied = 0 if testbed == "sink" else n_messages
    return {"sent": n_messages, "completed": n_messages, "copied": copied, "copied_unknown": None}


def _functions(
    truth: Truth, testbed: str, implementation: str, size: int, cold: bool, factor: float
) -> dict[str, list[dict[str, Any]]]:
    """Return what each side's functions count: one message's lines times what a line misses."""
    n_messages = max(2, (4 << 20) // size)
    lines = n_messages * size // LINE
    copies = implementation == "two_copy"
    real = implementation == "zero_copy" and testbed == "sink"

    def levels(per_line: float, n_bytes: int, first_reads: float = 0.0) -> Misses:
        """Return loads and stores that miss: half and half, or what comes from memory."""
        found = {}
        for level in ("l1d", "l2", "llc"):
            geometry: Any = CACHES[level]
            each = per_line / 2 if n_bytes > geometry["size_bytes"] else 0.0
            loads, stores = max(each, first_reads), each
            found[level] = (round(lines * loads * factor), round(lines * stores * factor))
        return found

    misses = levels(truth.user if copies else 0.0, 2 * size, 1.0 if cold and copies else 0.0)
    sender = [
        _row("user", False, 200 * n_messages, misses),
        _row("do_syscall_64", True, n_messages, {}),
        _row("__x64_sys_sendmsg", True, n_messages, levels(0, 0)),
    ]
    if not real:
        misses = levels(truth.kernel, 4 * size, 1.0 if cold and not copies else 0.0)
        sender.append(_row("rep_movs_alternative", True, n_messages, misses))
    if implementation == "zero_copy" and not real:
        sender.append(_row("skb_copy_ubufs", True, n_messages, levels(truth.deferred, 4 * size)))
    if not copies and truth.second:
        misses = {"l1d": (round(lines * truth.second), 0)}
        sender.append(_row("tcp_sendmsg_locked", True, n_messages, misses))
    sender.append(_row("clear_page_rep", True, n_messages, levels(1.1, 4 * size)))
    receiver = [] if testbed == "sink" else [
        _row("user", False, 10, levels(0, 0)),
        _row("rep_movs_alternative", True, n_messages,
             {level: tuple(_received(n) for n in found)
              for level, found in levels(truth.kernel, 4 * size).items()}),
    ]  # fmt: skip
    return {"sender": sender, "receiver": receiver, "other": [_row("do_idle", True, 1, {})]}


def _row(name: str, kernel: bool, calls: int, misses: Misses) -> dict[str, Any]:
    loads, stores = (
        {level: misses.get(level, (0, 0))[which] for level in ("l1d", "l2", "llc")}
        for which in (0, 1)
    )
    return {
        "name": name,
        "kernel": kernel,
        "calls": calls if kernel else 0,
        "instructions": 10 * calls,
        "string_iterations": loads["l1d"],
        "loads": loads["l1d"] + 5,
        "stores": stores["l1d"] + 3,
        "load_misses": loads,
        "store_misses": stores,
        "write_backs": {level: n // 2 for level, n in stores.items()},
        "prefetches": 0,
    }


@cache
def _rows_of(truth: Truth, *cell: Any) -> tuple[list[Row], list[Row]]:  # noqa: ANN401
    """Return the rows of a cell, which are made once for all grids that it is in."""
    return rows_of(record_of(truth, *cell), CATEGORIES)


@cache
def tables_of(truth: Truth) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both tables; each truth's are made once, so nobody may change them."""
    everywhere = Truth(
        user=truth.user, kernel=truth.kernel, deferred=truth.deferred, second=truth.second,
        changed=truth.changed,
    )  # fmt: skip
    rows = [_rows_of(everywhere, *cell) for cell in cells_of(truth)]
    rows += [rows_of(lost_record(outcome), CATEGORIES) for outcome in truth.lost]
    sides = [row for some, _ in rows for row in some]
    functions = [row for _, more in rows for row in more]
    return make_table(sides, SIMULATED), make_table(functions, FUNCTIONS)


@cache
def facts_of(truth: Truth, **section: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the facts, of which the same holds."""
    machine = {"caches": CACHES, "guest": GUEST, "assumed": ASSUMED} if truth.sizes else None
    return compute_facts(*tables_of(truth), SECTION | section, machine, walks(21))


def beside(truth: Truth, **measured: float) -> dict[str, Any]:
    """Return the counts beside those of a summary with these medians, of one cell on sink."""
    medians = {
        "sender_l1d_load_misses_per_byte": 4.0 / LINE,
        "sender_llc_load_misses_per_byte": math.nan,
        "sender_syscalls_per_message": 1.0,
    } | measured
    cell = {
        "study": "streams", "testbed": "sink", "implementation": "two_copy", "msg_bytes": 49152,
        "n_threads": 1, "working_set": "hot", "receiver": "recv", "placement": "apart",
    }  # fmt: skip
    rows = [
        cell
        | {"metric": metric, "n": 0 if math.isnan(value) else 8}
        | {"median": value, "low": 0.9 * value, "high": 1.1 * value}
        for metric, value in medians.items()
    ]
    return beside_facts(*tables_of(truth), pd.DataFrame(rows))


def walks(off: int, stores: int = 0) -> dict[str, Any]:
    """Return the facts about walks of which one is off by so many loads and stores that miss."""
    found = []
    for number, walk in enumerate(WALKS):
        known = {level: walk.known(level) for level in ("l1d", "l2", "llc")}
        missed = {
            level: (one["misses"] - one["store_misses"], one["store_misses"])
            for level, one in known.items()
        }
        if number == 1:
            missed["l1d"] = (missed["l1d"][0] + off, missed["l1d"][1] + stores)
        functions = {"sender": [_row("user", False, 1, missed)], "receiver": [], "other": []}
        found.append((walk, {"functions": functions}))
    return walk_facts(found)
