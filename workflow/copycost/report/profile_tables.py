"""The tables of the chapter on where the CPU time goes: columns, and rows in Markdown."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from copycost.hosts.side import SIDES
from copycost.report.markdown import Column, code, slug
from copycost.report.study_values import in_cell
from copycost.studies.profile.functions import UNCATEGORISED
from copycost.wording.filters import impl, percent, sentence, size, span
from copycost.wording.parties import party
from copycost.wording.plurals import plural

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

# a function that calls another stands above it, with a dash less
_INDENT = "\N{EN DASH} "


def account(found: Facts) -> Table:
    """Return what a difference is made of, a row per kind of work; the rows add up to the last."""
    made = found["account"]
    columns = [
        Column("Own CPU time per KiB [ns]"),
        *(Column(impl(found[end]), "right") for end in ("before", "after")),
        Column("Change", "right"),
    ]
    write = _alike([made["before"], made["after"]])
    rows = []
    for group in ("grew", "shrank"):
        rows += [
            _account_row(part["title"], part, part["change"], write)
            for part in made[group]["parts"]
        ]
        if len(made[group]["parts"]) > 1:
            rows.append(_account_row(f"*{group}: all of these*", made[group], None, write))
    if made["open"]["n"]:
        kinds = plural(made["open"]["n"], "other kind")
        rows.append(_account_row(f"*{kinds} of work, change open*", made["open"], None, write))
    rows.append(_account_row("*functions that no list names*", made["unnamed"], None, write))
    rows.append(_account_row("**all CPU time**", made, made["change"], write))
    return columns, rows


def account_id(found: Facts) -> str:
    """Return the id of the table of an account."""
    return f"tbl-profile-account-{slug(found['slug'])}"


def _account_row(
    title: str, row: Facts, change: Facts | None, write: Callable[[float], str]
) -> list[str]:
    def signed(value: float) -> str:
        text = write(value)
        return f"+{text}" if value > 0 and text.strip("0.") else text

    text = signed(row["after"] - row["before"])
    if change is not None and change["low"] is not None:
        text += f" ({span(change['low'], change['high'], signed)})"
    return [title, write(row["before"]), write(row["after"]), text]


def _alike(values: Sequence[float]) -> Callable[[float], str]:
    """Return how to write numbers that are added up: with as many decimals as the largest has."""
    decimals = max(0, 2 - math.floor(math.log10(max(values))))

    def write(value: float) -> str:
        text = f"{abs(value):.{decimals}f}"
        return f"\N{MINUS SIGN}{text}" if value < 0 and text.strip("0.") else text

    return write


def categories(cell: Facts) -> Table:
    """Return what each side of a cell does, a row per category."""
    columns = [Column("What")]
    sides = [side for side in SIDES if side in cell["sides"]]
    for side in sides:
        columns.append(Column(f"{sentence(side)}\N{RIGHT SINGLE QUOTATION MARK}s samples", "right"))
        columns.append(Column("of a CPU", "right"))
    rows = [
        [row["title"], *_both_shares(row, sides)]
        for row in cell["category_rows"]
        if row["name"] == UNCATEGORISED or row["sides"].keys() & set(sides)
    ]
    return columns, rows


def around(cell: Facts) -> Table:
    """Return what is around the sides of a cell, guests and hypervisors, a row per category."""
    parties = [name for name in cell["sides"] if name not in SIDES]
    columns = [Column("What"), *(Column(sentence(party(name)), "right") for name in parties)]
    rows = [
        [
            row["title"],
            *(
                in_cell(row["sides"][name]["share"], "percent")
                if name in row["sides"]
                else percent(0)
                for name in parties
            ),
        ]
        for row in cell["category_rows"]
        if row["sides"].keys() & set(parties)
    ]
    used = (in_cell(cell["sides"][name]["cpus"], "percent") for name in parties)
    return columns, [*rows, ["**of a CPU, all together**", *used]]


def around_id(cell: Facts) -> str:
    """Return the id of the table of what is around the sides of a cell."""
    return f"tbl-profile-around-{slug(cell['slug'])}"


def _both_shares(row: Facts, sides: Sequence[str]) -> Iterator[str]:
    for side in sides:
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
    write = _alike([side["before"], side["after"]])
    rows = []
    for row in [*side["grew"], *reversed(side["shrank"])]:
        name, *numbers = _account_row(code(row["name"]), row, row["change"], write)
        rows.append([name, titles[row["category"]], *numbers])
    if side["rest"]["n"]:
        others = plural(side["rest"]["n"], "other function")
        name, *numbers = _account_row(f"*{others}*", side["rest"], None, write)
        rows.append([name, "", *numbers])
    name, *numbers = _account_row("**all functions**", side, side["change"], write)
    rows.append([name, "", *numbers])
    return columns, rows


def difference_id(found: Facts, side: str) -> str:
    """Return the id of the table of one side of a difference."""
    return f"tbl-profile-difference-{slug(found['slug'])}-{slug(side)}"


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
            party(row["side"]),
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
