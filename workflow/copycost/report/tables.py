"""Tables of the report about streams, guests and what is missing, from facts to Markdown."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from copycost.config.simulation_variants import VARIANTS
from copycost.figures.markers import families
from copycost.studies.shared_tables import cell_name
from copycost.wording.filters import (
    impl,
    interval_of,
    join_and,
    percent,
    ratio,
    significant,
    size,
    sizes,
    span,
)
from copycost.wording.markdown import (
    Table,
    code,
    escape,
    grouped,
    listing,
    pipe_table,
    tabulate,
)
from copycost.wording.values import (
    NONE,
    Facts,
    Form,
    at_sizes,
    cpu_range,
    interval,
    marked,
    median,
    of_cells,
    with_interval,
)
from copycost.wording.words import party, plural

_ABOUT: dict[str, tuple[str, Form]] = {
    "condition": ("Condition", impl),
    "testbed": ("Testbed", impl),
    "implementation": ("Implementation", impl),
    "implementations": ("Implementation", impl),
    "limiter": ("Limiter", str),
    "msg_bytes": ("Message", size),
    "n_threads": ("Threads", str),
    "variant": ("Changed", lambda name: VARIANTS[name].change),
}
"""By key of a loss, the title of its column and how one of its values is written."""


def lost(conditions: Iterable[Facts]) -> list[Facts]:
    """Return what failed and what was skipped under some conditions, for `losses`."""
    return [
        {**loss, "status": status, "condition": [one["slug"]]}
        for one in conditions
        for status in ("failed", "skipped")
        for loss in one[status]
    ]


def losses(found: Sequence[Facts], study: str) -> str:
    """Return the table of what was not measured, see `losses_of`; nothing without any."""
    if not found:
        return ""

    def about(key: str, form: Form) -> Callable[[Facts], str]:
        return lambda loss: join_and(map(form, loss[key]))

    titles, rows = tabulate(
        found,
        {
            "What": lambda loss: str(loss["status"]),
            ">Number": lambda loss: str(loss["n"]),
            **{title: about(key, form) for key, (title, form) in _ABOUT.items() if key in found[0]},
            "Reason, and what helps": lambda loss: "; ".join(
                escape(loss[key]) for key in ("reason", "remedy") if loss[key]
            ),
        },
    )
    caption = "Repetitions without a value. They count as missing, never as zero."
    return pipe_table(titles, rows, caption, f"tbl-{study}-missing")


def placement_span(group: Facts, confidence: float) -> str:
    """Return the ratios of a group: ``1.02 to 1.76``, or one with its interval."""
    if group["ratio"] is None:
        return span(group["lowest"], group["highest"])
    return f"{ratio(group['lowest'])} {interval_of(group['ratio'], confidence)}"


def memory(facts: Facts) -> Table:
    """Return what a plain copy costs in each cache level that the host tells."""
    names = {"l1": "L1d", "l2": "L2", "llc": "last level", "dram": "memory"}
    levels = [(name, facts["levels"][level]) for level, name in names.items()]
    return tabulate(
        [(name, level) for name, level in levels if level],
        {
            "Level": lambda it: it[0],
            ">Working set": lambda it: size(it[1]["bytes"]),
            ">ns per byte": lambda it: significant(it[1]["ns_per_byte"]),
        },
    )


def set_aside(facts: Facts) -> Table:
    """Return why files were set aside, how many, the last of them and when [UTC]."""
    return tabulate(
        facts["reasons"],
        {
            "Reason": lambda one: escape(one["why"]),
            ">Files": lambda one: str(one["n"]),
            "Last file": lambda one: code(one["file"]),
            "Set aside": lambda one: one["at"].replace("T", " ")[:16],
        },
    )


def run(facts: Facts) -> Table:
    """Return when, how often and with what was measured."""
    run = facts["run"]
    first, last = ((run[key] or "")[:19].replace("T", " ") for key in ("started_at", "finished_at"))
    builds = {*run["receiver_builds"], *chain(*run["sender_builds"].values())}
    compilers = sorted({build.partition(", ")[2] or build for build in builds})
    return listing(
        [
            ("Measured", f"{first} to {last} (UTC)" if first else "nothing was measured"),
            (
                "Repetitions",
                f"{run['n_repetitions']} of {plural(run['n_cells'], 'cell')}: {run['n_measured']} "
                f"measured, {run['n_failed']} failed, {run['n_skipped']} skipped",
            ),
            (
                "Commit",
                join_and(map(code, run["commits"]))
                or "not known: not run from a clone with its history",
            ),
            ("Compiler", join_and(map(code, compilers))),
        ]
    )


def ranked(conditions: Iterable[Facts]) -> list[Facts]:
    """Return the conditions with a ranking by cost, of more ways than a table of cells shows."""
    return [
        condition
        for condition in conditions
        if len(families(condition["grid"]["implementations"])) > 1
        and (ranking := condition.get("ranking"))
        and ranking["side"]
        and any(at["rows"] for at in ranking["sizes"])
    ]


def ranking(condition: Facts) -> Table:
    """Return the ranking of a condition, a row per size and implementation."""
    found, labels = condition["ranking"], condition["labels"]
    with_floor = any(at["floor_ns_per_byte"] is not None for at in found["sizes"])

    def copies(row: Facts) -> str:
        none = NONE if with_floor else ""
        return none if row["floor_ratio"] is None else ratio(row["floor_ratio"])

    return grouped(
        tabulate(
            [{**row, "msg_bytes": at["msg_bytes"]} for at in found["sizes"] for row in at["rows"]],
            {
                "Message": lambda row: size(row["msg_bytes"]),
                ">Place": lambda row: span(row["place_low"], row["place_high"], str),
                "Implementation": lambda row: marked(row["implementation"], labels),
                f">{found['unit']} per byte": lambda row: significant(row["median"]),
                ">Interval": interval,
                ">Copies": copies,
                ">n": lambda row: str(row["n"]),
            },
        )
    )


def published_pairs(runs: Iterable[Facts]) -> Table:
    """Return run, pair, thread counts, and the verdict along the sizes here and there."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for run in runs:
        for pair in run["crossovers"]:
            names = f"{impl(pair['implementation'])} against {impl(pair['baseline'])}"
            for row in pair["rows"]:
                said = (along_sizes(row["ours"]), along_sizes(row["theirs"]))
                alike.setdefault((escape(run["title"]), names, *said), []).append(row["n_threads"])
    return tabulate(
        alike.items(),
        {
            "Run": lambda it: it[0][0],
            "Pair": lambda it: it[0][1],
            "Threads": lambda it: join_and(it[1]),
            "Here": lambda it: it[0][2],
            "Published": lambda it: it[0][3],
        },
    )


