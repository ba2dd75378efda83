"""The tables of the chapter on simulated counts: columns, and rows in Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from copycost.figures.markers import in_order
from copycost.grid.variants import VARIANTS
from copycost.report import study_values
from copycost.report.answer_values import cache
from copycost.report.markdown import Column, code, escape, identifier
from copycost.report.study_values import Form
from copycost.studies.simulated.counts import LEVELS, MODES
from copycost.wording.filters import exact_size, impl, join_and, ratio, size, span
from copycost.wording.finite import finite
from copycost.wording.percent import NBSP
from copycost.wording.plurals import plural

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

_NAMES = {"l1d": "L1d", "l2": "L2", "llc": "Last level"}
_PAYERS = {
    "user": "the application",
    "kernel": "the kernel",
    "both": "both",
    "nobody": "nobody",
}
_FAILS, _TURNS = "\\*", "\\*\\*"


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


def carriers(functions: Iterable[Facts]) -> str:
    """Return functions with what they save: ``the application (2.00) and `memcpy` (0.50)``."""
    return join_and(f"{_function(one)} ({misses(abs(one['saved']))})" for one in functions)


def payers(rows: Iterable[Facts]) -> str:
    """Return who reads first: ``the kernel with `one_copy` and nobody with `zero_copy```."""
    return join_and(f"{_PAYERS[row['payer']]} with {impl(row['implementation'])}" for row in rows)


def _function(row: Facts) -> str:
    return "the application" if row["mode"] == "user" else code(row["function"])


VALUES: dict[str, Callable[..., str]] = {
    "misses": misses,
    "cache_levels": cache_levels,
    "ratios_of": ratios_of,
    "payers": payers,
}
"""Filters of the templates."""


_WHY = {
    ("both", ("beyond",)): "both together exceed {size}",
    ("both", ("displaced",)): "both would fit into {size}, but are displaced",
    ("both", ("from_memory", "beyond")): "source from memory; both together exceed {size}",
    ("both", ("from_memory", "displaced")): (
        "source from memory; target displaced, though both would fit into {size}"
    ),
    ("source", ("from_memory",)): "source from memory",
    ("source", ("beyond",)): "source, since both together exceed {size}",
    ("source", ("displaced",)): "source displaced, though both would fit into {size}",
    ("target", ("beyond",)): "target, since both together exceed {size}",
    ("target", ("displaced",)): "target displaced, though both would fit into {size}",
    ("neither", ()): "found, for the most part",
}
"""By what of a copy that is saved a level misses, and the reasons: see `Copy`."""


def savings_id(testbed: str) -> str:
    """Return the id of the table of what is saved on one testbed."""
    return identifier("tbl-simulated-saved", testbed)


def savings(conditions: Sequence[Facts]) -> Table:
    """Return what each way to send changes most, and where, a row per source and way."""
    columns = [
        Column("Message"),
        Column("With"),
        Column("Level"),
        Column("Saved per line", "right"),
        Column("In which functions"),
        Column("Holds under"),
    ]
    rows = [
        [one["working_set"], code(saving["implementation"]), *_most_saved(saving)]
        for one in conditions
        for saving in one["savings"]
    ]
    return columns, rows


def _most_saved(saving: Facts) -> list[str]:
    most = saving["most"]
    if most is None:
        return [f"none{NBSP}changes", "---", "---", "---"]
    saved, before = misses(abs(most["saved"])), misses(most["before"])
    of = f"more{NBSP}than" if saving["verdict"] == "rises" else "of"
    return [_level(most), f"{saved} {of}{NBSP}{before}", _carried(saving), _held(saving)]


def _level(most: Facts) -> str:
    """Return a level and its size, which no line parts: ``L1d at 48 KiB``."""
    return f"{_NAMES[most['level']]}{NBSP}at{NBSP}{exact_size(most['msg_bytes'])}"


def reasons(conditions: Sequence[Facts]) -> Table:
    """Return what the level that falls most misses of the copies that are saved, and why."""
    columns = [
        Column("Where"),
        Column("With"),
        Column("Level"),
        Column("Of the application's copy"),
        Column("Of the kernel's copies"),
    ]
    rows = [
        [
            f"{code(one['testbed'])}, {one['working_set']}",
            code(saving["implementation"]),
            _level(saving["most"]),
            *(_why(saving["most"]["copies"][mode]) for mode in MODES),
        ]
        for one in conditions
        for saving in one["savings"]
        if saving["verdict"] == "falls"
    ]
    return columns, rows


def _why(copy: Facts | None) -> str:
    if copy is None:
        return "---"
    return _WHY[copy["misses"], tuple(copy["reasons"])].format(size=size(copy["size_bytes"]))


def _held(saving: Facts) -> str:
    """Return under how many changes a conclusion holds, of those that its cell was tried with."""
    tried = saving["tried"]
    found = f"{tried['n_holding']} of {tried['n']}" if tried["n"] else "not tried"
    return found.replace(" ", NBSP)


def _carried(saving: Facts) -> str:
    """Return the functions that carry a difference; those with more misses are called so."""
    fewer, more = (
        [one for one in saving["functions"] if one["carries"] == way] for way in ("fewer", "more")
    )
    found = [carriers(fewer)] if fewer else []
    found += [f"more in {carriers(more)}"] if more else []
    return "; ".join(found) or "none has a tenth of it"


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
            names = [_function(row), escape(row["title"])]
        rows.append([*names, *(_change(row["before"][one], row["after"][one]) for one in LEVELS)])
    return columns, rows


def _change(before: float, after: float) -> str:
    first, last = misses(before), misses(after)
    return first if first == last else f"{first} \N{RIGHTWARDS ARROW} {last}"


def functions_id(condition: Facts, saving: Facts) -> str:
    """Return the id of the table of one way to send under one condition."""
    parts = (condition["testbed"], condition["working_set"], saving["implementation"])
    return identifier("tbl-simulated", *parts)


def levels_id(condition: Facts) -> str:
    """Return the id of the table of all misses under one condition."""
    return identifier("tbl-simulated-levels", condition["testbed"], condition["working_set"])


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


def instructions_id(testbed: str) -> str:
    """Return the id of the table of instructions on one testbed."""
    return identifier("tbl-simulated-instructions", testbed)


def instructions(rows: Sequence[Facts]) -> Table:
    """Return instructions per message, user / kernel, a row per source and size."""
    names = in_order(one["implementation"] for one in rows)
    columns = [
        Column("Message"),
        Column("Size", "right"),
        *(Column(code(name), "right") for name in names),
    ]
    cells: dict[tuple[str, int], dict[str, str]] = {}
    for one in rows:
        at = cells.setdefault((one["working_set"], one["msg_bytes"]), {})
        at[one["implementation"]] = f"{one['user']:,.0f} / {one['kernel']:,.0f}"
    return columns, [
        [working_set, exact_size(size_), *(at.get(name, "") for name in names)]
        for (working_set, size_), at in cells.items()
    ]


def sensitivity_id(condition: Facts) -> str:
    """Return the id of the table of one condition's conclusions with something changed."""
    return identifier("tbl-simulated-changed", condition["testbed"], condition["working_set"])


