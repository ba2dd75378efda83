"""Values that sentences and tables share: names, estimates, intervals and lists of them.

None of these is a clause: a sentence with another value in its place is the same sentence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from copycost.config.capabilities import IPERF3, split_implementation
from copycost.config.conditions import COLD
from copycost.config.testbeds import is_wire
from copycost.config.variants import VARIANTS
from copycost.records.cpu_attribution import EMULATED
from copycost.report.markdown import code, escape, pipe_table, tabulate
from copycost.wording.filters import (
    FILTERS,
    VAGUE_FACTOR,
    cpu,
    gbit,
    impl,
    join_and,
    n_threads,
    significant,
    size,
    sizes,
    span,
)
from copycost.wording.numbers import NBSP
from copycost.wording.words import agree, count, counted, party, plural

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


_LIMITERS = {"cgroup": "a control group", "cpulimit": "`cpulimit`"}
_LIMITER_KINDS = {
    "cgroup v1": "the quota of a control group (version 1)",
    "cgroup v2": "the quota of a control group (version 2)",
    "cpulimit": "`cpulimit`",
}


def bounds(low: float | None, high: float | None, form: Form = significant) -> str:
    """Return an interval: ``1.1 to 1.3``, ``too wide``, a dash where there is none."""
    if low is None or high is None:
        return NONE
    return VAGUE if high > VAGUE_FACTOR * low else f"{form(low)} to {form(high)}"


def interval(found: Facts | None, scale: float = 1.0, form: Form = significant) -> str:
    """Return the interval of an estimate (see `bounds`), scaled to the unit of its column."""
    if found is None or found["low"] is None or found["high"] is None:
        return NONE
    return bounds(found["low"] * scale, found["high"] * scale, form)


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


def from_memory(condition: Facts) -> bool:
    """Tell whether messages were read from memory: from a ring larger than the last-level cache."""
    multiple = condition["quantities"]["ring_per_llc"]
    return condition["working_set"] == COLD and multiple is not None and multiple >= 1.0


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


def sender_name(implementation: str) -> str:
    """Return who sends: ``iperf3``, or ``our sender with `two_copy```."""
    return "iperf3" if implementation == IPERF3 else f"our sender with {impl(implementation)}"


def senders(facts: Facts) -> str:
    """Return all who send in a study, iperf3 with its version: ``iperf3 3.12``."""
    versions = join_and(facts["versions"])
    names = {name: sender_name(name) for name in facts["section"]["implementations"]}
    if versions and IPERF3 in names:
        names[IPERF3] = f"iperf3 {versions}"
    return join_and(names.values())


def limiters(kinds: Iterable[str]) -> str:
    """Return what limits a sender's CPU: ``the quota of a control group (version 2)``."""
    return join_and((_LIMITER_KINDS[kind] for kind in kinds), "or")


def variant(curve: Facts, section: Facts) -> str:
    """Return by whom and how, as far as there are several: ``iperf3, limited by `cpulimit```.

    Before that comes that the guests were emulated, which has to be said of every figure.
    """
    parts = ["emulated"] if curve.get("emulated") else []
    if len(section.get("implementations", ())) > 1:
        parts.append(sender_name(curve["implementation"]))
    if len(section.get("limiters", ())) > 1:
        parts.append(f"limited by {_LIMITERS[curve['limiter']]}")
    return ", ".join(parts)


def with_variant(text: str, curve: Facts, section: Facts) -> str:
    """Return a text with the variant that it is about, where there are several, behind it."""
    found = variant(curve, section)
    return f"{text} ({found})" if found else text


def ours(row: Facts, section: Facts, form: Callable[[Facts], str]) -> str:
    """Return something of each of our curves or points that a published row is compared with."""
    return "; ".join(with_variant(form(one), one, section) for one in row["ours"])


def curve_name(curve: Facts, section: Facts) -> str:
    """Return the name of a curve: ```veth` with 2 streams (iperf3)``."""
    text = f"{impl(curve['testbed'])} with {plural(curve['n_threads'], 'stream')}"
    return with_variant(text, curve, section)


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
    text = FILTERS[form](_middle(found))
    if found.get("vague"):
        return f"{text} (too wide)"
    if found["low"] is None:
        return text
    return f"{text} ({span(found['low'], found['high'], FILTERS[form])})"


