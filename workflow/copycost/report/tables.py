"""Tables of the report, from facts to rows of Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from copycost.config.placements import APART
from copycost.hosts.side import SIDES
from copycost.report.answer_values import at_sizes
from copycost.report.conditions import place
from copycost.report.markdown import Column, code, escape, pipe_table, slug
from copycost.report.marks import marked, note_of
from copycost.report.ranking import has_floor
from copycost.report.results_table import NONE, VAGUE, VAGUE_FACTOR
from copycost.report.study_values import NOT_KNOWN, cpu_range, curve_name
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

Facts = Mapping[str, Any]


_TITLES = (
    ("p50_ns", "p50"),
    ("p90_ns", "p90"),
    ("p99_ns", "p99"),
    ("p999_ns", "p99.9"),
    ("max_ns", "max"),
)


def round_trips_table(condition: Mapping[str, Any], repetitions: int) -> str:
    """Return the percentiles of a condition in Markdown, in µs.

    Parameters
    ----------
    condition
        One of the conditions of ``facts["round_trips"]``.
    repetitions
        Repetitions asked for per cell; a row of fewer says so.
    """
    several = len({row.get("n_threads", 1) for row in condition["rows"]}) > 1
    columns = [
        Column("Message"),
        *([Column("Threads", "right")] if several else []),
        Column("Implementation"),
        Column("p50", "right"),
        Column("interval", "right"),
        *(Column(title, "right") for _, title in _TITLES[1:]),
        Column("round trips", "right"),
        Column("n", "right"),
    ]
    caption = (
        f"Round-trip times on {place(condition)} [µs]: median with its interval, 90th, 99th and "
        "99.9th percentile and maximum, each the median of the repetitions; the number of round "
        "trips, and n of repetitions. Source: `results/tables/round_trips.csv`."
        f"{note_of(condition.get('labels', {}))}"
    )
    rows = list(_round_trips_rows(condition, repetitions, several=several))
    identifier = f"tbl-{slug(condition['slug'])}-round-trips"
    return pipe_table(columns, rows, caption, identifier, ["grouped"])


def _round_trips_rows(
    condition: Mapping[str, Any], repetitions: int, *, several: bool
) -> Iterator[list[str]]:
    labels = condition.get("labels", {})
    previous = None
    for row in condition["rows"]:
        at = (row["msg_bytes"], row.get("n_threads"))
        yield [
            "" if at == previous else size(row["msg_bytes"]),
            *([str(row["n_threads"])] if several else []),
            marked(row["implementation"], labels),
            _value(row["p50_ns"]),
            _round_trips_interval(row["p50_ns"]),
            *(_value(row[key]) for key, _ in _TITLES[1:]),
            f"{row['samples']:,}",
            str(row["n"]) if row["n"] == repetitions else f"{row['n']} of {repetitions}",
        ]
        previous = at


def _value(found: Mapping[str, Any] | None) -> str:
    if found is None or found["median"] is None:
        return NONE
    return significant(found["median"] * 1e-3)


def _round_trips_interval(found: Mapping[str, Any] | None) -> str:
    if found is None or found["low"] is None or found["high"] is None:
        return NONE
    if found["high"] > VAGUE_FACTOR * found["low"]:
        return VAGUE
    return f"{significant(found['low'] * 1e-3)} to {significant(found['high'] * 1e-3)}"


_QUANTITIES = {"streams": ("throughput [Gbit/s]", 1e-9), "round_trips": ("round trip [µs]", 1e-3)}


def placement_span(group: Facts, confidence: float) -> str:
    """Return the ratios of a group: ``1.02 to 1.76``, or one with its interval."""
    if group["ratio"] is None:
        return span(group["lowest"], group["highest"])
    return f"{ratio(group['lowest'])} {interval_of(group['ratio'], confidence)}"


def placement_table(facts: Facts) -> str:
    """Return `facts["placement"]` as a table in Markdown."""
    columns = [
        Column("Quantity"),
        Column("Implementation"),
        Column("Message", "right"),
        Column("Threads", "right"),
        Column(f"`{APART}`", "right"),
        Column("Placement"),
        Column("median", "right"),
        Column("ratio", "right"),
        Column("interval", "right"),
    ]
    several = len({effect["condition"] for effect in facts["effects"]}) > 1
    if several:
        columns.insert(1, Column("Condition"))
    caption = (
        "The same cells in several placements: medians, and ratios to the placement with both "
        "ends on different cores, paired by round. Source: `results/tables/cells.csv` and "
        "`round_trips.csv`."
    )
    return pipe_table(
        columns,
        list(_placement_rows(facts, several=several)),
        caption,
        "tbl-placement",
        ["grouped"],
    )


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
            found = effect["ratio"]
            yield [
                *(head if index == 0 else [""] * len(head)),
                f"`{effect['placement']}`",
                significant(effect["here"]["median"] * factor),
                ratio(found["value"]),
                _placement_interval(found),
            ]


def _placement_interval(found: Facts) -> str:
    if found["low"] is None:
        return NONE
    if found["high"] > VAGUE_FACTOR * found["low"]:
        return VAGUE
    return span(found["low"], found["high"])


Table = tuple[list[Column], list[list[str]]]


def table_by_cell(
    cells: Sequence[Facts], titles: Sequence[str], fields: Callable[[Facts], list[str]]
) -> Table:
    """Return columns and rows: size, threads where there are several, implementation, and fields.

    Parameters
    ----------
    titles, fields
        Of the columns behind these, and what stands in them for a cell.
    """
    several = len({cell["n_threads"] for cell in cells}) > 1
    columns = [
        Column("Message"),
        *([Column("Threads", "right")] if several else []),
        Column("Implementation"),
        *(Column(title, "right") for title in titles),
    ]
    in_order = sorted(cells, key=lambda cell: (cell["msg_bytes"], cell["n_threads"]))
    rows = []
    for at, members in groupby(in_order, lambda cell: (cell["msg_bytes"], cell["n_threads"])):
        for index, cell in enumerate(members):
            head = [size(at[0]), *([str(at[1])] if several else [])]
            start = head if index == 0 else [""] * len(head)
            rows.append([*start, impl(cell["implementation"]), *fields(cell)])
    return columns, rows


def median(found: Facts | None, scale: float = 1.0) -> str:
    """Return a median in words, a mark where there is none."""
    return significant(found["median"] * scale) if found else NONE


_LEVELS = {"l1": "L1d", "l2": "L2", "llc": "last level", "dram": "memory"}


def memory_rows(memory: Mapping[str, Any]) -> list[list[str]]:
    """Return level, working set and cost, without the levels that the host does not tell."""
    found = {name: memory["levels"][level] for level, name in _LEVELS.items()}
    return [
        [name, size(level["bytes"]), significant(level["ns_per_byte"])]
        for name, level in found.items()
        if level
    ]


def missing_rows(conditions: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Return what failed and what was skipped, in Markdown.

    Columns: condition, what became of it, number of repetitions, implementations, sizes, thread
    counts, reason and what helps.
    """
    return [
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


def aside_rows(set_aside: Mapping[str, Any]) -> list[list[str]]:
    """Return why files were set aside, how many, the last of them and when [UTC], in Markdown."""
    return [
        [escape(one["why"]), str(one["n"]), code(one["file"]), one["at"].replace("T", " ")[:16]]
        for one in set_aside["reasons"]
    ]


def inside_and_outside(facts: Facts) -> tuple[list[Column], list[list[str]]]:
    """Return a row per curve and guest: CPU from the least to the most of its points.

    Parameters
    ----------
    facts
        Of a study whose curves have `guests`, see `copycost.studies.shared_facts.spans`.
    """
    titles = ("Processes", "Guest", "QEMU", "Overhead", "Waiting, at most")
    columns = [Column("Where"), Column("Side"), *(Column(title, "right") for title in titles)]
    rows = []
    for curve in facts["curves"]:
        for one in curve["guests"]["spans"] if curve["guests"] else ():
            of, waited = one["of"], one["most"]["vcpu_waiting"]
            inside = [cpu_range(of[side]) for side in SIDES if side in of]
            rows.append(
                [
                    curve_name(curve, facts["section"]),
                    "both" if curve["guests"]["shared"] else one["side"],
                    " + ".join(inside),
                    *(_known(of[name]) for name in ("guest", "hypervisor", "overhead")),
                    NOT_KNOWN if waited is None else cpu(waited),
                ]
            )
    return columns, rows


def _known(of: Facts | None) -> str:
    return NOT_KNOWN if of is None else cpu_range(of)


def run_rows(facts: Mapping[str, Any]) -> list[list[str]]:
    """Return (what, value) rows in Markdown."""
    run, tools = facts["run"], facts["host"]["tools"]
    rows = [
        ("Measured", _when(run)),
        ("Repetitions", _repetitions(run)),
        ("Time in windows", _time(run)),
        ("Commit", _list(run["commits"], "not known: not run from a clone with its history")),
        ("Host facts (SHA-256)", _list(run["host_digests"], "none")),
        *_programs(run),
        ("Tools", ", ".join(_tool(name, facts) for name, facts in tools.items() if facts["path"])),
        ("Software", ", ".join(f"{name} {version}" for name, version in run["versions"].items())),
    ]
    return [[name, value] for name, value in rows]


def _programs(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a row for each compiler with its flags: the programs and what their sources hash to."""
    builds = {f"sender {code(name)}": built for name, built in run["sender_builds"].items()}
    found: dict[str, list[str]] = {}
    for program, built in (builds | {"receiver": run["receiver_builds"]}).items():
        for build in built:
            source, _, compiler = build.removeprefix("source ").partition(", ")
            found.setdefault(compiler, []).append(f"{program} {code(source[:_DIGITS])}")
    for compiler, programs in found.items():
        yield "Programs (source)", f"{join_and(programs)}: {code(compiler)}"


def commit_only(commit: str) -> str:
    """Return a commit's hash without a mark such as ``-dirty`` or ``+changes`` behind it."""
    return commit.split("-")[0].split("+")[0].split(" ")[0]


def _when(run: Mapping[str, Any]) -> str:
    if not run["started_at"]:
        return "nothing was measured"
    first, last = (escape(run[key])[:19].replace("T", " ") for key in ("started_at", "finished_at"))
    return f"first repetition {first}, last {last} (UTC)"


def _repetitions(run: Mapping[str, Any]) -> str:
    return (
        f"{run['n_repetitions']} of {plural(run['n_cells'], 'cell')}: {run['n_measured']} "
        f"measured, {run['n_failed']} failed, {run['n_skipped']} skipped"
    )


def _time(run: Mapping[str, Any]) -> str:
    return f"{duration(run['measured_s'])}, of {duration(run['wall_s'])} for all repetitions"


def _list(values: Iterable[str], otherwise: str) -> str:
    found = list(values)
    return join_and(code(value) for value in found) if found else otherwise


def _tool(name: str, facts: Mapping[str, Any]) -> str:
    said = escape(facts["version"] or "version not found")
    return said if said.startswith(name) else f"{escape(name)} {said}"


_DIGITS = 12
"""So much of a digest tells two sources of a run apart; the records have all of it."""

_ROWS_OF_A_PAGE = 45


def ranking_table(condition: Mapping[str, Any]) -> str:
    """Return the ranking of a condition in Markdown, a row per size and implementation."""
    ranking = condition["ranking"]
    with_floor = has_floor(condition)
    columns = [
        Column("Message"),
        Column("Place", "right"),
        Column("Implementation"),
        Column(f"{ranking['unit']} per byte", "right"),
        Column("interval", "right"),
        *([Column("copies", "right")] if with_floor else []),
        Column("n", "right"),
    ]
    whose = "the sender alone" if ranking["side"] == "sender" else "both sides together"
    threads = plural(ranking["n_threads"], "thread")
    caption = (
        f"Implementations on {place(condition)} by {ranking['label']} per byte "
        f"({whose}, {threads}): median, interval"
        f"{', multiple of a plain copy' if with_floor else ''}, n repetitions. "
        f"Source: `results/facts.json`.{note_of(condition['labels'])}"
    )
    rows = list(_rows(condition, with_floor))
    return pipe_table(columns, rows, caption, f"tbl-{slug(condition['slug'])}-ranking", ["grouped"])


def _rows(condition: Mapping[str, Any], with_floor: bool) -> Iterator[list[str]]:
    sizes, labels = condition["ranking"]["sizes"], condition["labels"]
    is_long = sum(len(at["rows"]) for at in sizes) > _ROWS_OF_A_PAGE
    for at in sizes:
        for i, row in enumerate(at["rows"]):
            yield [
                size(at["msg_bytes"]) if is_long or not i else "",
                _place(row),
                marked(row["implementation"], labels),
                significant(row["median"]),
                _interval(row),
                *([_multiple(row["floor_ratio"])] if with_floor else []),
                str(row["n"]),
            ]


def _place(row: Mapping[str, Any]) -> str:
    low, high = row.get("place_low", row["rank"]), row.get("place_high", row["rank"])
    return str(low) if low == high else f"{low} to {high}"


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return NONE
    if row["high"] > VAGUE_FACTOR * row["low"]:
        return VAGUE
    return f"{significant(row['low'])} to {significant(row['high'])}"


def _multiple(value: float | None) -> str:
    return NONE if value is None else ratio(value)


def published_runs(runs: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Return of each published run what is beside it here, and the ratios of throughput."""
    return [
        [
            escape(run["title"]),
            impl(run["testbed"]) + ("" if run["same_path"] else ", another path"),
            spans_of_ratios(run["ratios"]) if run["ratios"] else "no cell in common",
        ]
        for run in runs
    ]


def published_rows(runs: Iterable[Mapping[str, Any]]) -> list[list[str]]:
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
    return rows


def spans_of_ratios(ratios: Iterable[Mapping[str, Any]]) -> str:
    """Return ratios of each implementation: ``0.89 to 1.19 with `one_copy` (5 cells) and ...``."""
    return join_and(
        f"{_span(one)} with {impl(one['implementation'])} ({plural(one['n_cells'], 'cell')})"
        for one in ratios
    )


def _span(one: Mapping[str, Any]) -> str:
    return ratio(one["median"]) if one["n_cells"] == 1 else span(one["low"], one["high"])


def along_sizes(found: Mapping[str, Any]) -> str:
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
