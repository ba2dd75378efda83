"""The tables of the chapter on where the CPU time goes: columns, and rows in Markdown."""

from collections.abc import Iterable, Mapping, Sequence

from copycost.studies.shared_tables import cell_name, load_name
from copycost.wording.filters import impl, percent, significant, size, span
from copycost.wording.markdown import Table, code, identifier, listing, tabulate
from copycost.wording.number_sources import prints
from copycost.wording.values import Facts, in_cell
from copycost.wording.words import party

# a function that calls another stands above it, with a dash less
_INDENT = "\N{EN DASH} "
_NAMED = 2  # parts of a change in one cell of a table
_ENDS = ("before", "after")
_SOURCES = {
    "timer": "the kernel's timer (`cpu-clock`), which takes no samples while interrupts are off",
    "hardware": "the processor's cycle counter (`cycles`)",
    "mixed": "the cycle counter in some repetitions and the kernel's timer in others",
}


def changes(differences: Sequence[Facts]) -> Table:
    """Return what the CPU time per KiB came to, and most of what changed, a row per difference."""

    def unsampled(one: Facts) -> str:
        found = one["account"]["unsampled"]
        return _change(found) if found else ""

    def ends(one: Facts) -> str:
        return ", ".join(significant(one["account"][end]) for end in _ENDS)

    return tabulate(
        differences,
        {
            "Where": load_name,
            "From, to": lambda one: ", ".join(impl(one[end]) for end in _ENDS),
            ">CPU time [ns/KiB]": ends,
            ">Change": lambda one: _change(one["account"]["change"]),
            ">Without sampling": unsampled,
            "Grew": lambda one: _parts(one["account"]["parts"], "grew"),
            "Shrank": lambda one: _parts(one["account"]["parts"], "shrank"),
            ">Unexplained": lambda one: _signed(one["account"]["unexplained"]),
        },
    )


def _parts(parts: Iterable[Facts], group: str) -> str:
    """Return the largest parts of a group: ``deferred copy +185, notification +20``."""
    found = [one for one in parts if one["group"] == group]
    texts = [f"{one['title']} {_signed(one['change']['mean'])}" for one in found[:_NAMED]]
    if len(found) > _NAMED:
        rest = sum(one["change"]["mean"] for one in found[_NAMED:])
        texts.append(f"others {_signed(rest)}")
    return ", ".join(texts)


@prints
def _signed(value: float) -> str:
    text = significant(abs(value))
    if not text.strip("0."):
        return "0"
    return f"{'+' if value > 0 else chr(0x2212)}{text}"


def _change(change: Facts) -> str:
    """Return a change with its interval: ``+185 (+178 to +192)``."""
    text = _signed(change["mean"])
    if change["low"] is None:
        return text
    return f"{text} ({span(change['low'], change['high'], _signed)})"


def samples(profile: Facts) -> Table:
    """Return how the samples were taken and how complete they are, a row per quantity."""
    sampling, overhead = profile["sampling"], profile["overhead"]
    rows = [
        ("Sampled by", _SOURCES[sampling["source"]]),
        ("Samples per second of CPU time", f"{sampling['frequency_hz']:,}"),
        ("Samples taken; lost", f"{sampling['n_samples']:,}; {sampling['n_lost']:,}"),
        ("Repetitions whose last sample was cut off", f"{sampling['n_truncated'] or ''}"),
    ]
    for name, title in (("timer_agreement", ""), ("guest_agreement", " in guests")):
        if found := sampling[name]:
            text = f"{percent(found['median'])} ({span(found['least'], found['most'], percent)})"
            rows.append((f"CPU time of the samples{title}, as a share of that counted", text))
    if overhead is not None:
        rows.append(("Throughput with sampling over that without", in_cell(overhead, "ratio")))
    if (most := profile["uncategorised"]) and most["share"]:
        rows.append(("Samples in functions that no list names, at most", _of_side(most)))
    if most := profile["tracing"]:
        rows.append(("Samples in BPF programs and probes of others, at most", _of_side(most)))
    return listing(rows)


def _of_side(most: Facts) -> str:
    return f"{percent(most['share'])} ({party(most['side'])} of {cell_name(most)})"


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
    columns = ["Part of the path", *(f">{impl(cell['implementation'])}" for cell in cells)]
    parts: dict[int, str] = {}
    for part in (part for cell in cells for part in cell["way"]):
        by = f", {party(part['party'])}" if part["party"] else ""
        parts[part["place"]] = part["title"] + by
    ways = [{part["place"]: part for part in cell["way"]} for cell in cells]
    rows = [
        [parts[place], *(_part_of_way(found.get(place)) for found in ways)]
        for place in sorted(parts)
    ]
    return columns, rows


def _part_of_way(part: Facts | None) -> str:
    if part is None:
        return ""
    text = significant(part["ns_per_kib"]["median"])
    if not text.strip("0."):
        return "0"
    if part["copied"]:
        text = f"**{text}**"
    return f"{text} ({code(part['function'])})" if part["function"] else text


def chains(found: Facts) -> Table:
    """Return published call chains with ours, a row per chain."""
    columns = [
        "Side",
        "Function, within the one above",
        ">Published",
        *(f">{_cell_title(cell, found['labels'])}" for cell in found["cells"]),
    ]
    rows = [
        [
            party(row["side"]),
            _INDENT * (len(row["call_path"]) - 1) + code(row["call_path"][-1]),
            percent(row["published_cpus"]),
            *(_counterpart(ours, row["call_path"][-1]) for ours in row["ours"]),
        ]
        for row in found["rows"]
    ]
    return columns, rows


def _counterpart(ours: Facts, published: str) -> str:
    if ours["cpus"] is None:
        return "none"
    other = ours["seen_as"] not in (None, published)
    name = f" ({code(ours['seen_as'])})" if other else ""
    return f"{percent(ours['cpus']['median'])}{name}"


def _cell_title(cell: Facts, labels: Mapping[str, str]) -> str:
    label = labels.get(cell["implementation"])
    name = impl(cell["implementation"])
    return f"{name}{f' ({label})' if label else ''}, {size(cell['msg_bytes'])}"


def chains_id(found: Facts) -> str:
    """Return the id of the table of published chains."""
    size_of = [found["msg_bytes"]] if found["msg_bytes"] else []
    named = (found["condition"], found["protocol"], found["n_threads"], *size_of)
    return identifier("tbl-profile-chains", *named)
