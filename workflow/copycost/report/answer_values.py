"""Values that the answers put into their sentences: ratios, caches, cells and lists of them.

None of these is a clause: a sentence with another value in its place is the same sentence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from copycost.wording.filters import (
    impl,
    interval_of,
    join_and,
    n_threads,
    percent,
    ratio,
    significant,
    size,
    sizes,
    span,
)
from copycost.wording.percent import NBSP
from copycost.wording.plurals import count, counted, plural

Facts = Mapping[str, Any]

_CACHES = {
    "l1d": "L1 data cache",
    "l1d_load_misses": "L1 data cache",
    "l2": "L2 cache",
    "llc": "last-level cache",
    "llc_load_misses": "last-level cache",
}


def cache(level: str) -> str:
    """Return a cache by its level or by the counter of its misses: ``the L1 data cache``."""
    return f"the {_CACHES[level]}"


def cache_shares(levels: Iterable[Facts], word: str = "and") -> str:
    """Return caches with what is to fit into them: ``the L2 cache (6.2 % of its 2 MiB)``."""
    return join_and(map(_cache_share, levels), word)


def _cache_share(found: Facts) -> str:
    share, whole = found["share"], size(found["size_bytes"])
    if share < 1.0:
        text = f"{percent(share)} of its {whole}"
    else:
        text = f"{significant(share, 2)}{NBSP}times its {whole}"
    if found["n_threads"]:
        text = f"{text} for {n_threads([found['n_threads']])}"
    return f"{cache(found['level'])} ({text})"


_RATES = {
    "calls": "system calls per message",
    "switches": "context switches per message",
    "resent": "segments sent again",
    "faults": "page faults",
}


def rate_names(names: Iterable[str]) -> str:
    """Return what is counted: ``segments sent again or page faults``."""
    return join_and((_RATES[name] for name in names), "or")


def caches(levels: Iterable[Facts], word: str = "or") -> str:
    """Return the names of caches: ``the L1 data cache or the L2 cache``."""
    return join_and((cache(found["level"]) for found in levels), word)


def ratios_by_implementation(rows: Iterable[Facts], confidence: float) -> str:
    """Return ratios with whose they are: ``1.14 for `two_copy` (95 % interval 1.00 to 1.29)``."""
    return join_and(
        f"{ratio(row['value'])} for {impl(row['implementation'])} {interval_of(row, confidence)}"
        for row in rows
    )


def at_sizes(some: Sequence[int], every: Sequence[int]) -> str:
    """Return sizes: ``at every size``, ``up to 4 KiB``, ``from 4 KiB up``, else one by one.

    A stretch is told by its end only where it has no gap and reaches the other end of `every`.
    """
    if len(some) == 1:
        return f"at {size(some[0])}"
    if list(some) == list(every):
        return "at every size"
    if list(some) == list(every[: len(some)]):
        return f"up to {size(some[-1])}"
    if list(some) == list(every[-len(some) :]):
        return f"from {size(some[0])} up"
    return f"at {sizes(some)}"


def bracket(change: Facts) -> str:
    """Return the two sizes between which a verdict turns: ``between 4 and 16 KiB``."""
    return f"between {span(change['below_bytes'], change['above_bytes'], size, 'and')}"


def all_of(number: int, noun: str) -> str:
    """Return a whole in words: ``all 9 cells``, ``the one cell``."""
    return f"the one {noun}" if number == 1 else f"all {plural(number, noun)}"


def each_of(number: int, noun: str) -> str:
    """Return each one of a whole: ``each of the 9 cells``, ``the one cell``."""
    return f"the one {noun}" if number == 1 else f"each of the {plural(number, noun)}"


def counted_span(low: int, high: int, noun: str) -> str:
    """Return a number, or two, with their noun: ``three rounds``, ``three to five rounds``."""
    return counted(high, noun) if low == high else f"{count(low)} to {counted(high, noun)}"


def case(where: Facts) -> str:
    """Return what a comparison is of: ```one_copy` and `two_copy`, 16 KiB, 2 threads``."""
    names = [impl(where[key]) for key in ("implementation", "baseline") if key in where]
    parts = [" against ".join(names)]
    if "hot" in where:
        parts.append(f"compared with `{where['hot']}`")
    if "from_bytes" in where:
        parts.append(f"from {size(where['from_bytes'])} to {size(where['to_bytes'])}")
    if "from_threads" in where:
        parts.append(f"from {where['from_threads']} to {n_threads([where['to_threads']])}")
    if "msg_bytes" in where:
        parts.append(size(where["msg_bytes"]))
    if "n_threads" in where:
        parts.append(n_threads([where["n_threads"]]))
    return ", ".join(parts)


VALUES: dict[str, Callable[..., str]] = {
    "all_of": all_of,
    "at_sizes": at_sizes,
    "bracket": bracket,
    "cache": cache,
    "cache_shares": cache_shares,
    "rate_names": rate_names,
    "caches": caches,
    "case": case,
    "each_of": each_of,
    "ratios_by_implementation": ratios_by_implementation,
}
"""The filters of the answers, by name."""
