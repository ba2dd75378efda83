"""Count one cell in a copy of a guest that was booted and saved before; write down what came."""

import itertools
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.conditions import COLD
from copycost.config.simulated import Counting, Geometry
from copycost.config.simulation_variants import VARIANTS
from copycost.errors import HostError, TookTooLong, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.guest.kernel import alone_with, find_kernel, find_other_kernel
from copycost.hosts.guest.qemu import find_qemu
from copycost.measure.simulated.cell import Caches, Simulated, cell_text, simulate
from copycost.measure.simulated.guest import DRIVERS, read_guest, save_guest, simulated_image
from copycost.studies.simulated.reading import LEVELS, SimulatedRecord, without_counts

# Sent before the window, so that buffers of sockets have grown to what they use, and the kernel's
# free pages have all been in the caches.
_WARMUP_BYTES = 8 << 20
_MOST_WARMUP_MESSAGES = 1024
# What a message takes in a ring beyond its bytes: heads of its eight fields, and where these are of
# a page or more, room to begin each at one (src/messages/message.h).
_FIELDS, _PAGE_BYTES, _HEADS_BYTES = 8, 4096, 512
_CACHES, _WAYS = "sys/devices/system/cpu/cpu0/cache", "ways_of_associativity"
# of a level whose ways the host does not tell, as virtual machines may not
_USUAL_WAYS = {"l1d": 8, "l2": 16, "llc": 16}
_MADE = "made.json"


def make_guest(
    start: str,
    kernel: str,
    other_kernel: str | None,
    orchestrator: Path,
    programs: Iterable[Path],
    packages: Path,
    folder: Path,
) -> None:
    """Boot a guest and save it in a folder, or write down there why there is none.

    `start` is the variant that says how it is started; `kernel` the path of the usual one, or
    ``auto``; `orchestrator` is simulated_cell, and `programs` run in cells; a kernel's package is
    unpacked in `packages`.
    """
    variant = VARIANTS[start]
    outcome: dict[str, Any] = {"status": "measured", "reason": None, "remedy": None}
    try:
        find_qemu()  # before a kernel is fetched
        image, initrd = folder / "kernel", folder / "initrd"
        with alone_with(packages):
            if variant.other_kernel and other_kernel is not None:
                found = find_other_kernel(other_kernel, kernel, DRIVERS, packages)
            else:
                found = find_kernel(kernel, DRIVERS, packages)
            shutil.copyfile(found.image, image)
            simulated_image(found, orchestrator, programs).write(initrd)
        save_guest(variant, found, image, initrd, folder)
        image.unlink()
        initrd.unlink()
    except HostError as failure:
        outcome = outcome_of(failure)
    (folder / _MADE).write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")


def read_made(folder: Path) -> dict[str, Any]:
    """Return whether a guest was saved in a folder: status (``measured``), reason and remedy."""
    made: dict[str, Any] = json.loads((folder / _MADE).read_text(encoding="utf-8"))
    return made


def outcome_of(failure: HostError) -> dict[str, str]:
    """Return status, reason and remedy; a guest does the same each time, but for how long."""
    if isinstance(failure, Unavailable):
        return {"status": "skipped", "reason": failure.reason, "remedy": failure.remedy}
    remedy = (
        "mend what is named (./run doctor tries QEMU and the plugin), then ./run --retry-failed"
    )
    if isinstance(failure, TookTooLong):
        remedy = "run again with ./run --retry-failed"
    return {"status": "failed", "reason": str(failure), "remedy": remedy}