def ns_in_text(found: Facts) -> str:
    """Return a fitted time in a sentence: ``1500 ns (1480 to 1510)``."""
    text = f"{significant(_middle(found))}{NBSP}ns"
    if found["low"] is None:
        return text
    return f"{text} ({significant(found['low'])} to {significant(found['high'])})"


def ns_per_kib(value: float) -> str:
    """Return a CPU time per KiB: ``426 ns per KiB``."""
    return f"{significant(value)}{NBSP}ns per KiB"


def cell_name(cell: Facts) -> str:
    """Return the name of a profiled cell: ```two_copy` with 64 KiB and 1 thread on `veth```."""
    load = f"{size(cell['msg_bytes'])} and {n_threads([cell['n_threads']])}"
    return f"{impl(cell['implementation'])} with {load} on {where(cell)}"


def load_name(found: Facts) -> str:
    """Return a load in a table: ```veth`, 64 KiB, 1 thread``."""
    return f"{where(found)}, {size(found['msg_bytes'])}, {n_threads([found['n_threads']])}"


def where(found: Facts) -> str:
    """Return a condition, and whether its guests were emulated: ```vm_pair` (emulated)``."""
    name = impl(found["condition"])
    return f"{name} (emulated)" if found.get("accelerator") == EMULATED else name


def _middle(found: Facts) -> float:
    middle: float = next(found[name] for name in ("value", "median", "mean") if name in found)
    return middle


_ABOUT: dict[str, tuple[str, Form]] = {
    "condition": ("Condition", impl),
    "testbed": ("Testbed", impl),
    "implementation": ("Implementation", impl),
    "implementations": ("Implementation", impl),
    "limiter": ("Limiter", str),
    "msg_bytes": ("Message", size),
    "n_threads": ("Threads", str),
    "variant": ("Changed", lambda name: VARIANTS[name].change),
}
"""By key of a loss, the title of its column and how one of its values is written."""


def lost(conditions: Iterable[Facts]) -> list[Facts]:
    """Return what failed and what was skipped under some conditions, for `losses`."""
    return [
        {**loss, "status": status, "condition": [one["slug"]]}
        for one in conditions
        for status in ("failed", "skipped")
        for loss in one[status]
    ]


def losses(found: Sequence[Facts], study: str) -> str:
    """Return the table of what was not measured, see `outcomes.losses_of`; nothing without any."""

    def about(key: str, form: Form) -> Callable[[Facts], str]:
        return lambda loss: join_and(map(form, loss[key]))

    def reason_and_remedy(loss: Facts) -> str:
        return "; ".join(escape(loss[key]) for key in ("reason", "remedy") if loss[key])

    if not found:
        return ""
    titles, rows = tabulate(
        found,
        {
            "What": lambda loss: str(loss["status"]),
            ">Number": lambda loss: str(loss["n"]),
            **{title: about(key, form) for key, (title, form) in _ABOUT.items() if key in found[0]},
            "Reason, and what helps": reason_and_remedy,
        },
    )
    caption = "Repetitions without a value. They count as missing, never as zero."
    return pipe_table(titles, rows, caption, f"tbl-{study}-missing")


FILTERS_OF_VALUES: dict[str, Callable[..., Any]] = {
    "all_of": all_of,
    "cache": cache,
    "cell_name": cell_name,
    "cpu_lists": cpu_lists,
    "gbit_span": gbit_span,
    "load_name": load_name,
    "lost": lost,
    "ns_per_kib": ns_per_kib,
    "party": party,
    "place": place,
    "strategy": lambda implementation: split_implementation(implementation)[0],
    "wake_up_marks": wake_up_marks,
    "where": where,
}
"""What templates say with a bar: ``{{ name | code }}``."""

TESTS: dict[str, Callable[..., bool]] = {
    "batched": lambda implementation: split_implementation(implementation)[1] > 1,
    "from_memory": from_memory,
    "over_wire": is_wire,
}
"""What they ask: ``{% if t is from_memory %}``."""
