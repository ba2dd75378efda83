"""The tables of the chapter on simulated counts: columns, and rows in Markdown."""

from collections.abc import Callable, Sequence

from copycost.wording.filters import exact_size, join_and, percent, size, span
from copycost.wording.markdown import Table, code, listing, tabulate
from copycost.wording.number_sources import prints
from copycost.wording.numbers import NBSP, finite
from copycost.wording.values import Facts, cache
from copycost.wording.words import plural

_NAMES = {"l1d": "L1d", "l2": "L2", "llc": "Last level"}
_COPIES = {"user": "application", "kernel": "kernel"}


@prints
def misses(value: float) -> str:
    """Return misses per line: ``2.02``, never less than nothing."""
    text = f"{finite(value):.2f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def cache_levels(caches: Facts) -> str:
    """Return the levels in words: ``the L1 data cache of 32 KiB in 8 ways and ...``."""
    return join_and(
        f"{cache(level)} of {size(caches[level]['size_bytes'])} in "
        f"{plural(caches[level]['ways'], 'way')}"
        for level in _NAMES
    )


def why_misses_fall(facts: Facts) -> str:
    """Return why the level whose misses fall most had them, as far as all comparisons agree."""
    saved = [
        copy
        for one in facts["conditions"]
        for saving in one["savings"]
        if saving["verdict"] == "falls" and saving["most"]["level"] == facts["verdict"]["level"]
        for copy in saving["most"]["copies"].values()
        if copy is not None
    ]
    if not saved or any(copy["misses"] != "both" for copy in saved):
        return ""
    return ", since it did not hold what the avoided copies read and write"


VALUES: dict[str, Callable[..., str]] = {
    "cache_levels": cache_levels,
    "why_misses_fall": why_misses_fall,
}
"""Filters of the templates."""


# why a level did not hold what a copy reads or writes
_REASONS = {"from_memory": "memory", "displaced": "displaced", "beyond": "over {size}"}


def savings(conditions: Sequence[Facts]) -> Table:
    """Return what each way to send changes most, where and why, a row per place and way."""

    def level(saving: Facts) -> str:
        if (most := saving["most"]) is None:
            return f"none{NBSP}changes"
        return f"{_NAMES[most['level']]} at {exact_size(most['msg_bytes'])}"

    def saved(saving: Facts) -> str:
        if (most := saving["most"]) is None:
            return ""
        of = "more than" if saving["verdict"] == "rises" else "of"
        return f"{misses(abs(most['saved']))} {of} {misses(most['before'])}"

    def held(saving: Facts) -> str:
        if (tried := saving["tried"]) is None:
            return ""
        of_all = f"{tried['n_holding']}{NBSP}of{NBSP}{tried['n']}"
        return of_all if tried["n"] else f"not{NBSP}tried"

    return tabulate(
        [{**one, **saving} for one in conditions for saving in one["savings"]],
        {
            "Where": lambda it: f"{code(it['testbed'])}, {it['working_set']}",
            "With": _with,
            "Level": level,
            ">Saved per line": saved,
            "Not in the cache": _why,
            "Changes survived": held,
        },
    )


def _with(saving: Facts) -> str:
    """Return a way to send; of one that asks for no copy, how much was copied after all."""
    name = code(saving["implementation"])
    if not saving["asks_for_none"]:
        return name
    share = saving["copied_share"]
    return f"{name}, {'copies not reported' if share is None else f'{percent(share)} copied'}"


def _why(saving: Facts) -> str:
    """Return what of the copies that are saved a level misses, and why.

    Such as ``application: source (memory), target (over 32 KiB); kernel: mostly hits``.
    """
    found = {}
    copies = saving["most"]["copies"] if saving["verdict"] == "falls" else {}
    for mode, copy in copies.items():
        if copy is None:
            continue
        text = copy["misses"] if copy["reasons"] else "mostly hits"
        reasons = [_REASONS[name].format(size=size(copy["size_bytes"])) for name in copy["reasons"]]
        if len(reasons) == 1:
            text += f" ({reasons[0]})"
        elif reasons:
            text = f"source ({reasons[0]}), target ({reasons[1]})"
        found[_COPIES[mode]] = text
    if len({*found.values()}) == 1:
        return next(iter(found.values()))
    return "; ".join(f"{whose}: {text}" for whose, text in found.items())


def checks(facts: Facts) -> Table:
    """Return what the model was held against, a row per check."""
    walks, beside = facts["walks"], facts["beside"]
    rows = []
    if not walks["reason"]:
        right = f"{walks['n_right']} of {walks['n']}, off by {plural(walks['worst_lines'], 'line')}"
        title = "Walks through memory with known misses, counted correctly"
        rows.append((title, f"{right} at most"))
    if beside and beside["n_calls"]:
        agree = f"{beside['n_calls_agree']} of {beside['n_calls']}"
        rows.append(("Cells whose system calls per message match those measured", agree))
    for one in beside["misses"] if beside else []:
        title = f"{_NAMES[one['level']]} load misses, simulated over counted"
        cells = plural(one["n"], "cell")
        rows.append((title, f"{span(one['low'], one['high'])} ({cells})"))
    return listing(rows)