def along_sizes(found: Facts) -> str:
    """Return where one was faster: ``faster from 16 KiB up; slower at 4 KiB (observed once)``."""
    if found["outcome"] == "not_measured":
        return "not compared"
    every = found["all_sizes"]
    better, worse, even = (found["sizes"][side] for side in ("better", "worse", "even"))
    said = [
        f"{word} {at_sizes(at, every)}"
        for word, at in (("faster", better), ("slower", worse))
        if at
    ]
    if even and (better or worse):
        said.append(f"no difference at {sizes(even)}")
    elif even:
        said.append("no difference at any size")
    if found["missing"]:
        said.append(f"not compared at {sizes(found['missing'])}")
    once = " (observed once)" if found["observed_once"] and (better or worse) else ""
    return "; ".join(said) + once


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


def part_shares(parts: Iterable[Facts]) -> str:
    """Return what a cost consists of: ``vhost, in the kernel (61 %) and ...``."""
    return join_and(f"{_PARTS[part['name']]} ({percent(part['value'])})" for part in parts)


def guest_work(cells: Iterable[Facts]) -> Table:
    """Return what guests' and hypervisors' CPU time went to, a row per profiled cell and party."""
    kinds = {
        "copies": "copies",
        "exits": "exits and entries",
        "events": "events and wake-ups",
        "emulator": "emulator",
        "rest": "rest",
    }
    parties = [
        {"cell": cell, "party": name, "costs": side["work"]}
        for cell in cells
        for name, side in cell["sides"].items()
    ]

    def spent_on(kind: str) -> Callable[[Facts], str]:
        return lambda it: NONE if it["costs"][kind] is None else significant(it["costs"][kind])

    return grouped(
        tabulate(
            parties,
            {
                "Cell": lambda it: cell_name(it["cell"]),
                "Party": lambda it: party(it["party"]),
                **{f">{title}": spent_on(kind) for kind, title in kinds.items()},
            },
        )
    )


def in_guests(found: Facts) -> Table:
    """Return throughput and CPU time per byte of a pair's cells, in guests and without."""
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


def trips_in_guests(found: Facts) -> Table:
    """Return what guests make of a pair's round trips, as ratios with their intervals."""
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


def guest_overheads(virtual: Facts) -> Table:
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