def sensitivity(facts: Facts, conclusions: Sequence[Facts]) -> Table:
    """Return what is saved, a column per conclusion and a row per change."""
    columns = [
        Column("With"),
        *(
            Column(f"{code(one['implementation'])}, {exact_size(one['msg_bytes'])}", "right")
            for one in conclusions
        ),
    ]
    plain = ["nothing changed", *(_saved(one["saved"]) for one in conclusions)]
    rows = [
        [variant["change"], *(_changed(one, variant["name"]) for one in conclusions)]
        for variant in facts["sensitivity"]["variants"]
    ]
    return columns, [plain, *rows]


def _saved(saved: Mapping[str, float]) -> str:
    return " / ".join(misses(saved[level]) for level in LEVELS)


def _changed(conclusion: Facts, name: str) -> str:
    for tried in conclusion["variants"]:
        if tried["name"] == name:
            mark = _TURNS if not tried["keeps_level"] else "" if tried["survives"] else _FAILS
            return _saved(tried["saved"]) + mark
    return ""


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
            *(_known(row, level) for level in row["levels"]),
        ]
        for row in found["walks"]
    ]
    return columns, rows


def _known(walk: Facts, level: Facts) -> str:
    known, counted = (_walked(walk, level[kind]) for kind in ("expected", "counted"))
    return known if counted == known else f"{known} \N{RIGHTWARDS ARROW} {counted}"


def _walked(walk: Facts, lines: Facts) -> str:
    """Return the lines that miss; of a copy also the stores among them."""
    names = ("misses", "store_misses")
    shown = names if walk["pattern"] == "copy" else names[:1]
    return " / ".join(f"{lines[name]:,}" for name in shown)


def losses(facts: Facts) -> Table:
    """Return what was not counted, a row per reason."""
    about: dict[str, tuple[str, Form]] = {
        "testbed": ("Testbed", code),
        "implementation": ("With", code),
        "msg_bytes": ("Sizes", exact_size),
        "variant": ("Changed", lambda name: VARIANTS[name].change),
    }
    return study_values.losses_table(facts["losses"], about)
