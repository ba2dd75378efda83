"""Tables of the report, from facts to rows of Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from copycost.figures.markers import families
from copycost.hosts.side import SIDES
from copycost.report.markdown import Table, code, escape, grouped, listing, tabulate
from copycost.report.values import (
    NONE,
    NOT_KNOWN,
    Facts,
    at_sizes,
    cpu_range,
    curve_name,
    interval,
    marked,
    senders,
)
from copycost.wording.filters import (
    cpu,
    duration,
    impl,
    interval_of,
    join_and,
    ratio,
    significant,
    size,
    sizes,
    span,
)
from copycost.wording.words import plural

_LEVELS = {"l1": "L1d", "l2": "L2", "llc": "last level", "dram": "memory"}


def placement_span(group: Facts, confidence: float) -> str:
    """Return the ratios of a group: ``1.02 to 1.76``, or one with its interval."""
    if group["ratio"] is None:
        return span(group["lowest"], group["highest"])
    return f"{ratio(group['lowest'])} {interval_of(group['ratio'], confidence)}"


def of_cells(
    cells: Sequence[Facts],
    columns: Mapping[str, Callable[[Facts], str]],
    labels: Mapping[str, str | None] = MappingProxyType({}),
) -> Table:
    """Return a row per cell: its size, threads where there are several, way, and columns."""
    several = len({cell["n_threads"] for cell in cells}) > 1
    return grouped(
        tabulate(
            sorted(cells, key=lambda cell: (cell["msg_bytes"], cell["n_threads"])),
            {
                "Message": lambda cell: size(cell["msg_bytes"]),
                ">Threads": lambda cell: str(cell["n_threads"]) if several else "",
                "Implementation": lambda cell: marked(cell["implementation"], labels),
                **columns,
            },
        )
    )


def memory(facts: Facts) -> Table:
    """Return what a plain copy costs in each cache level that the host tells."""
    levels = {name: facts["levels"][level] for level, name in _LEVELS.items()}
    return tabulate(
        [(name, level) for name, level in levels.items() if level],
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


def inside_and_outside(facts: Facts) -> Table:
    """Return a row per curve and guest: CPU from the least to the most of its points.

    For the `guests` of a study's curves, see `copycost.studies.shared_facts.curve_facts`.
    """

    def used(name: str) -> Callable[[Facts], str]:
        return lambda one: NOT_KNOWN if one["of"][name] is None else cpu_range(one["of"][name])

    def processes(one: Facts) -> str:
        return " + ".join(cpu_range(one["of"][side]) for side in SIDES if side in one["of"])

    def waited(one: Facts) -> str:
        found = one["most_waiting"]
        return NOT_KNOWN if found is None else cpu(found)

    return tabulate(
        [
            {**one, "curve": curve}
            for curve in facts["curves"]
            if curve["guests"]
            for one in curve["guests"]["spans"]
        ],
        {
            "Where": lambda one: curve_name(one["curve"], facts["section"]),
            "Side": lambda one: "both" if one["curve"]["guests"]["shared"] else one["side"],
            ">Processes": processes,
            ">Guest": used("guest"),
            ">QEMU": used("hypervisor"),
            ">Overhead": used("overhead"),
            ">Waiting, at most": waited,
        },
    )


def how_sent(facts: Facts) -> list[tuple[str, str]]:
    """Return rows on who sent in a study, for how long, and in which processes."""
    section = facts["section"]
    window = f"{duration(section['duration_s'])} after {duration(section['warmup_s'])} of warm-up"
    rows = [
        ("Sent by", senders(facts)),
        ("Window", f"{window}, {plural(section['repetitions'], 'time')}"),
    ]
    if facts["separate_processes"]:
        rows.append(("Processes", "one pair per stream, since iperf3 before 3.16 has one thread"))
    if facts["n_foreign"]:
        foreign = f"{facts['n_foreign']} of {facts['n_measured']}"
        rows.append(("Repetitions while other programs ran", foreign))
    return rows


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

    def place_of(row: Facts) -> str:
        return span(row.get("place_low", row["rank"]), row.get("place_high", row["rank"]), str)

    def copies(row: Facts) -> str:
        none = NONE if with_floor else ""
        return none if row["floor_ratio"] is None else ratio(row["floor_ratio"])

    return grouped(
        tabulate(
            [{**row, "msg_bytes": at["msg_bytes"]} for at in found["sizes"] for row in at["rows"]],
            {
                "Message": lambda row: size(row["msg_bytes"]),
                ">Place": place_of,
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
