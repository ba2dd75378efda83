"""The tables of the chapter on virtual machines: columns, and rows in Markdown."""

from collections.abc import Iterable

from copycost.report.markdown import Table, code
from copycost.report.tables import by_cell
from copycost.report.values import NONE, Facts, cell_name, cpu_range, interval, median
from copycost.wording.filters import cpu, join_and, percent, ratio, significant, span
from copycost.wording.words import party, plural

_PARTS = {
    "vcpu": "virtual CPUs",
    "io": "QEMU's main loop and I/O threads",
    "vhost": "vhost, in the kernel",
    "worker": "QEMU's other threads",
    "apart": "the process outside of guests",
}
_WORK = {
    "copies": "copies",
    "exits": "exits and entries",
    "events": "events and wake-ups",
    "emulator": "emulator",
    "rest": "rest",
}
_PUBLISHED_SIDES = {"client": "sender", "server": "receiver"}


def part_shares(parts: Iterable[Facts]) -> str:
    """Return what a cost consists of: ``vhost, in the kernel (61 %) and ...``."""
    return join_and(f"{_PARTS[part['name']]} ({percent(part['value'])})" for part in parts)


def work(cells: Iterable[Facts]) -> Table:
    """Return what guests' and hypervisors' CPU time went to, a row per profiled cell and party.

    The cells are those of the profile's facts, see `copycost.studies.profile.cell_facts`.
    """
    columns = ["Cell", "Party"]
    columns += [f">{title}" for title in _WORK.values()]
    rows = [
        [
            cell_name(cell) if index == 0 else "",
            party(name),
            *(NONE if costs[kind] is None else significant(costs[kind]) for kind in _WORK),
        ]
        for cell in cells
        for index, (name, costs) in enumerate(cell["work"]["parties"].items())
    ]
    return columns, rows


def rates(found: Facts) -> Table:
    """Return the throughput of the cells of a pair, in guests and without.

    The pair is one of ``facts["virtual"]["compared"]``.
    """
    titles = [f"Gbit/s, {code(found[name])}" for name in ("without", "slug")]

    def fields(cell: Facts) -> list[str]:
        medians = (cell["without_throughput"], cell["throughput"])
        return [*(median(one, 1e-9) for one in medians), *_ratio(cell["rate"])]

    return by_cell(found["cells"], (*titles, "ratio", "interval"), fields)


def costs(found: Facts) -> Table:
    """Return the same of the CPU time per byte, inside and outside."""
    titles = [f"ns/B, {code(found['without'])}", "ns/B, inside", "ns/B, outside"]

    def fields(cell: Facts) -> list[str]:
        medians = (cell[name] for name in ("cost", "inside", "outside"))
        return [*map(median, medians), *_ratio(cell["price"])]

    return by_cell(found["cells"], (*titles, "ratio", "interval"), fields)


def round_trips(found: Facts) -> Table:
    """Return what guests make of round trips, as ratios with their intervals.

    The pair is one of ``facts["virtual"]["round_trips"]``.
    """
    titles = {"p50": "median", "p99": "99th percentile", "inside": "CPU inside"}
    if any(cell["outside"] for cell in found["cells"]):
        titles["outside"] = "CPU outside"

    def fields(cell: Facts) -> list[str]:
        pairs = (_ratio(cell[name]) for name in titles)
        return [value if ends == NONE else f"{value} ({ends})" for value, ends in pairs]

    return by_cell(found["cells"], [*titles.values()], fields)


def _ratio(found: Facts | None) -> tuple[str, str]:
    """Return a ratio and its interval."""
    return (ratio(found["value"]) if found else NONE), interval(found, form=ratio)


def overheads(virtual: Facts) -> Table:
    """Return what was used inside and outside, per guest, and what was published of the like."""
    columns = ["Guest", ">processes", ">guest", ">hypervisor", ">overhead"]
    rows = [
        [
            f"{code(condition['slug'])}, {join_and(use['sides'])}",
            *(cpu_range(use[name]) for name in ("process", "guest", "hypervisor", "overhead")),
        ]
        for condition in virtual["conditions"]
        for use in condition["uses"]
    ]
    rows += [_published(row) for row in virtual["published"]]
    return columns, rows


def _published(row: Facts) -> list[str]:
    inside = [
        f"{side} {span(row[f'{name}_cpu_min_percent'], row[f'{name}_cpu_max_percent'], cpu)}"
        for name, side in _PUBLISHED_SIDES.items()
        if row[f"{name}_cpu_max_percent"] is not None
    ]
    streams = plural(row["parallel_streams"], "stream")
    outside = span(row["qemu_cpu_min_percent"], row["qemu_cpu_max_percent"], cpu)
    return [f"published: {row['scenario']}, {streams}", ", ".join(inside), NONE, outside, NONE]
