"""What a comparison says in rows and lines: the report's tables in Markdown, and the terminal."""

from collections.abc import Iterator
from typing import Any

from copycost.analysis.json_values import Facts
from copycost.compare.audit.wording import fill, lines_of
from copycost.wording.filters import exact_size, join_and, number, percent, ratio, span
from copycost.wording.markdown import code, escape
from copycost.wording.words import plural

NAMES = {
    "throughput": "throughput", "cpu_time": "CPU time per byte", "round_trip": "median round trip",
}  # fmt: skip
"""Quantities in words."""

_SHOWN = 12
_LONG = 60
_MOST_LINES = 10
_MOST_OF_A_PATH = 24
_CONTRADICT = "better and worse"

ABOUT = {"command": "compare", "about": "this with facts.json of the comparison"}
"""What to do where a template asks for a fact that there is not."""


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
            for side, runs in facts["sides"].items()
            for run in runs
        ],
        "differs": [
            [one["group"] + (f" of {one['n_cells']} cells" if "n_cells" in one else ""),
             code(one["name"]), *(escape(_cut(join_and(one[side]))) for side in ("a", "b"))]
            for one in facts["differs"]
        ],
        "groups": {
            q["name"]: [
                ["all cells", *_mean_of(q)],
                *([f"{code(one['implementation'])} on {code(one['condition'])}", *_ratio(one)]
                  for one in q["ways"]),
                *([exact_size(one["msg_bytes"]), *_ratio(one)] for one in q["sizes"]),
            ]
            for q in quantities
        },
        "cells": {
            q["name"]: [
                [code(cell["condition"]), code(cell["implementation"]),
                 exact_size(cell["msg_bytes"]), str(cell["n_threads"]), *_ratio(cell)]
                for cell in q["cells"]
            ]
            for q in quantities
        },
    }  # fmt: skip


def _ratio(found: Facts) -> list[str]:
    low, high = found["low"], found["high"]
    interval = "none" if low is None or high is None else f"{ratio(low)} to {ratio(high)}"
    return [ratio(found["ratio"]), interval, found["verdict"]]


def _mean_of(q: Facts) -> list[str]:
    """Return ratio, interval and verdict over all cells, but of cells that contradict each other.

    A single ratio would speak for neither.
    """
    return ["none", "none", _CONTRADICT] if q["contradicts"] else _ratio(q["whole"])


def verdict_of(q: Facts) -> list[str]:
    """Return what is said of a quantity over all cells.

    The ratio, its interval, the verdict, cells better/open/worse in B, the difference that would
    have stood in a cell, and by how much runs of one side differed over all cells.
    """
    n_open = q["n_cells"] - q["n_better"] - q["n_worse"]
    spread = q["spread_of_runs"]
    return [
        *_mean_of(q),
        f"{q['n_better']}/{n_open}/{q['n_worse']}",
        "none" if q["half_width"] is None else percent(q["half_width"]),
        "not known"
        if spread is None
        else f"{percent(spread['cell'])} in a cell, {percent(spread['whole'])} over all",
    ]


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


def end_of(folder: str) -> str:
    """Return as much of the end of a path as a column has room for; `facts.json` has the whole.

    No word of a table is broken, so a long path would leave the other columns too narrow.
    """
    parts = folder.split("/")
    while len(parts) > 1 and len("/".join(parts)) > _MOST_OF_A_PATH:
        parts = parts[1:]
    end = "/".join(parts)
    return end if end == folder else f".../{end}"


def summary_lines(facts: Facts) -> list[str]:
    """Return the lines that are printed, of at most 80 columns; no folder's name is broken."""
    quantities = [(_verdict_line(q), list(_standing(q))) for q in facts["quantities"]]
    gates = map(gate_line, facts["gates"])
    said = fill("between_runs.txt.j2", compared=facts, quantities=quantities, gates=gates, **ABOUT)
    return lines_of(said)


def _verdict_line(q: Facts) -> str:
    mean, interval, verdict, cells, smallest, spread = verdict_of(q)
    return (
        f"{NAMES[q['name']]}, B / A: {mean} ({interval}), {verdict}; cells better/open/worse in B: "
        f"{cells}; would have shown in a cell: {smallest}; runs of a side differ by: {spread}"
    )


def _standing(q: Facts) -> Iterator[str]:
    """Yield a line per cell that stands, worst first."""
    standing = [cell for cell in q["cells"] if cell["sign"]]
    standing.sort(key=lambda cell: (cell["better"], cell["p_holm"]))
    for cell in standing[:_MOST_LINES]:
        where = (
            f"{cell['condition']} {cell['implementation']} {exact_size(cell['msg_bytes'])} x "
            f"{plural(cell['n_threads'], 'thread')}"
        )
        found, interval, verdict = _ratio(cell)
        yield f"  {verdict:14} {where:40} {found} ({interval})"
    if len(standing) > _MOST_LINES:
        yield f"  and {len(standing) - _MOST_LINES} more, in the report"
