"""The tables of the chapter on virtual machines: columns, and rows in Markdown."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from copycost.report.markdown import Column, code
from copycost.report.results_table import NONE, VAGUE, VAGUE_FACTOR
from copycost.wording.filters import cpu, impl, join_and, percent, ratio, significant, size, span
from copycost.wording.plurals import plural

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

_PARTS = {
    "vcpu": "virtual CPUs",
    "io": "QEMU's main loop and I/O threads",
    "vhost": "vhost, in the kernel",
    "worker": "QEMU's other threads",
    "apart": "the process outside of guests",
}
_PUBLISHED_SIDES = {"client": "sender", "server": "receiver"}


def part_shares(parts: Iterable[Facts]) -> str:
    """Return what a cost consists of: ``vhost, in the kernel (61 %) and ...``."""
    return join_and(f"{_PARTS[part['name']]} ({percent(part['value'])})" for part in parts)


def hypervisor_name(party: str) -> str:
    """Return whose hypervisor a party of a profile is: ``the sender's QEMU``."""
    side = party.rpartition("_")[0]
    return f"the {side}'s QEMU" if side else "QEMU"


def compared(found: Facts) -> Table:
    """Return the cells of one of ``facts["virtual"]["compared"]``, in guests and without."""
    several = len({cell["n_threads"] for cell in found["cells"]}) > 1
    inside, outside = code(found["slug"]), code(found["without"])
    columns = [
        Column("Message"),
        *([Column("Threads", "right")] if several else []),
        Column("Implementation"),
        Column(f"Gbit/s, {outside}", "right"),
        Column(f"Gbit/s, {inside}", "right"),
        Column("ratio", "right"),
        Column(f"ns/B, {outside}", "right"),
        Column("ns/B, inside", "right"),
        Column("ns/B, outside", "right"),
        Column("ratio", "right"),
    ]
    cells = sorted(found["cells"], key=lambda cell: (cell["msg_bytes"], cell["n_threads"]))
    rows = []
    for at, members in groupby(cells, lambda cell: (cell["msg_bytes"], cell["n_threads"])):
        for index, cell in enumerate(members):
            head = [size(at[0]), *([str(at[1])] if several else [])]
            rows.append([*(head if index == 0 else [""] * len(head)), *_cell(cell)])
    return columns, rows


def _cell(cell: Facts) -> Iterator[str]:
    yield impl(cell["implementation"])
    yield _median(cell["without_throughput"], 1e-9)
    yield _median(cell["throughput"], 1e-9)
    yield _ratio(cell["rate"])
    for name in ("cost", "inside", "outside"):
        yield _median(cell[name])
    yield _ratio(cell["price"])


def _median(found: Facts | None, scale: float = 1.0) -> str:
    return significant(found["median"] * scale) if found else NONE


def _ratio(found: Facts | None) -> str:
    """Return a ratio with its interval; one that says nothing is told as too wide."""
    if found is None:
        return NONE
    if found["low"] is None:
        return ratio(found["value"])
    if found["high"] > VAGUE_FACTOR * found["low"]:
        return VAGUE
    return f"{ratio(found['value'])} ({span(found['low'], found['high'])})"


def overheads(virtual: Facts) -> Table:
    """Return what was used inside and outside, per guest, and what was published of the like."""
    columns = [
        Column("Guest"),
        Column("processes", "right"),
        Column("guest", "right"),
        Column("hypervisor", "right"),
        Column("overhead", "right"),
    ]
    rows = [
        [
            f"{code(condition['slug'])}, {join_and(use['sides'])}",
            *(_range(use[name]) for name in ("process", "guest", "hypervisor", "overhead")),
        ]
        for condition in virtual["conditions"]
        for use in condition["uses"]
    ]
    rows += [_published(row) for row in virtual["published"]]
    return columns, rows


def _range(found: Facts) -> str:
    return span(found["low"], found["high"], cpu)


def _published(row: Facts) -> list[str]:
    inside = [
        f"{side} {span(row[f'{name}_cpu_min_percent'], row[f'{name}_cpu_max_percent'], cpu)}"
        for name, side in _PUBLISHED_SIDES.items()
        if row[f"{name}_cpu_max_percent"] is not None
    ]
    streams = plural(row["parallel_streams"], "stream")
    outside = span(row["qemu_cpu_min_percent"], row["qemu_cpu_max_percent"], cpu)
    return [f"published: {row['scenario']}, {streams}", ", ".join(inside), NONE, outside, NONE]
