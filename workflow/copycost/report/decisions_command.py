"""The command ``answer``: which way is the fastest and the cheapest, in brief or size by size."""

import argparse
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.analysis.finding import ANSWERS, answers_of, tally
from copycost.config.checkout import ROOT
from copycost.errors import DataError
from copycost.report.decisions import (
    COPIED,
    baseline_of,
    decided_conditions,
    in_brief,
    multiple,
    place_of,
    price,
    row_name,
    with_next,
)
from copycost.report.environment import make_environment
from copycost.report.machines import measured_on
from copycost.wording.filters import exact_size, n_threads, sizes
from copycost.wording.numbers import NBSP, size_option
from copycost.wording.words import one_line, plural

HELP = "say which way to send is the fastest and which the cheapest"

DESCRIPTION = """\
Say which way to send is the fastest and which the cheapest, and from which size on, from what was
measured; or print the tables of all sizes, or their rows for one."""

EPILOG = "Exit status: 0 answered, 1 nothing was measured."

FACTS = Path("results/facts.json")
_MOST_BRIEF = 4
WIDTH = 80
_WAYS = 26
"""Columns of the names of ways, which go on in the next line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("--all", action="store_true", help="every size, with intervals")
    add("--json", action="store_true", help="every size, for programs")
    add("--size", type=size_option, metavar="SIZE", help="message size, such as 64KiB; or all")
    add("--threads", type=int, metavar="N", help="thread count; or all, together")
    add("--facts", type=Path, default=FACTS, metavar="FILE", help=f"what was measured ({FACTS})")


def run(options: argparse.Namespace) -> int:
    """Print the tables; DataError if nothing was measured, or not with so many threads."""
    facts = read_facts(options.facts)
    if options.json:
        found = [one for one in facts["findings"] if one["question"] in ANSWERS]
        print(json.dumps(found, indent=1))
    elif options.all or options.size or options.threads:
        print("\n".join(answer_lines(facts, options.size, options.threads)))
    else:
        print("\n".join(brief_lines(facts)))
    return 0


def read_facts(path: Path) -> Mapping[str, Any]:
    """Return what was measured; DataError if there is nothing."""
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{path}: not found, so nothing was measured; ./run measures") from error
    except ValueError as error:
        raise DataError(f"{path}: {error}; ./run makes it again from the records") from error
    try:
        decided = decided_conditions(facts)
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{path}: written by another version of copycost; ./run makes it again from the records"
        ) from error
    if not decided:
        raise DataError(f"{path}: no repetition gave a value; the report has the reasons")
    return facts


def _words() -> Any:  # noqa: ANN401 - a module of macros
    return make_environment(ROOT / "report").get_template("_macros/decisions_words.j2").module


def brief_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the answer as a few lines of plain text: what is not open, and how clean it was."""
    words = _words()
    decided = decided_conditions(facts)
    for condition in decided[:_MOST_BRIEF]:
        yield from wrapped(". ".join([place_of(condition, str), *in_brief(condition)]) + ".")
    further = len(decided) - _MOST_BRIEF
    more = f", and of {plural(further, 'more condition')}" if further > 0 else ""
    n = facts["answers"]
    yield from wrapped(
        f"Open: {n['n_open']} of {plural(n['n'], 'answer')}. Every size{more}, with intervals: "
        f"./run answer --all. {words.undisturbed(facts['undisturbed'])}"
    )


def answer_lines(
    facts: Mapping[str, Any], msg_bytes: int | None = None, threads: int | None = None
) -> Iterator[str]:
    """Yield the decision tables as lines of plain text; DataError without so many threads."""
    words = _words()
    decided = decided_conditions(facts)
    if threads is not None:
        counts = {n for one in decided for n in one["decisions"]["n_threads"]}
        decided = [
            {**one, "decisions": one["decisions"] | {"n_threads": [threads], "rows": part["rows"]}}
            for one in decided
            for part in one["decisions"]["by_threads"]
            if part["n_threads"] == threads
        ]
        if not decided:
            raise DataError(
                f"--threads {threads}: nothing was measured with that many threads, but with"
                f" {n_threads(sorted(counts))}"
            )
    for condition in decided:
        yield from _table(condition, msg_bytes, words.scene(condition))
        yield ""
    confidence = facts["method"]["statistics"]["confidence"]
    card = words.network_card(facts["network_card"], confidence)
    yield from wrapped(words.how_to_read(baseline_of(decided), confidence))
    told_here = (found for one in decided for found in answers_of(one["decisions"]))
    yield from wrapped(words.tallied(tally(told_here), confidence))
    yield from wrapped(words.emulated(decided))
    if facts["virtual"] and facts["virtual"]["compared"]:
        made_of = words.guests(facts["virtual"], confidence)
        yield from wrapped(f"In virtual machines, means over all cells: {made_of}")
    yield from wrapped(words.link(facts["wire"] or {"conditions": []}))
    yield from wrapped(f"On a real network card: {card}")
    yield from wrapped(words.undisturbed(facts["undisturbed"]))
    where = measured_on(facts["host"], facts["run"], facts["virtual"], facts["wire"])
    yield from wrapped(f"Measured on {where}.")


def _table(condition: Mapping[str, Any], msg_bytes: int | None, scene: str) -> Iterator[str]:
    """Yield a condition's table; of a size that was not measured, the rows of those next to it."""
    rows = condition["decisions"]["rows"]
    if msg_bytes is not None:
        measured = sorted({row["msg_bytes"] for row in rows})
        smaller = [size for size in measured if size <= msg_bytes]
        larger = [size for size in measured if size > msg_bytes]
        near = [msg_bytes] if msg_bytes in measured else [*smaller[-1:], *larger[:1]]
        rows = [row for row in rows if row["msg_bytes"] in near]
        if near != [msg_bytes]:
            scene += f" {exact_size(msg_bytes)} was not measured; next to it: {sizes(near)}."
    yield from decision_lines(condition, rows, scene)


def decision_lines(
    condition: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], scene: str
) -> Iterator[str]:
    """Yield the lines of a condition's table: what it is about, then two lines for each row.

    The scene says what the condition is, in Markdown without references.
    """

    def named(way: str) -> str:
        return way + (COPIED if condition["labels"].get(way) else "")

    yield from wrapped(scene)
    unit = "µs" if condition["is_trip"] else "CPUs"
    yield from _lines("", "", "", f"times {condition['decisions']['baseline']}", unit)
    for row in rows:
        size, _, threads = row_name(row, condition).partition(", ")
        fastest, cheapest = row["fastest"], row["cheapest"]
        yield from _lines(size, "fastest", with_next(fastest, named), multiple(fastest), "")
        if cheapest:
            names, cost = with_next(cheapest, named), price(row, condition)
            yield from _lines(threads, "cheapest", names, multiple(cheapest), cost)


def _lines(row: str, which: str, ways: str, ratio: str, cost: str) -> Iterator[str]:
    first, *more = textwrap.wrap(ways, _WAYS) or [""]
    cells = f"{row:<9} {which:<8} {first:<{_WAYS}} {ratio:>19} {cost:>13}"
    for line in (cells, *(f"{'':19}{names}" for names in more)):
        yield line.replace(NBSP, " ").rstrip()


def wrapped(markdown: str) -> list[str]:
    """Return sentences of a template, which hold no reference, as lines of plain text."""
    plain = one_line(markdown).replace(f"\\{COPIED}", COPIED).replace("**", "")
    return [line.replace(NBSP, " ") for line in textwrap.wrap(plain, WIDTH)]
