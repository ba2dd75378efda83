"""Values that the chapters of single studies put into sentences and tables: names, estimates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from copycost.config.capabilities import IPERF3
from copycost.config.variants import VARIANTS
from copycost.records.cpu_attribution import EMULATED
from copycost.report.markdown import Column, escape, identifier, pipe_table
from copycost.wording.filters import (
    FILTERS,
    cpu,
    gbit,
    impl,
    join_and,
    lower_first,
    n_threads,
    percent,
    significant,
    size,
    span,
)
from copycost.wording.numbers import NBSP
from copycost.wording.words import party, plural

Facts = Mapping[str, Any]
Form = Callable[..., str]

NOT_KNOWN = "not known"

_LIMITERS = {"cgroup": "a control group", "cpulimit": "`cpulimit`"}
_LIMITER_KINDS = {
    "cgroup v1": "the quota of a control group (version 1)",
    "cgroup v2": "the quota of a control group (version 2)",
    "cpulimit": "`cpulimit`",
}


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


def top_shares(shares: Iterable[Facts]) -> str:
    """Return what most of the CPU time goes to: ``copying 46 %, protocol 30 %``."""
    return ", ".join(f"{lower_first(one['title'])} {percent(one['share'])}" for one in shares)


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
    return float(next(found[name] for name in ("value", "median", "mean") if name in found))


_ABOUT: dict[str, tuple[str, Form]] = {
    "testbed": ("Testbed", impl),
    "implementation": ("Implementation", impl),
    "limiter": ("Limiter", str),
    "msg_bytes": ("Sizes", size),
    "variant": ("Changed", lambda name: VARIANTS[name].change),
}
"""By key of a loss, the title of its column and how one of its values is written."""


def losses(found: Sequence[Facts], study: str) -> str:
    """Return the table of what a study could not measure; see `outcomes.losses_of`; '' of nothing.

    Parameters
    ----------
    study
        Its name, for the table's id.
    """
    if not found:
        return ""
    about = {key: words for key, words in _ABOUT.items() if key in found[0]}
    columns = [
        Column("What"),
        Column("Number", "right"),
        *(Column(title) for title, _ in about.values()),
        Column("Reason, and what helps"),
    ]
    rows = [
        [
            loss["status"],
            str(loss["n"]),
            *(join_and(map(form, loss[key])) for key, (_, form) in about.items()),
            "; ".join(escape(text) for text in (loss["reason"], loss["remedy"]) if text),
        ]
        for loss in found
    ]
    return pipe_table(columns, rows, "What gave no value.", identifier("tbl", study, "missing"))


VALUES: dict[str, Callable[..., str]] = {
    "cell_name": cell_name,
    "load_name": load_name,
    "party": party,
    "where": where,
    "gbit_span": gbit_span,
    "ns_per_kib": ns_per_kib,
}
"""The filters of these chapters, by name."""