def count_cell(
    cell: Cell,
    counting: Counting,
    host: Mapping[str, Any],
    programs: Mapping[str, Path],
    plugin: Path,
    folder: Path,
) -> SimulatedRecord:
    """Count a cell in a copy of a saved guest; what does not work is a record too.

    `programs` are as in `simulate`, and `folder` is that of `make_guest`.
    """
    n_messages = counting.n_messages(cell.msg_bytes)
    n_before = min(-(-_WARMUP_BYTES // cell.msg_bytes), _MOST_WARMUP_MESSAGES)
    record = without_counts(cell, read_made(folder), n_messages, n_before)
    if record["status"] != "measured":
        return record
    variant, line_bytes = VARIANTS[cell.variant], counting.line_bytes
    tunables = ":".join(f"{name}={value}" for name, value in variant.tunables.items())
    ring = ring_bytes(cell, n_messages + n_before)
    text = cell_text(cell.testbed, cell.msg_bytes, n_messages, n_before, ring, cell.batch, tunables)
    try:
        stated, guessed = stated_caches(counting, host, HostFiles())
        levels = in_whole_sets(stated, line_bytes, variant.cache_factor)
        caches = Caches(levels, line_bytes, variant.prefetcher or counting.prefetcher)
        found = simulate(text, programs, folder, plugin, caches)
        # in what the caches with nothing changed are not those of the host
        whole = in_whole_sets(stated, line_bytes)
        rounded = [level for level in LEVELS if whole[level] != stated[level]]
        return record | {
            "guest": read_guest(folder) | {"tunables": tunables},
            "assumed": {"ways": guessed, "sizes": rounded},
            **sides_of(found),
            "counted": found.counted,
        }
    except HostError as failure:
        return record | outcome_of(failure)


def sides_of(found: Simulated) -> dict[str, dict[str, Any] | None]:
    """Return what a record keeps of what sender and receiver say: no times.

    Raises `Unavailable` if the receiver read nothing in the window: there is nothing to tell its
    counts by.
    """
    window, zero_copy = found.sender["in_window"], found.sender["zero_copy"]
    if zero_copy is not None:
        zero_copy = {
            **{name: zero_copy[f"{name}_in_window"] for name in ("sent", "completed", "copied")},
            "copied_unknown": zero_copy["copied_unknown"],
        }
    receiver = found.receiver and {"bytes": found.receiver["in_window"]["bytes"]}
    if receiver == {"bytes": 0}:
        raise Unavailable(
            "the receiver, which is woken for 1 MiB at a time, read nothing in the window",
            "raise simulated.window_bytes in config.yaml",
        )
    sender = {"messages": window["messages"], "bytes": window["bytes"], "zero_copy": zero_copy}
    return {"sender": sender, "receiver": receiver}


def ring_bytes(cell: Cell, n_messages: int) -> int:
    """Return the ring of messages [bytes]: 0 for a hot one, else so large that none comes twice.

    The simulated caches are empty when the first message is sent, so that each comes from memory.
    """
    if cell.working_set != COLD:
        return 0
    in_pages = cell.msg_bytes >= _FIELDS * _PAGE_BYTES
    more = _HEADS_BYTES + (_FIELDS * _PAGE_BYTES if in_pages else 0)
    return (n_messages + 1) * (cell.msg_bytes + more)


def in_whole_sets(
    stated: Mapping[str, Geometry], line_bytes: int, factor: float = 1.0
) -> dict[str, Geometry]:
    """Return levels of whole sets, one at least: each size times `factor`; the ways stay."""
    found = {}
    for name, level in stated.items():
        set_bytes = level.ways * line_bytes
        n_sets = max(1, round(level.size_bytes * factor / set_bytes))
        found[name] = Geometry(n_sets * set_bytes, level.ways)
    return found


def stated_caches(
    counting: Counting, host: Mapping[str, Any], files: HostFiles
) -> tuple[dict[str, Geometry], list[str]]:
    """Return the caches as the configuration states them, or else as the host does.

    With the levels whose ways the host does not tell, so that usual ones are taken; `host` knows
    the sizes, and `files` the ways. Raises `Unavailable` if the host does not tell a size, or none
    that can be.
    """
    if counting.caches is not None:
        return {level: getattr(counting.caches, level) for level in LEVELS}, []
    sizes = {level: host["cpu"]["caches"][f"{level}_bytes"] for level in LEVELS}
    state_them = "state simulated.caches in config.yaml"
    for level, size in sizes.items():
        if size is None:
            raise Unavailable(f"this host does not tell the size of its {level} cache", state_them)
    for inner, outer in itertools.pairwise(LEVELS):
        if sizes[outer] < sizes[inner]:
            why = f"this host tells a smaller {outer} cache than its {inner} cache"
            raise Unavailable(why, state_them)
    ways: dict[int, int] = {}
    for folder in files.glob(f"{_CACHES}/index*"):
        number, n_ways = (files.number(f"{folder}/{name}") for name in ("level", _WAYS))
        if number and n_ways and files.text(f"{folder}/type") != "Instruction":
            ways[number] = n_ways
    # where there are two levels, the second is the last one too
    known = {"l1d": ways.get(1), "l2": ways.get(2), "llc": ways.get(max(ways, default=0))}
    stated = {
        level: Geometry(size, known[level] or _USUAL_WAYS[level]) for level, size in sizes.items()
    }
    return stated, [level for level in LEVELS if known[level] is None]
