"""The tables of the chapter on where the CPU time goes: columns, and rows in Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from copycost.report.markdown import Column, code, slug
from copycost.report.study_values import in_cell
from copycost.wording.filters import impl, percent, sentence, significant, size, span

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

_EXTRA_WORK = {
    "pinning": "pinning pages",
    "notification": "notifications",
    "deferred_copy": "the deferred copy",
}
# a function that calls another stands above it, with a dash less
_INDENT = "\N{EN DASH} "


def price(difference: Facts) -> Table:
    """Return what zero-copy pays for and what it spares, a row per kind of work."""
    columns = [
        Column("What"),
        Column("CPU time per KiB [ns]", "right"),
        Column("of all its CPU time", "right"),
    ]
    found = difference["price"]
    rows = [
        [_EXTRA_WORK[part["name"]], in_cell(part["cost"], "significant"), _share(part)]
        for part in found["parts"]
    ]
    rows += [
        ["paid: all of that", in_cell(found["paid"], "significant"), ""],
        ["spared: copying in the sender", in_cell(found["spared"], "significant"), ""],
        ["paid less spared", _signed(found["balance"]), ""],
    ]
    return columns, rows


def price_id(difference: Facts) -> str:
    """Return the id of the table of a price."""
    return f"tbl-profile-price-{slug(difference['slug'])}"


def _share(part: Facts) -> str:
    text = percent(part["share"])
    return text if part["in_every_round"] else f"{text}, not seen in every round"


def categories(cell: Facts) -> Table:
    """Return what each side of a cell does, a row per category."""
    columns = [Column("What")]
    for side in cell["sides"]:
        columns.append(Column(f"{sentence(side)}\N{RIGHT SINGLE QUOTATION MARK}s samples", "right"))
        columns.append(Column("of a CPU", "right"))
    rows = [[row["title"], *_both_shares(row, cell)] for row in cell["category_rows"]]
    return columns, rows


def _both_shares(row: Facts, cell: Facts) -> Iterator[str]:
    for side in cell["sides"]:
        found = row["sides"].get(side)
        yield in_cell(found["share"], "percent") if found else percent(0)
        yield percent(found["cpus"]["median"] if found else 0)


def categories_id(cell: Facts) -> str:
    """Return the id of the table of a cell."""
    return f"tbl-profile-{slug(cell['slug'])}"


def difference(side: Facts, titles: Mapping[str, str]) -> Table:
    """Return the functions of a side that changed most, what grew most first."""
    columns = [
        Column("Function"),
        Column("Category"),
        Column("Before", "right"),
        Column("After", "right"),
        Column("Change", "right"),
    ]
    rows = [
        [
            code(row["name"]),
            titles[row["category"]],
            significant(row["before"], 2),
            significant(row["after"], 2),
            _signed(row["change"]),
        ]
        for row in [*side["grew"], *reversed(side["shrank"])]
    ]
    return columns, rows


def difference_id(found: Facts, side: str) -> str:
    """Return the id of the table of one side of a difference."""
    return f"tbl-profile-difference-{slug(found['slug'])}-{side}"


def chains(found: Facts) -> Table:
    """Return published call chains with ours, a row per chain."""
    columns = [
        Column("Side"),
        Column("Function, within the one above"),
        Column("Published", "right"),
        *(Column(_cell_title(cell, found["labels"]), "right") for cell in found["cells"]),
    ]
    rows = [
        [
            row["side"],
            _INDENT * (len(row["call_path"]) - 1) + code(row["call_path"][-1]),
            percent(row["published_cpus"]),
            *(
                "no counterpart" if ours["cpus"] is None else in_cell(ours["cpus"], "percent")
                for ours in row["ours"]
            ),
        ]
        for row in found["rows"]
    ]
    return columns, rows


def _cell_title(cell: Facts, labels: Mapping[str, str]) -> str:
    label = labels.get(cell["implementation"])
    name = impl(cell["implementation"])
    return f"{name}{f' ({label})' if label else ''}, {size(cell['msg_bytes'])}"


def chains_id(found: Facts) -> str:
    """Return the id of the table of published chains."""
    parts = [found["condition"], found["protocol"], found["n_threads"]]
    if found["msg_bytes"]:
        parts.append(found["msg_bytes"])
    return f"tbl-profile-chains-{'-'.join(map(slug, parts))}"


def _signed(change: Facts) -> str:
    """Return a change in a cell of a table: ``+24 (+2.0 to +46)``."""
    if change["low"] is None:
        return _plus(change["mean"])
    return f"{_plus(change['mean'])} ({span(change['low'], change['high'], _plus)})"


def _plus(value: float) -> str:
    return f"{'+' if value > 0 else ''}{significant(value, 2)}"
