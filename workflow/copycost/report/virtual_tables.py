"""The tables of the chapter on virtual machines: columns, and rows in Markdown."""

from collections.abc import Callable, Iterable

from copycost.studies.shared_tables import cell_name
from copycost.wording.filters import join_and, percent, significant
from copycost.wording.markdown import Table, code, grouped, tabulate
from copycost.wording.values import NONE, Facts, cpu_range, median, of_cells, with_interval
from copycost.wording.words import party

_PARTS = {
    "vcpu": "virtual CPUs",
    "io": "QEMU's main loop and I/O threads",
    "vhost": "vhost, in the kernel",
    "worker": "QEMU's other threads",
    "apart": "the process outside of guests",
    # over the wire
    "sender_process": "the sending process",
    "sender_rest": "the rest of its machine",
    "receiver_process": "the receiving process",
    "receiver_rest": "the rest of that machine",
}
_WORK = {
    "copies": "copies",
    "exits": "exits and entries",
    "events": "events and wake-ups",
    "emulator": "emulator",
    "rest": "rest",
}


def part_shares(parts: Iterable[Facts]) -> str:
    """Return what a cost consists of: ``vhost, in the kernel (61 %) and ...``."""
    return join_and(f"{_PARTS[part['name']]} ({percent(part['value'])})" for part in parts)


def work(cells: Iterable[Facts]) -> Table:
    """Return what guests' and hypervisors' CPU time went to, a row per profiled cell and party.

    The cells are those of the profile's facts, see `copycost.studies.profile.cell_facts`.
    """
    parties = [
        {"cell": cell, "party": name, "costs": costs}
        for cell in cells
        for name, costs in cell["work"].items()
    ]

    def spent_on(kind: str) -> Callable[[Facts], str]:
        return lambda it: NONE if it["costs"][kind] is None else significant(it["costs"][kind])

    return grouped(
        tabulate(
            parties,
            {
                "Cell": lambda it: cell_name(it["cell"]),
                "Party": lambda it: party(it["party"]),
                **{f">{title}": spent_on(kind) for kind, title in _WORK.items()},
            },
        )
    )


def compared(found: Facts) -> Table:
    """Return throughput and CPU time per byte of the cells of a pair, in guests and without.

    The pair is one of ``facts["virtual"]["compared"]``.
    """
    without, within = code(found["without"]), code(found["slug"])
    return of_cells(
        found["cells"],
        {
            f">Gbit/s, {without}": lambda cell: median(cell["without_throughput"], 1e-9),
            f">{within}": lambda cell: median(cell["throughput"], 1e-9),
            ">Ratio": lambda cell: _ratio(cell["rate"]),
            f">ns/B, {without}": lambda cell: median(cell["cost"]),
            ">Inside": lambda cell: median(cell["inside"]),
            ">Outside": lambda cell: median(cell["outside"]),
            ">Ratio, outside": lambda cell: _ratio(cell["price"]),
        },
    )


def round_trips(found: Facts) -> Table:
    """Return what guests make of round trips, as ratios with their intervals.

    The pair is one of ``facts["virtual"]["round_trips"]``.
    """
    outside = any(cell["outside"] for cell in found["cells"])
    return of_cells(
        found["cells"],
        {
            ">Median": lambda cell: _ratio(cell["p50"]),
            ">99th percentile": lambda cell: _ratio(cell["p99"]),
            ">CPU inside": lambda cell: _ratio(cell["inside"]),
            ">CPU outside": lambda cell: _ratio(cell["outside"]) if outside else "",
        },
    )


def _ratio(found: Facts | None) -> str:
    return with_interval(found["value"], found["low"], found["high"]) if found else NONE


def overheads(virtual: Facts) -> Table:
    """Return what was used inside and outside, per guest."""
    columns = ["Guest", ">processes", ">guest", ">hypervisor", ">overhead"]
    rows = [
        [
            f"{code(condition['slug'])}, {join_and(use['sides'])}",
            *(cpu_range(use[name]) for name in ("process", "guest", "hypervisor", "overhead")),
        ]
        for condition in virtual["conditions"]
        for use in condition["uses"]
    ]
    return columns, rows
