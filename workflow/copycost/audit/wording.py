"""Values, quantities and cells as the sentences of an audit write them, and what it has to say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS, base_of, words_of
from copycost.wording.filters import (
    gbps,
    join_and,
    n_threads,
    sentence,
    significant,
    size,
    sizes,
)
from copycost.wording.words import count


@dataclass(frozen=True, slots=True)
class Message:
    """Something to say.

    `code`: of ``report/audit_messages.csv``, which has the words.
    """

    code: str
    numbers: Mapping[str, object] = field(default_factory=dict)


def plain_number(value: float) -> str:
    """Return a number with up to four digits and no needless zeros: 5, 0.0156, 12,300."""
    text = significant(abs(value), 4)
    text = text.rstrip("0").rstrip(".") if "." in text else f"{int(text):,}"
    return f"\N{MINUS SIGN}{text}" if value < 0.0 else text


def small_percent(share: float) -> str:
    """Return a share (1 = all) in percent with two digits: ``0.15 %``."""
    return f"{significant(share * 100.0, 2)} %"


def value_with_unit(metric: str, value: float) -> str:
    """Return a value of a quantity as a sentence has it: ``34.89 Gbit/s``, ``96.62 µs``."""
    kind = base_of(metric).kind
    if metric == "throughput":
        return gbps(value, 4)
    if kind == "time" and metric == base_of(metric).name:
        for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if value >= factor:
                return f"{plain_number(value / factor)} {unit}"
        return f"{plain_number(value / 1e-9)} ns"
    return f"{plain_number(value)} {words_of(metric)}"


def place(msg_bytes: int, threads: int) -> str:
    """Return a size and a thread count as the name of a place: ``64 KiB, 4 threads``."""
    return f"{size(msg_bytes)}, {n_threads([threads])}"


def cell_name(implementation: str, msg_bytes: int, threads: int) -> str:
    """Return the name of a cell: ``two_copy, 64 KiB, 4 threads``."""
    return f"{implementation}, {place(msg_bytes, threads)}"


def cell_names(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the names of the cells of some rows, each once."""
    keys = zip(rows[IMPLEMENTATION], rows[SIZE], rows[THREADS], strict=True)
    return tuple(dict.fromkeys(cell_name(str(name), int(n), int(t)) for name, n, t in keys))


def quantities(names: Iterable[str]) -> str:
    """Return quantities as a list in a sentence: ``cycles and L1d misses``."""
    return join_and(map(words_of, names))


def tally(counts: Mapping[str, int]) -> str:
    """Return how many there are of each, as a list: ``six supported and one not measured``."""
    return join_and(f"{count(number)} {name}" for name, number in counts.items())


def subject(names: Sequence[str], dataset: str | None) -> str:
    """Return what a finding is about, as a heading: its columns, and its dataset if told."""
    words = quantities(names) or "all columns"
    return sentence(words if dataset is None else f"{dataset}: {words}")


def scope(msg_bytes: Sequence[int], threads: Sequence[int]) -> str:
    """Return the cells that a claim names: ``at 1 KiB with 4 threads``; empty for all."""
    if msg_bytes and threads:
        return f"at {sizes(msg_bytes)} with {n_threads(threads)}"
    if msg_bytes:
        return f"at {sizes(msg_bytes)}"
    return f"with {n_threads(threads)}" if threads else ""
