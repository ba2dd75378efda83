"""The rows of the report's tables, in Markdown."""

from collections.abc import Sequence
from typing import Any

from copycost.analysis.json_values import Facts
from copycost.between_runs.folders import end_of
from copycost.report.markdown import code, escape
from copycost.wording.filters import exact_size, join_and, ratio, span

_SHOWN = 12
_LONG = 60


def table_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows of each table by its name; those of a quantity by its name too."""
    quantities = facts["quantities"]
    return {
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
        ["all cells", *_ratio(q["whole"], "they contradict" if q["contradicts"] else None)],
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
