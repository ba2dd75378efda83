"""The tables of the chapter on where the CPU time goes: columns, and rows in Markdown."""

from collections.abc import Sequence

from copycost.studies.shared_tables import cell_name, load_name
from copycost.wording.filters import impl, percent, significant, size
from copycost.wording.markdown import Table, code, identifier, listing, tabulate
from copycost.wording.number_sources import prints
from copycost.wording.values import Facts, in_cell, with_ends
from copycost.wording.words import party

_NAMED = 2  # parts of a change in one cell of a table
_ENDS = ("before", "after")
_SOURCES = {
    "timer": "the kernel's timer (`cpu-clock`), which takes no samples while interrupts are off",
    "hardware": "the processor's cycle counter (`cycles`)",
    "mixed": "the cycle counter in some repetitions and the kernel's timer in others",
}


def changes(differences: Sequence[Facts]) -> Table:
    """Return what the CPU time per KiB came to, and most of what changed, a row per difference."""

    def cost(one: Facts) -> str:
        return ", ".join(significant(one["account"][end]) for end in _ENDS)

    return tabulate(
        differences,
        {
            "Where": load_name,
            "From, to": lambda one: ", ".join(impl(one[end]) for end in _ENDS),
            ">CPU time [ns/KiB]": cost,
            ">Change": lambda one: _change(one["account"]["change"]),
            ">Without sampling": lambda one: _change(one["account"]["unsampled"]),
            "Grew": lambda one: _parts(one["account"]["parts"], "grew"),
            "Shrank": lambda one: _parts(one["account"]["parts"], "shrank"),
            ">Unexplained": lambda one: _signed(one["account"]["unexplained"]),
        },
    )


def _parts(parts: Sequence[Facts], group: str) -> str:
    """Return the largest parts of a group: ``deferred copy +185, notification +20``."""
    found = [(one["title"], one["change"]["value"]) for one in parts if one["group"] == group]
    if len(found) > _NAMED:
        found[_NAMED:] = [("others", sum(mean for _, mean in found[_NAMED:]))]
    return ", ".join(f"{title} {_signed(mean)}" for title, mean in found)


@prints
def _signed(value: float) -> str:
    text = significant(abs(value))
    if not text.strip("0."):
        return "0"
    return f"{'+' if value > 0 else chr(0x2212)}{text}"


def _change(change: Facts | None) -> str:
    """Return a change with its interval: ``+185 (+178 to +192)``."""
    return with_ends(change["value"], change["low"], change["high"], _signed) if change else ""


def samples(profile: Facts) -> Table:
    """Return how the samples were taken and how complete they are, a row per quantity."""
    sampling, overhead = profile["sampling"], profile["overhead"]

    def agreement(name: str) -> str:
        if (found := sampling[name]) is None:
            return ""
        return with_ends(found["median"], found["least"], found["most"], percent)

    def most(name: str) -> str:
        found = profile[name]
        if not found or not found["share"]:
            return ""
        return f"{percent(found['share'])} ({party(found['side'])} of {cell_name(found)})"

    counted = "CPU time of the samples{}, as a share of that counted"
    return listing(
        [
            ("Sampled by", _SOURCES[sampling["source"]]),
            ("Samples per second of CPU time", f"{sampling['frequency_hz']:,}"),
            ("Samples taken; lost", f"{sampling['n_samples']:,}; {sampling['n_lost']:,}"),
            ("Repetitions whose last sample was cut off", f"{sampling['n_truncated'] or ''}"),
            (counted.format(""), agreement("timer_agreement")),
            (counted.format(" in guests"), agreement("guest_agreement")),
            ("Throughput with sampling over that without", overhead and in_cell(overhead, "ratio")),
            ("Samples in functions that no list names, at most", most("uncategorised")),
            ("Samples in BPF programs and probes of others, at most", most("tracing")),
        ]
    )


def functions(found: Facts) -> Table:
    """Return the functions that change most from one implementation to another."""
    return tabulate(
        found["functions"],
        {
            "Side": lambda row: party(row["side"]),
            "Function": lambda row: code(row["name"]),
            f">{impl(found['before'])}": lambda row: significant(row["before"]),
            f">{impl(found['after'])}": lambda row: significant(row["after"]),
            ">Change": lambda row: _change(row["change"]),
        },
    )


def way(cells: Sequence[Facts]) -> Table:
    """Return the parts of the way of a message, a column per cell; copies are in bold."""
    ways = [{part["place"]: part for part in cell["way"]} for cell in cells]
    places = {place: part for its in ways for place, part in its.items()}
    rows = [
        [
            ", ".join([part["title"], *([party(part["party"])] if part["party"] else [])]),
            *(_part_of_way(its.get(place)) for its in ways),
        ]
        for place, part in sorted(places.items())
    ]
    return ["Part of the path", *(f">{impl(cell['implementation'])}" for cell in cells)], rows


def _part_of_way(part: Facts | None) -> str:
    if part is None:
        return ""
    text = significant(part["ns_per_kib"]["median"])
    if not text.strip("0."):
        return "0"
    bold = "**" if part["copied"] else ""
    return f"{bold}{text}{bold} ({code(part['function'])})"


def chains(found: Facts) -> Table:
    """Return published call chains with ours, a row per chain."""

    def title(cell: Facts) -> str:
        name = impl(cell["implementation"]) + (f" ({cell['label']})" if cell["label"] else "")
        return f">{name}, {size(cell['msg_bytes'])}"

    def counterpart(ours: Facts, published: str) -> str:
        if ours["cpus"] is None:
            return "none"
        name = "" if ours["seen_as"] == published else f" ({code(ours['seen_as'])})"
        return f"{percent(ours['cpus']['median'])}{name}"

    columns = ["Side", "Function, within the one above", ">Published"]
    rows = []
    for row in found["rows"]:
        *callers, function = row["call_path"]
        # a function that calls another stands above it, with a dash less
        name = "\N{EN DASH} " * len(callers) + code(function)
        ours = [counterpart(one, function) for one in row["ours"]]
        rows.append([party(row["side"]), name, percent(row["published_cpus"]), *ours])
    return [*columns, *map(title, found["cells"])], rows


def chains_id(found: Facts) -> str:
    """Return the id of the table of published chains."""
    named = (found[name] for name in ("condition", "protocol", "n_threads", "msg_bytes"))
    return identifier("tbl-profile-chains", *(part for part in named if part))
