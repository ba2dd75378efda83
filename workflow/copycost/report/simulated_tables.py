"""The tables of the chapter on simulated counts: columns, and rows in Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from copycost.figures.markers import in_order
from copycost.report.markdown import Table, code
from copycost.report.values import Facts, cache
from copycost.studies.simulated.counts import LEVELS, MODES
from copycost.wording.filters import exact_size, join_and, percent, size, span
from copycost.wording.numbers import NBSP, finite
from copycost.wording.words import plural

_NAMES = {"l1d": "L1d", "l2": "L2", "llc": "Last level"}
_COPIES = {"user": "application", "kernel": "kernel"}


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


VALUES: dict[str, Callable[..., str]] = {"misses": misses, "cache_levels": cache_levels}
"""Filters of the templates."""


_WHY = {
    ("both", ("beyond",)): "both (over {size})",
    ("both", ("displaced",)): "both (displaced)",
    ("both", ("from_memory", "beyond")): "source (memory), target (over {size})",
    ("both", ("from_memory", "displaced")): "source (memory), target (displaced)",
    ("source", ("from_memory",)): "source (memory)",
    ("source", ("beyond",)): "source (over {size})",
    ("source", ("displaced",)): "source (displaced)",
    ("target", ("beyond",)): "target (over {size})",
    ("target", ("displaced",)): "target (displaced)",
    ("neither", ()): "mostly hits",
}
"""By what of a copy that is saved a level misses, and the reasons: see `Copy`."""


def savings(conditions: Sequence[Facts]) -> Table:
    """Return what each way to send changes most, where and why, a row per place and way."""
    columns = [
        "Where",
        "With",
        "Level",
        ">Saved per line",
        "Functions",
        "Not in the cache",
        "Changes survived",
    ]
    rows = [
        [f"{code(one['testbed'])}, {one['working_set']}", _with(saving), *_most_saved(saving)]
        for one in conditions
        for saving in one["savings"]
    ]
    return columns, rows


def _with(saving: Facts) -> str:
    """Return a way to send; of one that asks for no copy, how much was copied after all."""
    name = code(saving["implementation"])
    if not saving["asks_for_none"]:
        return name
    share = saving["copied_share"]
    return f"{name}, {'copies not reported' if share is None else f'{percent(share)} copied'}"


def _most_saved(saving: Facts) -> list[str]:
    most = saving["most"]
    if most is None:
        return [f"none{NBSP}changes", *[""] * 4]
    saved, before = misses(abs(most["saved"])), misses(most["before"])
    of = "more than" if saving["verdict"] == "rises" else "of"
    level = f"{_NAMES[most['level']]} at {exact_size(most['msg_bytes'])}"
    why = _why(most["copies"]) if saving["verdict"] == "falls" else ""
    return [level, f"{saved} {of} {before}", _carried(saving), why, _held(saving)]


def _why(copies: Mapping[str, Facts | None]) -> str:
    """Return what of the copies that are saved a level misses, and why."""
    found = {
        mode: _WHY[copy["misses"], tuple(copy["reasons"])].format(size=size(copy["size_bytes"]))
        for mode in MODES
        if (copy := copies[mode]) is not None
    }
    if len({*found.values()}) == 1:
        return next(iter(found.values()))
    return "; ".join(f"{_COPIES[mode]}: {text}" for mode, text in found.items())


def _held(saving: Facts) -> str:
    """Return under how many changes a conclusion holds, of those that its cell was tried with."""
    tried = saving["tried"]
    found = f"{tried['n_holding']} of {tried['n']}" if tried["n"] else "not tried"
    return found.replace(" ", NBSP)


def _carried(saving: Facts) -> str:
    """Return the functions that carry a difference; those with more misses are called so."""
    fewer = [one for one in saving["functions"] if one["saved"] > 0]
    more = [one for one in saving["functions"] if one["saved"] < 0]
    found = [_carriers(fewer)] if fewer else []
    found += [f"more in {_carriers(more)}"] if more else []
    return "; ".join(found) or "no function has a tenth of it"


def _carriers(functions: Iterable[Facts]) -> str:
    return join_and(
        f"{'the application' if one['mode'] == 'user' else code(one['function'])}"
        f" ({misses(abs(one['saved']))})"
        for one in functions
    )


def instructions(facts: Facts) -> Table:
    """Return instructions per message, application / kernel, a row per testbed and size."""
    found = facts["instructions"]
    names = in_order(one["implementation"] for one in found)
    columns = ["Where", ">Size", *(f">{code(name)}" for name in names)]
    cells: dict[tuple[str, int], dict[str, str]] = {}
    for one in found:
        at = cells.setdefault((one["testbed"], one["msg_bytes"]), {})
        at[one["implementation"]] = f"{one['user']:,.0f} / {one['kernel']:,.0f}"
    return columns, [
        [code(testbed), exact_size(size_), *(at.get(name, "") for name in names)]
        for (testbed, size_), at in cells.items()
    ]


def changes(facts: Facts) -> Table:
    """Return what becomes of the conclusions with one thing changed, a row per change."""
    columns = ["Change", ">Conclusions", ">Same level falls most", ">Every level as before"]
    rows = [
        [one["change"], *(str(one[name]) for name in ("n", "n_keeping_level", "n_surviving"))]
        for one in facts["sensitivity"]["variants"]
    ]
    return columns, rows


def checks(facts: Facts) -> Table:
    """Return what the model was held against, a row per check."""
    walks, beside = facts["walks"], facts["beside"]
    rows = []
    if not walks["reason"]:
        right = f"{walks['n_right']} of {walks['n']}, off by {plural(walks['worst_lines'], 'line')}"
        title = "Walks through memory with known misses, counted correctly"
        rows.append([title, f"{right} at most"])
    if beside and beside["n_calls"]:
        agree = f"{beside['n_calls_agree']} of {beside['n_calls']}"
        rows.append(["Cells whose system calls per message match those measured", agree])
    for one in beside["misses"] if beside else []:
        title = f"{_NAMES[one['level']]} load misses, simulated over counted"
        cells = plural(one["n"], "cell")
        rows.append([title, f"{span(one['low'], one['high'])} ({cells})"])
    return ["Check", "Found"], rows
