"""Values that sentences and tables share: estimates, intervals, places and lists of them.

None of these is a clause: a sentence with another value in its place is the same sentence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from copycost.wording.filters import (
    FILTERS,
    VAGUE_FACTOR,
    cpu,
    gbit,
    gbps,
    join_and,
    ratio,
    significant,
    size,
    sizes,
    span,
)
from copycost.wording.markdown import Table, code, grouped, tabulate
from copycost.wording.numbers import NBSP
from copycost.wording.words import agree, count, counted, plural

Facts = Mapping[str, Any]
Form = Callable[..., str]

NONE = "---"
"""A dash where there is no value; the table of what was not measured has the reason."""

NOT_KNOWN = "not known"

VAGUE = "too wide"
"""Stands for an interval whose ends are too far apart: its digits tell nothing."""

MARK = "\N{DAGGER}"
"""Of zero-copy sends that were copied after all."""

_CACHES = {
    "l1d": "L1 data cache",
    "l1d_load_misses": "L1 data cache",
    "l2": "L2 cache",
    "llc": "last-level cache",
    "llc_load_misses": "last-level cache",
}


def bounds(low: float | None, high: float | None, form: Form = significant) -> str:
    """Return an interval: ``1.1 to 1.3``, ``too wide``, a dash where there is none."""
    if low is None or high is None:
        return NONE
    return VAGUE if high > VAGUE_FACTOR * low else f"{form(low)} to {form(high)}"


def interval(found: Facts | None, scale: float = 1.0, form: Form = significant) -> str:
    """Return the interval of an estimate (see `bounds`), scaled to the unit of its column."""
    if found is None:
        return NONE
    return bounds(found["low"], found["high"], lambda end: form(end * scale))


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return a ratio with its interval, as a cell of a table: ``1.42 (1.30 to 1.55)``."""
    if value is None:
        return NONE
    ends = bounds(low, high, ratio)
    return ratio(value) if ends == NONE else f"{ratio(value)} ({ends})"


def median(found: Facts | None, scale: float = 1.0) -> str:
    """Return a median, scaled to the unit of its column; a dash where there is none."""
    if found is None or found["median"] is None:
        return NONE
    return significant(found["median"] * scale)


def marked(implementation: str, labels: Mapping[str, str | None]) -> str:
    """Return an implementation's name, with `MARK` where zero-copy turned out to be something."""
    return f"{code(implementation)}{MARK if labels.get(implementation) else ''}"


def note_of(labels: Mapping[str, str | None]) -> str:
    """Return what the mark means, as the last sentence of a caption; empty without any label."""
    told = {name: label for name, label in labels.items() if label}
    if not told:
        return ""
    if len(set(told.values())) == 1:
        return f" {MARK} {next(iter(told.values()))}."
    return f" {MARK} {join_and(f'{code(name)}: {label}' for name, label in told.items())}."


def place(condition: Facts) -> str:
    """Return where something was measured, as captions and headings have it: ```vm_pair```.

    With ``(emulated)`` behind it where no processor ran the guests.
    """
    return f"`{condition['slug']}`{' (emulated)' if condition.get('emulated') else ''}"


def cache(level: str) -> str:
    """Return a cache by its level or by the counter of its misses: ``the L1 data cache``."""
    return f"the {_CACHES[level]}"


def at_sizes(some: Sequence[int], every: Sequence[int]) -> str:
    """Return sizes: ``at every size``, ``up to 4 KiB``, ``from 4 KiB``, else one by one."""
    if list(some) == list(every):
        return "at every size"
    first, last = some[0], some[-1]
    start = list(every).index(first)
    if len(some) == 1 or list(some) != list(every[start : start + len(some)]):
        return f"at {sizes(some)}"
    if first == every[0]:
        return f"up to {size(last)}"
    return f"from {size(first)}" if last == every[-1] else f"from {size(first)} to {size(last)}"


def all_of(number: int, noun: str) -> str:
    """Return a whole in words: ``all 9 cells``, ``the one cell``."""
    return f"the one {noun}" if number == 1 else f"all {plural(number, noun)}"


