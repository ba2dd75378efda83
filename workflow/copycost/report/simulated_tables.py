"""The tables of the chapter on simulated counts: columns, and rows in Markdown."""

from collections.abc import Iterable, Mapping
from typing import Any

from copycost.report import study_values
from copycost.report.answer_values import cache
from copycost.report.markdown import Column, code, escape, slug
from copycost.report.study_values import Form
from copycost.studies.simulated.counts import LEVELS
from copycost.wording.filters import exact_size, join_and, ratio, size, span
from copycost.wording.finite import finite
from copycost.wording.plurals import plural

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

_NAMES = {"l1d": "L1d", "l2": "L2", "llc": "Last level"}


def misses(value: float) -> str:
    """Return misses per line: ``2.02``, never less than nothing."""
    text = f"{finite(value):.2f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def cache_levels(caches: Facts) -> str:
    """Return the levels in words: ``the L1 data cache of 32 KiB in 8 ways and ...``."""
    return join_and(
        f"{cache(level)} of {size(caches[level]['size_bytes'])} in "
        f"{plural(caches[level]['ways'], 'way')}"
        for level in LEVELS
    )


def ratios_of(values: Iterable[float]) -> str:
    """Return the span of some ratios: ``0.91 to 1.20``."""
    found = list(values)
    return span(min(found), max(found))


VALUES = {"misses": misses, "cache_levels": cache_levels, "ratios_of": ratios_of}
"""Filters of the templates."""


def functions(saving: Facts) -> Table:
    """Return the functions that carry a difference, with misses per line before and after."""
    columns = [
        Column("Function"),
        Column("What it does"),
        *(Column(_NAMES[level], "right") for level in LEVELS),
    ]
    rows = []
    for row in saving["functions"]:
        if row["function"] is None:
            if not row["n"]:
                continue
            names = [f"{plural(row['n'], 'other function')}", ""]
        else:
            in_user = row["mode"] == "user"
            names = ["the application" if in_user else code(row["function"]), escape(row["title"])]
        rows.append([*names, *(_change(row["before"][one], row["after"][one]) for one in LEVELS)])
    return columns, rows


def _change(before: float, after: float) -> str:
    first, last = misses(before), misses(after)
    return first if first == last else f"{first} \N{RIGHTWARDS ARROW} {last}"


def functions_id(condition: Facts, saving: Facts) -> str:
    """Return the id of the table of one way to send under one condition."""
    parts = (condition["testbed"], condition["working_set"], saving["implementation"])
    return f"tbl-simulated-{'-'.join(map(slug, parts))}"


def levels(condition: Facts) -> Table:
    """Return misses per line by implementation, a row per size, L1d / L2 / last level."""
    cells = {
        (one["implementation"], one["msg_bytes"], one["level"]): one["total"]
        for one in condition["misses"]
    }
    names = condition["implementations"]
    columns = [Column("Size", "right"), *(Column(code(name), "right") for name in names)]
    rows = [
        [exact_size(size_), *(_three(cells, name, size_) for name in names)]
        for size_ in condition["sizes"]
    ]
    return columns, rows


def _three(cells: Mapping[tuple[str, int, str], float], name: str, msg_bytes: int) -> str:
    values = [cells.get((name, msg_bytes, level)) for level in LEVELS]
    return " / ".join("" if value is None else misses(value) for value in values)


def sensitivity(facts: Facts) -> Table:
    """Return each conclusion with its span over the changes, and under how many it holds."""
    columns = [
        Column("Where"),
        Column("With"),
        Column("Size", "right"),
        *(Column(_NAMES[level], "right") for level in LEVELS),
        Column("Holds under", "right"),
    ]
    rows = [
        [
            f"{code(one['testbed'])}, {one['working_set']}",
            code(one["implementation"]),
            exact_size(one["msg_bytes"]),
            *(_spread(one, level) for level in LEVELS),
            f"{sum(tried['survives'] for tried in one['variants'])} of {len(one['variants'])}",
        ]
        for one in facts["sensitivity"]["conclusions"]
    ]
    return columns, rows


def _spread(conclusion: Facts, level: str) -> str:
    values = [tried["saved"][level] for tried in conclusion["variants"]]
    found = span(min(values), max(values), misses)
    return f"{misses(conclusion['saved'][level])} ({found})"


def beside(found: Facts) -> Table:
    """Return misses of loads, simulated and counted, a row per cell and level."""
    columns = [
        Column("Where"),
        Column("With"),
        Column("Size", "right"),
        Column("Level"),
        Column("Simulated", "right"),
        Column("Counted", "right"),
        Column("Ratio", "right"),
    ]
    rows = [
        [
            f"{code(row['testbed'])}, {row['working_set']}",
            code(row["implementation"]),
            exact_size(row["msg_bytes"]),
            _NAMES[row["level"]],
            misses(row["simulated"]),
            misses(row["measured"]["median"]),
            ratio(row["ratio"]),
        ]
        for row in found["misses"]
    ]
    return columns, rows


def walks(found: Facts) -> Table:
    """Return each walk with the lines that miss, as known, and as counted where that differs."""
    columns = [
        Column("Walk"),
        Column("Buffer", "right"),
        Column("Lines", "right"),
        *(Column(_NAMES[level], "right") for level in LEVELS),
    ]
    rows = [
        [
            row["pattern"],
            exact_size(row["bytes"]),
            f"{row['lines']:,}",
            *(_known(level["expected"], level["counted"]) for level in row["levels"]),
        ]
        for row in found["walks"]
    ]
    return columns, rows


def _known(expected: int, counted: int) -> str:
    known = f"{expected:,}"
    return known if counted == expected else f"{known} \N{RIGHTWARDS ARROW} {counted:,}"


def losses(facts: Facts) -> Table:
    """Return what was not counted, a row per reason."""
    about: dict[str, tuple[str, Form]] = {
        "testbed": ("Testbed", code),
        "implementation": ("With", code),
        "msg_bytes": ("Sizes", exact_size),
    }
    return study_values.losses_table(facts["losses"], about)


def failing(variants: Iterable[Facts]) -> list[Facts]:
    """Return the changes under which a conclusion fails."""
    return [one for one in variants if one["n_surviving"] < one["n"]]
