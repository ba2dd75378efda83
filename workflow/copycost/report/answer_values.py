"""Values that the answers put into their sentences: ratios, caches, cells and lists of them.

None of these is a clause: a sentence with another value in its place is the same sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from copycost.wording.filters import (
    impl,
    n_threads,
    size,
    sizes,
)
from copycost.wording.words import count, counted, plural

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


def all_of(number: int, noun: str) -> str:
    """Return a whole in words: ``all 9 cells``, ``the one cell``."""
    return f"the one {noun}" if number == 1 else f"all {plural(number, noun)}"


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
    "cache": cache,
    "case": case,
}
"""The filters of the answers, by name."""