def counted_span(low: int, high: int, noun: str) -> str:
    """Return a number, or two, with their noun: ``three rounds``, ``three to five rounds``."""
    return counted(high, noun) if low == high else f"{count(low)} to {counted(high, noun)}"


def wake_up_marks(marks: Iterable[Mapping[str, int]]) -> str:
    """Return at which fill a receiver wakes: ``64 KiB (messages of 4 KiB) or 1 MiB (...)``."""
    by_mark: dict[int, list[int]] = {}
    for mark in marks:
        by_mark.setdefault(mark["bytes"], []).append(mark["msg_bytes"])
    return join_and(
        (f"{size(mark)} (messages of {sizes(messages)})" for mark, messages in by_mark.items()),
        "or",
    )


def cpu_lists(lists: Iterable[str]) -> str:
    """Return the CPUs that threads were pinned to, as the cells have them, in words."""
    return join_and(map(cpu_list, lists), "or") or "no CPU in particular"


def cpu_list(text: str) -> str:
    """Return CPUs as the table has them in words: ``CPU 0``, ``CPUs 0, 2``, ``any CPU``."""
    if text == "any":
        return "any CPU"
    numbers = [part for part in text.replace(";", ",").split(",") if part.strip()]
    return f"{agree(len(numbers), 'CPU')} {', '.join(numbers)}"


def gbit_span(of: Facts) -> str:
    """Return from where to where bitrates go, for a unit that follows: ``2.22 to 28.1``."""
    return span(of["low"], of["high"], gbit)


def cpu_range(of: Facts) -> str:
    """Return from where to where a CPU use goes: ``12 to 38 %``."""
    return span(of["low"], of["high"], cpu)


def in_cell(found: Facts | None, form: str) -> str:
    """Return an estimate in a cell of a table: ``38.2 (37.0 to 39.4)``, ``20 % (too wide)``."""
    if found is None:
        return NOT_KNOWN
    middle, say = _middle(found), FILTERS[form]
    if found.get("vague"):
        return f"{say(middle)} (too wide)"
    return with_ends(middle, found["low"], found["high"], say)


def with_ends(middle: float, low: float | None, high: float | None, form: Form) -> str:
    """Return a value with the ends of its interval, if there are any."""
    if low is None or high is None:
        return form(middle)
    return f"{form(middle)} ({span(low, high, form)})"


def ns_in_text(found: Facts) -> str:
    """Return a fitted time in a sentence: ``1500 ns (1480 to 1510)``."""
    text = f"{significant(_middle(found))}{NBSP}ns"
    if found["low"] is None:
        return text
    return f"{text} ({significant(found['low'])} to {significant(found['high'])})"


def ns_per_kib(value: float) -> str:
    """Return a CPU time per KiB: ``426 ns per KiB``."""
    return f"{significant(value)}{NBSP}ns per KiB"


def _middle(found: Facts) -> float:
    middle: float = next(found[name] for name in ("value", "median", "mean") if name in found)
    return middle


def rate_span(limit: Facts) -> str:
    """Return what a limit allows over the sizes: ``82.4 Mbit/s to 95.5 Mbit/s``."""
    low, high = gbps(limit["low"]), gbps(limit["high"])
    return low if low == high else f"{low} to {high}"


def of_cells(
    cells: Sequence[Facts],
    columns: Mapping[str, Callable[[Facts], str]],
    labels: Mapping[str, str | None] = MappingProxyType({}),
) -> Table:
    """Return a row per cell: its size, threads where there are several, way, and columns."""
    several = len({cell["n_threads"] for cell in cells}) > 1
    return grouped(
        tabulate(
            sorted(cells, key=lambda cell: (cell["msg_bytes"], cell["n_threads"])),
            {
                "Message": lambda cell: size(cell["msg_bytes"]),
                ">Threads": lambda cell: str(cell["n_threads"]) if several else "",
                "Implementation": lambda cell: marked(cell["implementation"], labels),
                **columns,
            },
        )
    )
