"""What a comparison says in rows and lines: the report's tables in Markdown, and the terminal."""

from collections.abc import Iterator
from typing import Any

from copycost.analysis.json_values import Facts
from copycost.audit.wording import fill, lines_of
from copycost.compare.runs.folders import end_of
from copycost.wording.filters import exact_size, join_and, number, percent, ratio, span
from copycost.wording.markdown import code, escape
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

NAMES = {
    "throughput": "throughput", "cpu_time": "CPU time per byte", "round_trip": "median round trip",
}  # fmt: skip
"""Quantities in words."""

_SHOWN = 12
_LONG = 60
_MOST_LINES = 10
_CONTRADICT = "better and worse"


def table_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows of each table by its name; those of a quantity by its name too."""
    quantities = facts["quantities"]
    return {
        "verdicts": [[NAMES[q["name"]], *verdict_of(q)] for q in quantities],
        "gates": list(map(gate_line, facts["gates"])),
        "runs": [
            [side.upper(), escape(end_of(run["folder"])),
             code(run["commit"][:_SHOWN]) if run["commit"] else "several or none",
             escape(run["kernel"]), escape(run["started_at"][:16].replace("T", " ")),
             str(run["n_cells"]), span(run["rounds_min"], run["rounds_max"], str),
             f"{run['n_warned']} of {run['n_repetitions']}"]
            for side in ("a", "b")
            for run in facts["sides"][side]
        ],
        "differs": [
            [one["group"] + (f" of {one['n_cells']} cells" if "n_cells" in one else ""),
             code(one["name"]), *(escape(_cut(join_and(one[side]))) for side in ("a", "b"))]
            for one in facts["differs"]
        ],
        "only": [
            [side.upper(), code(one["condition"]), code(one["implementation"]), str(one["n"])]
            for side in ("a", "b")
            for one in facts[f"only_{side}"]["where"]
        ],
        "groups": {q["name"]: _groups(q) for q in quantities},
        "cells": {
            q["name"]: [
                [code(cell["condition"]), code(cell["implementation"]),
                 exact_size(cell["msg_bytes"]), str(cell["n_threads"]), *_ratio(cell)]
                for cell in q["cells"]
            ]
            for q in quantities
        },
    }  # fmt: skip


def verdict_of(q: Facts) -> list[str]:
    """Return what is said of a quantity over all cells.

    The ratio, its interval, the verdict, cells better/open/worse in B, the difference that would
    have stood in a cell, and by how much runs of one side differed over all cells.
    """
    n_open = q["n_cells"] - q["n_better"] - q["n_worse"]
    spread = q["spread_of_runs"]
    return [
        *(("none", "none", _CONTRADICT) if q["contradicts"] else _ratio(q["whole"])),
        f"{q['n_better']}/{n_open}/{q['n_worse']}",
        "none" if q["half_width"] is None else percent(q["half_width"]),
        "not known"
        if spread is None
        else f"{percent(spread['cell'])} in a cell, {percent(spread['whole'])} over all",
    ]


def verdict_line(q: Facts) -> str:
    """Return the same as a line."""
    mean, interval, verdict, cells, smallest, spread = verdict_of(q)
    return (
        f"{NAMES[q['name']]}, B / A: {mean} ({interval}), {verdict}; cells better/open/worse in B: "
        f"{cells}; would have shown in a cell: {smallest}; runs of a side differ by: {spread}"
    )


def gate_line(gate: Facts) -> str:
    """Return what a bound of ``--fail-if`` has shown."""
    smallest = gate["smallest_percent"]
    said = "cannot tell" if gate["cannot_tell"] else "not shown"
    if gate["fails"]:
        where = ["over all cells together"] if gate["whole"] else []
        where += [f"in {plural(len(gate['cells']), 'cell')}"] if gate["cells"] else []
        said = f"shown {join_and(where)}"
    could = "none" if smallest is None else f"{number(smallest)} %"
    of = "in every cell" if gate["contradicts"] else "over all cells"
    return (
        f"{gate['word']} by more than {number(gate['percent'])} %: {said}; the smallest change {of}"
        f" that could have been shown: {could}"
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]} ..."


def _groups(q: Facts) -> list[list[str]]:
    return [
        ["all cells", *_ratio(q["whole"], _CONTRADICT if q["contradicts"] else None)],
        *(
            [f"{code(one['implementation'])} on {code(one['condition'])}", *_ratio(one)]
            for one in q["ways"]
        ),
        *([exact_size(one["msg_bytes"]), *_ratio(one)] for one in q["sizes"]),
    ]


def _ratio(found: Facts, instead: str | None = None) -> list[str]:
    low, high = found["low"], found["high"]
    interval = "none" if low is None or high is None else f"{ratio(low)} to {ratio(high)}"
    return [ratio(found["ratio"]), interval, instead or found["verdict"]]


ABOUT = {"command": "compare", "about": "this with facts.json of the comparison"}
"""What to do where a template asks for a fact that there is not."""


def summary_lines(facts: Facts) -> list[str]:
    """Return the lines, of at most 80 columns; a folder's name is never broken."""
    said = fill(
        "between_runs.txt.j2", compared=facts, gates=map(gate_line, facts["gates"]),
        verdicts={q["name"]: verdict_line(q) for q in facts["quantities"]}, **ABOUT,
    )  # fmt: skip
    lines: list[str] = []
    for line in said.splitlines():
        text, mark, quantity = line.partition("## cells of ")
        lines += _standing(facts, quantity) if mark else lines_of(text)
    return lines


def _standing(facts: Facts, quantity: str) -> Iterator[str]:
    """Yield a line per cell that stands, worst first."""
    found = next(one for one in facts["quantities"] if one["name"] == quantity)
    standing = [cell for cell in found["cells"] if cell["sign"]]
    standing.sort(key=lambda cell: (cell["better"], cell["p_holm"]))
    for cell in standing[:_MOST_LINES]:
        where = (
            f"{cell['condition']} {cell['implementation']} {exact_size(cell['msg_bytes'])} x "
            f"{plural(cell['n_threads'], 'thread')}"
        ).replace(NBSP, " ")
        span = f"{ratio(cell['ratio'])} ({ratio(cell['low'])} to {ratio(cell['high'])})"
        yield f"  {cell['verdict']:14} {where:40} {span}"
    if len(standing) > _MOST_LINES:
        yield f"  and {len(standing) - _MOST_LINES} more, in the report"
