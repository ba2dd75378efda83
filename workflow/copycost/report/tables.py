"""Tables of the report, from facts to rows of Markdown."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from copycost.config.placements import APART
from copycost.figures.markers import families
from copycost.hosts.side import SIDES
from copycost.report.markdown import Table, code, escape, pipe_table, slug
from copycost.report.values import (
    NONE,
    NOT_KNOWN,
    Facts,
    at_sizes,
    cpu_range,
    curve_name,
    interval,
    marked,
    note_of,
    place,
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

_QUANTITIES = {"streams": ("throughput [Gbit/s]", 1e-9), "round_trips": ("round trip [µs]", 1e-3)}
_LEVELS = {"l1": "L1d", "l2": "L2", "llc": "last level", "dram": "memory"}
_DIGITS = 12
"""So much of a digest tells two sources of a run apart; the records have all of it."""

_ROWS_OF_A_PAGE = 45


def placement_span(group: Facts, confidence: float) -> str:
    """Return the ratios of a group: ``1.02 to 1.76``, or one with its interval."""
    if group["ratio"] is None:
        return span(group["lowest"], group["highest"])
    return f"{ratio(group['lowest'])} {interval_of(group['ratio'], confidence)}"


def placement(facts: Facts) -> str:
    """Return `facts["placement"]` as a table in Markdown."""
    several = len({effect["condition"] for effect in facts["effects"]}) > 1
    titles = ["Quantity", *(["Condition"] if several else []), "Implementation", ">Message",
              ">Threads", f">`{APART}`", "Placement", ">median", ">ratio", ">interval"]  # fmt: skip
    caption = (
        "The same cells in several placements: medians, and ratios to the placement with both "
        "ends on different cores, paired by round. Source: `results/tables/cells.csv` and "
        "`round_trips.csv`."
    )
    rows = list(_placement_rows(facts, several=several))
    return pipe_table(titles, rows, caption, "tbl-placement", ["grouped"])


def _placement_rows(facts: Facts, *, several: bool) -> Iterator[list[str]]:
    def cell(effect: Facts) -> tuple[Any, ...]:
        names = ("study", "condition", "implementation", "msg_bytes", "n_threads")
        return tuple(effect[name] for name in names)

    effects = sorted(
        facts["effects"], key=lambda effect: (effect["study"] != "streams", cell(effect))
    )
    for (study, condition, implementation, msg_bytes, n_threads), members in groupby(effects, cell):
        title, factor = _QUANTITIES[study]
        for index, effect in enumerate(members):
            head = [
                title,
                *([f"`{condition}`"] if several else []),
                impl(implementation),
                size(msg_bytes),
                str(n_threads),
                significant(effect["apart"]["median"] * factor),
            ]
            yield [
                *(head if index == 0 else [""] * len(head)),
                f"`{effect['placement']}`",
                significant(effect["here"]["median"] * factor),
                ratio(effect["ratio"]["value"]),
                interval(effect["ratio"], form=ratio),
            ]


def by_cell(
    cells: Sequence[Facts], titles: Sequence[str], fields: Callable[[Facts], list[str]]
) -> Table:
    """Return a row per cell: size, threads where there are several, implementation, and fields.

    Parameters
    ----------
    titles, fields
        Of the columns behind these, and what stands in them for a cell.
    """
    several = len({cell["n_threads"] for cell in cells}) > 1
    head = ["Message", *([">Threads"] if several else []), "Implementation"]
    in_order = sorted(cells, key=lambda cell: (cell["msg_bytes"], cell["n_threads"]))
    rows = []
    for at, members in groupby(in_order, lambda cell: (cell["msg_bytes"], cell["n_threads"])):
        for index, cell in enumerate(members):
            where = [size(at[0]), *([str(at[1])] if several else [])]
            start = where if index == 0 else [""] * len(where)
            rows.append([*start, impl(cell["implementation"]), *fields(cell)])
    return [*head, *(f">{title}" for title in titles)], rows


def memory(facts: Facts) -> Table:
    """Return what a plain copy costs in each cache level that the host tells."""
    found = {name: facts["levels"][level] for level, name in _LEVELS.items()}
    return ["Level", ">Working set", ">ns per byte"], [
        [name, size(level["bytes"]), significant(level["ns_per_byte"])]
        for name, level in found.items()
        if level
    ]


def missing(conditions: Iterable[Facts]) -> Table:
    """Return what failed and what was skipped, and why."""
    titles = ["Condition", "What", ">Number", "Implementation", "Message", "Threads",
              "Reason, and what helps"]  # fmt: skip
    return titles, [
        [
            code(condition["slug"]),
            what,
            str(loss["n"]),
            join_and(map(impl, loss["implementations"])),
            sizes(loss["msg_bytes"]),
            join_and(loss["n_threads"]),
            "; ".join(escape(loss[key]) for key in ("reason", "remedy") if loss[key]),
        ]
        for condition in conditions
        for what in ("failed", "skipped")
        for loss in condition[what]
    ]


def set_aside(facts: Facts) -> Table:
    """Return why files were set aside, how many, the last of them and when [UTC]."""
    return ["Reason", ">Files", "Last file", "Set aside"], [
        [escape(one["why"]), str(one["n"]), code(one["file"]), one["at"].replace("T", " ")[:16]]
        for one in facts["reasons"]
    ]


def inside_and_outside(facts: Facts) -> Table:
    """Return a row per curve and guest: CPU from the least to the most of its points.

    Parameters
    ----------
    facts
        Of a study whose curves have `guests`, see `copycost.studies.shared_facts.spans`.
    """
    titles = ["Where", "Side", ">Processes", ">Guest", ">QEMU", ">Overhead", ">Waiting, at most"]
    rows = []
    for curve in facts["curves"]:
        for one in curve["guests"]["spans"] if curve["guests"] else ():
            of, waited = one["of"], one["most"]["vcpu_waiting"]
            outside = (of[name] for name in ("guest", "hypervisor", "overhead"))
            rows.append(
                [
                    curve_name(curve, facts["section"]),
                    "both" if curve["guests"]["shared"] else one["side"],
                    " + ".join(cpu_range(of[side]) for side in SIDES if side in of),
                    *(NOT_KNOWN if used is None else cpu_range(used) for used in outside),
                    NOT_KNOWN if waited is None else cpu(waited),
                ]
            )
    return titles, rows


def how_sent(facts: Facts) -> list[list[str]]:
    """Return rows on who sent in a study, for how long, and in which processes."""
    section = facts["section"]
    window = f"{duration(section['duration_s'])} after {duration(section['warmup_s'])} of warm-up"
    rows = [
        ["Sent by", senders(facts)],
        ["Window", f"{window}, {plural(section['repetitions'], 'time')}"],
    ]
    if facts["separate_processes"]:
        rows.append(["Processes", "one pair per stream, since iperf3 before 3.16 has one thread"])
    if facts["n_foreign"]:
        foreign = f"{facts['n_foreign']} of {facts['n_measured']}"
        rows.append(["Repetitions while other programs ran", foreign])
    return rows


def run(facts: Facts) -> Table:
    """Return when, how often and with what was measured."""
    run, tools = facts["run"], facts["host"]["tools"]
    when = "nothing was measured"
    if run["started_at"]:
        first, last = (
            escape(run[key])[:19].replace("T", " ") for key in ("started_at", "finished_at")
        )
        when = f"first repetition {first}, last {last} (UTC)"
    repetitions = (
        f"{run['n_repetitions']} of {plural(run['n_cells'], 'cell')}: {run['n_measured']} "
        f"measured, {run['n_failed']} failed, {run['n_skipped']} skipped"
    )
    commits = join_and(map(code, run["commits"]))
    rows = [
        ["Measured", when],
        ["Repetitions", repetitions],
        ["Time in windows",
         f"{duration(run['measured_s'])}, of {duration(run['wall_s'])} for all repetitions"],
        ["Commit", commits or "not known: not run from a clone with its history"],
        ["Host facts (SHA-256)", join_and(map(code, run["host_digests"])) or "none"],
        *_programs(run),
        ["Tools", ", ".join(_tool(name, one) for name, one in tools.items() if one["path"])],
        ["Software", ", ".join(f"{name} {version}" for name, version in run["versions"].items())],
    ]  # fmt: skip
    return ["Property", "Value"], rows


def _programs(run: Facts) -> Iterator[list[str]]:
    """Yield a row for each compiler with its flags: the programs and what their sources hash to."""
    builds = {f"sender {code(name)}": built for name, built in run["sender_builds"].items()}
    found: dict[str, list[str]] = {}
    for program, built in (builds | {"receiver": run["receiver_builds"]}).items():
        for build in built:
            source, _, compiler = build.removeprefix("source ").partition(", ")
            found.setdefault(compiler, []).append(f"{program} {code(source[:_DIGITS])}")
    for compiler, programs in found.items():
        yield ["Programs (source)", f"{join_and(programs)}: {code(compiler)}"]


def _tool(name: str, facts: Facts) -> str:
    said = escape(facts["version"] or "version not found")
    return said if said.startswith(name) else f"{escape(name)} {said}"


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


def ranking(condition: Facts) -> str:
    """Return the ranking of a condition in Markdown, a row per size and implementation."""
    ranking, labels = condition["ranking"], condition["labels"]
    sizes = ranking["sizes"]
    with_floor = any(at["floor_ns_per_byte"] is not None for at in sizes)
    titles = ["Message", ">Place", "Implementation", f">{ranking['unit']} per byte", ">interval",
              *([">copies"] if with_floor else []), ">n"]  # fmt: skip
    is_long = sum(len(at["rows"]) for at in sizes) > _ROWS_OF_A_PAGE
    rows = [
        [
            size(at["msg_bytes"]) if is_long or not index else "",
            span(row.get("place_low", row["rank"]), row.get("place_high", row["rank"]), str),
            marked(row["implementation"], labels),
            significant(row["median"]),
            interval(row),
            *([_multiple(row["floor_ratio"])] if with_floor else []),
            str(row["n"]),
        ]
        for at in sizes
        for index, row in enumerate(at["rows"])
    ]
    whose = "the sender alone" if ranking["side"] == "sender" else "both sides together"
    caption = (
        f"Implementations on {place(condition)} by {ranking['label']} per byte "
        f"({whose}, {plural(ranking['n_threads'], 'thread')}): median, interval"
        f"{', multiple of a plain copy' if with_floor else ''}, n repetitions. "
        f"Source: `results/facts.json`.{note_of(labels)}"
    )
    return pipe_table(titles, rows, caption, f"tbl-{slug(condition['slug'])}-ranking", ["grouped"])


def _multiple(value: float | None) -> str:
    return NONE if value is None else ratio(value)


def published_runs(runs: Iterable[Facts]) -> Table:
    """Return of each published run what is beside it here, and the ratios of throughput."""
    return ["Run", "Here", "Throughput, here / published"], [
        [
            escape(run["title"]),
            impl(run["testbed"]) + ("" if run["same_path"] else ", another path"),
            spans_of_ratios(run["ratios"]) or "no cell in common",
        ]
        for run in runs
    ]


def published_pairs(runs: Iterable[Facts]) -> Table:
    """Return run, pair, thread counts, and the verdict along the sizes here and there."""
    rows = []
    for run in runs:
        for pair in run["crossovers"]:
            names = f"{impl(pair['implementation'])} against {impl(pair['baseline'])}"
            alike: dict[tuple[str, str], list[int]] = {}
            for row in pair["rows"]:
                said = (along_sizes(row["ours"]), along_sizes(row["theirs"]))
                alike.setdefault(said, []).append(row["n_threads"])
            rows += [
                [escape(run["title"]), names, join_and(threads), here, there]
                for (here, there), threads in alike.items()
            ]
    return ["Run", "Pair", "Threads", "Here", "Published"], rows


def spans_of_ratios(ratios: Iterable[Facts]) -> str:
    """Return ratios of each implementation: ``0.89 to 1.19 with `one_copy` (5 cells) and ...``."""
    return join_and(
        f"{ratio(one['median']) if one['n_cells'] == 1 else span(one['low'], one['high'])} "
        f"with {impl(one['implementation'])} ({plural(one['n_cells'], 'cell')})"
        for one in ratios
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
