"""The tables of the chapter on the CPU budget: columns, and rows in Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from copycost.records.columns import SIDES
from copycost.report import study_values
from copycost.report.markdown import Column, code, escape
from copycost.report.study_values import Form, curve_name, in_cell, with_variant
from copycost.wording.filters import cpu, gbit, significant, span

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

_NONE = "---"
_BASIS = {"line": "the line", "points": "between two points", "least": "the least point"}


def slopes(facts: Facts) -> Table:
    """Return the lines of bitrate over CPU use, a row per curve and side."""
    columns = [
        Column("Where"),
        Column("Side"),
        Column("Gbit/s per % of a CPU", "right"),
        Column("Gbit/s at no CPU", "right"),
        Column("R²", "right"),
        Column("Linear over", "right"),
    ]
    rows = [
        [curve_name(curve, facts["section"]), side, *_line(curve["lines"][side])]
        for curve in facts["curves"]
        if curve["points"]
        for side in SIDES
    ]
    return columns, rows


def _line(line: Facts | None) -> list[str]:
    if line is None:
        return ["no line", "", "", ""]
    return [
        in_cell(line["slope"], "gbit"),
        in_cell(line["intercept"], "gbit"),
        significant(line["r_squared"], 4),
        span(line["least_cpu"], line["most_cpu"], cpu),
    ]


def published(facts: Facts) -> Table:
    """Return the published slopes and highest bitrates, each with those of this host."""
    columns = [
        Column("Scenario"),
        Column("Streams", "right"),
        Column("Gbit/s per %", "right"),
        Column("here", "right"),
        Column("Most Gbit/s", "right"),
        Column("here", "right"),
    ]
    rows = [
        [
            escape(row["scenario"]),
            str(row["parallel_streams"]),
            significant(row["gbps_per_cpu_percent"], 2),
            "; ".join(_our_slopes(row, facts["section"])) or "not measured",
            significant(row["max_bitrate_gbps"]),
            "; ".join(_our_maxima(row, facts["section"])) or "not measured",
        ]
        for row in facts["published"]
        if row["gbps_per_cpu_percent"] is not None
    ]
    return columns, rows


def _our_slopes(row: Facts, section: Facts) -> Iterator[str]:
    for curve in row["ours"]:
        text = in_cell(curve["slope"], "gbit") if curve["slope"] else "no line"
        yield with_variant(text, curve, section)


def _our_maxima(row: Facts, section: Facts) -> Iterator[str]:
    for curve in row["ours"]:
        yield with_variant(gbit(curve["maximum"]["bits_per_s"]["median"]), curve, section)


def plans(facts: Facts) -> Table:
    """Return the number of streams that takes the least CPU, a row per testbed and bitrate."""
    columns = [
        Column("Testbed"),
        Column("Gbit/s", "right"),
        Column("Streams", "right"),
        Column("Sender's CPU", "right"),
        Column("Receiver's CPU", "right"),
        Column("From"),
    ]
    return columns, [_plan(plan, facts["section"]) for plan in facts["plans"]]


def _plan(plan: Facts, section: Facts) -> list[str]:
    start = [code(plan["testbed"]), gbit(plan["bits_per_s"])]
    if plan["basis"] == "beyond":
        return [*start, *[_NONE] * 3, f"highest measured: {gbit(plan['highest_bits_per_s'])}"]
    needs = [_need(plan[side], plan["basis"]) for side in SIDES]
    basis = with_variant(_BASIS[plan["basis"]], plan, section)
    return [*start, str(plan["n_threads"]), *needs, basis]


def _need(need: Facts, basis: str) -> str:
    text = in_cell({**need, "value": need["percent"]}, "cpu")
    return f"at most {text}" if basis == "least" else text


def losses(facts: Facts) -> Table:
    """Return what was not measured, a row per reason."""
    about: dict[str, tuple[str, Form]] = {
        "testbed": ("Testbed", code),
        "implementation": ("Implementation", str),
        "limiter": ("Limiter", str),
    }
    return study_values.losses_table(facts["losses"], about)
