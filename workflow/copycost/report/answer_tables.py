"""The tables of the answers: how each expectation fared, and which checks flag which cells."""

from collections.abc import Mapping
from typing import Any

from copycost.report.answer_values import case
from copycost.report.markdown import Column, pipe_table, slug
from copycost.wording.filters import gbit, impl, join_and, n_threads, number, percent, ratio, size

Facts = Mapping[str, Any]

_CHECKS = {
    "spread": "Spread of the throughput over the rounds",
    "halves": "Halves of the window apart",
    "drift": "Drift of the throughput over the rounds",
    "retransmits": "Segments sent again per gigabyte",
    "multiplexed": "Share of the window that a counter ran",
    "few_repetitions": "Measured repetitions",
    "foreign_load": "Repetitions with foreign load",
    "steal": "Repetitions with CPU time stolen",
    "throttled": "Repetitions with a lowered clock",
    "window_edge_late": "Repetitions with a late window",
    "odd_numbers": "Repetitions with odd numbers",
}
_SHARES = ("spread", "halves", "drift")
_LEAST = ("multiplexed", "few_repetitions")


def expectations_table(condition: Facts) -> str:
    """Return how the expectations that could be tested fared under a condition, in Markdown."""
    name = condition["slug"]
    rows = [
        [
            found["statement"],
            str(found["n_held"]),
            str(found["n_open"]),
            str(found["n_violated"]),
            _strongest(found["strongest"]),
        ]
        for found in condition["questions"]["q6"]["expectations"]
        if found["n_tested"]
    ]
    columns = [
        Column("Expected"),
        Column("As expected", "right"),
        Column("No difference", "right"),
        Column("Against", "right"),
        Column("Strongest case against"),
    ]
    caption = (
        f"Expectations on `{name}`, by number of comparisons; the last column is a ratio, and "
        "where it was found."
    )
    return pipe_table(columns, rows, caption, f"tbl-{slug(name)}-expectations")


def _strongest(found: Facts | None) -> str:
    return f"about {ratio(found['value'])}: {case(found['where'])}" if found else "none"


def quality_table(condition: Facts) -> str:
    """Return the checks whose values were measured under a condition, in Markdown."""
    name = condition["slug"]
    rows = [
        [
            _CHECKS[gate["id"]],
            _bound(gate),
            str(gate["n_cells"]),
            _value(gate["id"], gate["worst"]["value"]),
            _cell(gate["worst"]) if gate["n_cells"] else "none",
            _changed(gate),
        ]
        for gate in condition["quality"]["gates"]
        if gate["worst"]
    ]
    columns = [
        Column("Check"),
        Column("Flagged if"),
        Column("Cells flagged", "right"),
        Column("Worst value", "right"),
        Column("In the cell"),
        Column("Verdicts changed without", "right"),
    ]
    caption = (
        f"Checks of the measured cells on `{name}`. The last column has the throughput comparisons "
        "with another verdict without the repetitions that the check flags, of those that keep "
        "more than one round, and how many do not. `tables/quality.csv` has every cell."
    )
    return pipe_table(columns, rows, caption, f"tbl-{slug(name)}-quality")


def modes_table(condition: Facts) -> str:
    """Return the cells whose repetitions fall into two clusters, in Markdown."""
    name = condition["slug"]
    columns = [
        Column("Cell"),
        Column("Lower [Gbit/s]", "right"),
        Column("Rounds"),
        Column("Upper [Gbit/s]", "right"),
        Column("Rounds", "right"),
    ]
    rows = [
        [
            _cell(found),
            gbit(found["lower"]),
            join_and(found["rounds"]),
            gbit(found["upper"]),
            f"the other {found['n_upper']}",
        ]
        for found in condition["quality"]["modes"]
    ]
    caption = (
        f"Cells on `{name}` whose throughputs fall into two clusters, with the median of each; "
        "`docs/method.md` says how often noise is taken for two."
    )
    return pipe_table(columns, rows, caption, f"tbl-{slug(name)}-modes")


def unmeasured_checks(condition: Facts) -> str:
    """Return the names of the checks whose values were not measured; empty if all were."""
    names = [_CHECKS[gate["id"]] for gate in condition["quality"]["gates"] if not gate["worst"]]
    return join_and(name[:1].lower() + name[1:] for name in names)


def _value(check: str, value: float) -> str:
    if check in _SHARES:
        return percent(value)
    return f"{number(value)}\N{NO-BREAK SPACE}%" if check == "multiplexed" else number(value)


def _bound(gate: Facts) -> str:
    value = _value(gate["id"], gate["threshold"])
    if gate["id"] in _LEAST:
        return f"under {value}"
    return f"over {value}" if gate["id"] in _SHARES else f"{value} or more"


def _cell(worst: Facts) -> str:
    threads = n_threads([worst["n_threads"]])
    return f"{impl(worst['implementation'])}, {size(worst['msg_bytes'])}, {threads}"


def _changed(gate: Facts) -> str:
    without = gate["without"]
    if without and without["n_compared"]:
        found = f"{without['n_changed']} of {without['n_compared']}"
        return f"{found}, {without['n_lost']} not to be told" if without["n_lost"] else found
    return "not to be told" if without or gate["n_cells"] else "none flagged"
