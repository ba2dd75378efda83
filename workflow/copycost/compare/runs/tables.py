"""The rows of the report's tables, in Markdown."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment

from copycost.analysis.json_values import Facts
from copycost.checkout import ROOT
from copycost.compare.runs.folders import end_of
from copycost.report.markdown import code, escape
from copycost.report.write import fill_from, make_environment
from copycost.wording.filters import exact_size, join_and, number, percent, ratio, span
from copycost.wording.words import plural

NAMES = {
    "throughput": "throughput", "cpu_time": "CPU time per byte", "round_trip": "median round trip",
}  # fmt: skip
"""Quantities in words."""

_SHOWN = 12
_LONG = 60
_CONTRADICT = "better and worse"


def table_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows of each table by its name; those of a quantity by its name too."""
    quantities = facts["quantities"]
    return {
        "verdicts": [[NAMES[q["name"]], *verdict_of(q)] for q in quantities],
        "gates": list(map(gate_line, facts["gates"])),
        "runs": [
            _run(side, run) for side in ("a", "b") for run in facts["sides"][side]
        ],
        "differs": [_differing(one) for one in facts["differs"]],
        "only": [
            [side.upper(), code(one["condition"]), code(one["implementation"]), str(one["n"])]
            for side in ("a", "b")
            for one in facts[f"only_{side}"]["where"]
        ],
        "groups": {q["name"]: _groups(q) for q in quantities},
        "cells": {q["name"]: [_cell(cell) for cell in q["cells"]] for q in quantities},
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
        "not told"
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
    return (
        f"{gate['word']} by more than {number(gate['percent'])} %: {said}; the smallest change over"
        f" all cells that could have been shown: {could}"
    )


def _run(side: str, run: Facts) -> list[str]:
    return [
        side.upper(),
        escape(end_of(run["folder"])),
        code(run["commit"][:_SHOWN]) if run["commit"] else "several or none",
        escape(run["kernel"]),
        escape(run["started_at"][:16].replace("T", " ")),
        str(run["n_cells"]),
        span(run["rounds_min"], run["rounds_max"], str),
        f"{run['n_warned']} of {run['n_repetitions']}",
    ]


def _differing(one: Facts) -> list[str]:
    group = one["group"]
    if "n_cells" in one:
        group += f" of {one['n_cells']} cells"
    return [group, code(one["name"]), _values(one["a"]), _values(one["b"])]


def _values(values: Sequence[str]) -> str:
    text = join_and(values)
    return escape(text if len(text) <= _LONG else f"{text[:_LONG]} ...")


def _groups(q: Facts) -> list[list[str]]:
    return [
        ["all cells", *_ratio(q["whole"], _CONTRADICT if q["contradicts"] else None)],
        *(
            [f"{code(one['implementation'])} on {code(one['condition'])}", *_ratio(one)]
            for one in q["ways"]
        ),
        *([exact_size(one["msg_bytes"]), *_ratio(one)] for one in q["sizes"]),
    ]


def _cell(cell: Facts) -> list[str]:
    return [
        code(cell["condition"]),
        code(cell["implementation"]),
        exact_size(cell["msg_bytes"]),
        str(cell["n_threads"]),
        *_ratio(cell),
    ]


def _ratio(found: Facts, instead: str | None = None) -> list[str]:
    low, high = found["low"], found["high"]
    interval = "none" if low is None or high is None else f"{ratio(low)} to {ratio(high)}"
    return [ratio(found["ratio"]), interval, instead or found["verdict"]]


TEMPLATES = ROOT / "report"


@cache
def _environment() -> Environment:
    return make_environment(TEMPLATES)


def fill(template: str, **context: Any) -> str:  # noqa: ANN401 - whatever a template asks for
    """Return the text of a template; DataError if it asks for a fact that there is not."""
    return fill_from(
        _environment(), template, context, "compare", "this with facts.json of the comparison"
    )
