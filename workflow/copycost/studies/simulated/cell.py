"""Count one cell in a copy of a guest that was booted and saved before; write down what came."""

import itertools
import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from copycost.config.cells import Cell
from copycost.config.conditions import COLD
from copycost.config.simulated import Counting, Geometry
from copycost.config.simulated import Simulated as Section
from copycost.config.simulation_variants import VARIANTS
from copycost.errors import HostError, TookTooLong, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.guest.kernel import alone_with, find_kernel, find_other_kernel
from copycost.hosts.guest.qemu import find_qemu
from copycost.measure.simulated.cell import Caches, Level, Simulated, SimulatedCell, simulate
from copycost.measure.simulated.image import DRIVERS, simulated_image
from copycost.measure.simulated.snapshot import SimulatedMachine, Snapshot, save_guest
from copycost.studies.simulated.counts import LEVELS
from copycost.studies.simulated.reading import SimulatedRecord, without_counts

_MADE = "made.json"


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


def make_guest(
    start: str,
    section: Section,
    kernel: str,
    orchestrator: Path,
    programs: Iterable[Path],
    packages: Path,
    folder: Path,
) -> None:
    """Boot a guest and save it, or write down why there is none.

    `start` is the variant that says how it is started; `kernel` the path of the usual one, or
    ``auto``; `orchestrator` is simulated_cell, and `programs` run in cells; a kernel's package is
    unpacked in `packages`. The guest is saved in `folder`, which exists.
    """
    variant = VARIANTS[start]
    outcome: dict[str, Any] = {"status": "measured", "reason": None, "remedy": None}
    try:
        find_qemu()  # before a kernel is fetched
        other = section.sensitivity.kernel if variant.other_kernel else None
        image, initrd = folder / "kernel", folder / "initrd"
        with alone_with(packages):
            found = (
                find_kernel(kernel, DRIVERS, packages)
                if other is None
                else find_other_kernel(other, kernel, DRIVERS, packages)
            )
            shutil.copyfile(found.image, image)
            simulated_image(found, orchestrator, programs).write(initrd)
        machine = SimulatedMachine(variant.cpu_features, variant.kernel_arguments)
        save_guest(machine, found, image, initrd, Snapshot.in_folder(folder))
        image.unlink()
        initrd.unlink()
    except HostError as failure:
        outcome = {**outcome_of(failure)}
    (folder / _MADE).write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")


# Sent before the window, so that buffers of sockets have grown to what they use, and the kernel's
# free pages have all been in the caches.
_WARMUP_BYTES = 8 << 20
_MOST_WARMUP_MESSAGES = 1024
# What a message takes in a ring beyond its bytes: heads of its eight fields, and where these are of
# a page or more, room to begin each at one (src/messages/message.h).
_FIELDS, _PAGE_BYTES = 8, 4096
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_HEADS_BYTES = 512
_FOLDER = "sys/devices/system/cpu/cpu0/cache"
_STATE_THEM = "state simulated.caches in config.yaml"
# of a level whose ways the host does not tell, as virtual machines may not
_USUAL_WAYS = {"l1d": 8, "l2": 16, "llc": 16}


