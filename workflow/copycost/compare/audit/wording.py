"""The words of an audit: values, quantities and cells in its sentences, and its templates."""

import textwrap
from collections.abc import Iterable, Mapping
from functools import cache

import pandas as pd
from jinja2 import Environment

from copycost.compare.audit.quantities import base_of, words_of
from copycost.config.checkout import ROOT
from copycost.report.environment import fill_from, make_environment
from copycost.wording.filters import gbps, join_and, n_threads, significant, size
from copycost.wording.numbers import NBSP
from copycost.wording.words import count

TEMPLATES = ROOT / "report"


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
    if metric == "throughput":
        return gbps(value, 4)
    if metric == base_of(metric).name and base_of(metric).kind == "time":
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
    keys = zip(rows["implementation"], rows["msg_bytes"], rows["n_threads"], strict=True)
    return tuple(dict.fromkeys(cell_name(str(name), int(n), int(t)) for name, n, t in keys))


def quantities(names: Iterable[str]) -> str:
    """Return quantities as a list in a sentence: ``cycles and L1d misses``."""
    return join_and(map(words_of, names))


def tally(counts: Mapping[str, int]) -> str:
    """Return how many there are of each, as a list: ``six supported and one not measured``."""
    return join_and(f"{count(number)} {name}" for name, number in counts.items())


@cache
def audit_environment() -> Environment:
    """Return the environment of the reports' templates, with the filters of an audit."""
    environment = make_environment(TEMPLATES)
    environment.filters.update(plain_number=plain_number, small_percent=small_percent, tally=tally)
    return environment


def say(text: str, numbers: Mapping[str, object]) -> str:
    """Return a sentence with its numbers, plain."""
    return audit_environment().from_string(text).render(numbers)


def fill(
    template: str, command: str = "audit", about: str = "this table", **context: object
) -> str:
    """Return the text of a template; DataError if it asks for a fact that there is not."""
    return fill_from(audit_environment(), template, context, command, about)


def lines_of(text: str) -> list[str]:
    """Return what a template says as lines of at most 80 columns, in which no word is broken."""
    lines = []
    for line in text.splitlines():
        wrapped = textwrap.wrap(line, 80, subsequent_indent="  ", break_long_words=False,
                                break_on_hyphens=False)  # fmt: skip
        # a number keeps its unit: only then do the spaces between them become plain ones
        lines += [part.replace(NBSP, " ") for part in wrapped]
    return lines