def count_cell(
    cell: Cell,
    counting: Counting,
    host: Mapping[str, Any],
    sender: Path,
    receiver: Path | None,
    plugin: Path,
    folder: Path,
) -> SimulatedRecord:
    """Count a cell in a copy of a saved guest; what does not work is a record too.

    `folder` has the saved guest, see `make_guest`; where nobody receives, there is no receiver.
    """
    n_messages = counting.n_messages(cell.msg_bytes)
    n_before = min(-(-_WARMUP_BYTES // cell.msg_bytes), _MOST_WARMUP_MESSAGES)
    record = without_counts(cell, read_made(folder), n_messages, n_before)
    if record["status"] != "measured":
        return record
    variant = VARIANTS[cell.variant]
    tunables = ":".join(f"{name}={value}" for name, value in variant.tunables.items())
    asked = SimulatedCell(
        cell.testbed,
        sender,
        receiver,
        cell.msg_bytes,
        n_messages,
        n_before,
        ring_bytes(cell, n_messages + n_before),
        cell.batch,
        {"GLIBC_TUNABLES": tunables} if tunables else {},
    )
    try:
        stated, guessed = stated_caches(counting, host, HostFiles())
        levels = in_whole_sets(stated, counting.line_bytes, variant.cache_factor)
        prefetcher = variant.prefetcher or counting.prefetcher
        caches = Caches(**levels, line_bytes=counting.line_bytes, prefetcher=prefetcher)
        snapshot = Snapshot.in_folder(folder)
        found = simulate(asked, snapshot, plugin, caches)
        require_received(found)
        record["sender"], record["receiver"] = sender_of(found), receiver_of(found)
        record["counted"] = found.counted
        # in what the caches with nothing changed are not those of the host
        unchanged = in_whole_sets(stated, counting.line_bytes)
        rounded = [one for one in LEVELS if unchanged[one].size_bytes != stated[one].size_bytes]
        record["assumed"] = {"ways": guessed, "sizes": rounded}
        guest = snapshot.read_guest()
        version = _VERSION.search(guest.qemu or "")
        record["guest"] = {
            "kernel": guest.kernel,
            "kernel_source": guest.kernel_source,
            "kernel_arguments": list(guest.kernel_arguments),
            "qemu": version[0] if version else guest.qemu or "",
            "cpu": guest.cpu,
            "tunables": tunables,
        }
    except HostError as failure:
        record |= cast("SimulatedRecord", outcome_of(failure))
    return record


def require_received(found: Simulated) -> None:
    """Do nothing where there are bytes to tell counts by.

    Raises `Unavailable` if the receiver read nothing in the window.
    """
    if found.receiver is not None and not found.receiver["in_window"]["bytes"]:
        raise Unavailable(
            "the receiver, which is woken for 1 MiB at a time, read nothing in the window",
            "raise simulated.window_bytes in config.yaml",
        )


def sender_of(found: Simulated) -> dict[str, Any]:
    """Return what a record keeps of what the sender says: no times."""
    window, zero_copy = found.sender["in_window"], found.sender["zero_copy"]
    return {
        "messages": window["messages"],
        "bytes": window["bytes"],
        "zero_copy": zero_copy
        and {name: zero_copy[f"{name}_in_window"] for name in ("sent", "completed", "copied")}
        | {"copied_unknown": zero_copy["copied_unknown"]},
    }


def receiver_of(found: Simulated) -> dict[str, Any] | None:
    """Return what a record keeps of what the receiver says; None where nobody receives."""
    return found.receiver and {"bytes": found.receiver["in_window"]["bytes"]}


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
) -> dict[str, Level]:
    """Return levels of whole sets, one at least: each size times `factor`; the ways stay."""
    found = {}
    for name, level in stated.items():
        set_bytes = level.ways * line_bytes
        n_sets = max(1, round(level.size_bytes * factor / set_bytes))
        found[name] = Level(n_sets * set_bytes, level.ways)
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
    ways = _ways(files)
    known = {level: host["cpu"]["caches"][f"{level}_bytes"] for level in LEVELS}
    missing = [level for level in LEVELS if known[level] is None]
    if missing:
        why = f"this host does not tell the size of its {missing[0]} cache"
        raise Unavailable(why, _STATE_THEM)
    for inner, outer in itertools.pairwise(LEVELS):
        if known[outer] < known[inner]:
            why = f"this host tells a smaller {outer} cache than its {inner} cache"
            raise Unavailable(why, _STATE_THEM)
    stated = {
        level: Geometry(size, ways.get(level, _USUAL_WAYS[level])) for level, size in known.items()
    }
    return stated, [level for level in LEVELS if level not in ways]


def _ways(files: HostFiles) -> dict[str, int]:
    """Return the ways of the host's data caches, as far as it tells them."""
    by_level: dict[int, int] = {}
    for folder in files.glob(f"{_FOLDER}/index*"):
        level = files.number(f"{folder}/level")
        ways = files.number(f"{folder}/ways_of_associativity")
        if level and ways and files.text(f"{folder}/type") != "Instruction":
            by_level[level] = ways
    # where there are two levels, the second is the last one too
    numbers = {"l1d": 1, "l2": 2, "llc": max(by_level, default=0)}
    return {name: by_level[level] for name, level in numbers.items() if level in by_level}
