"""The tables of the chapter on the CPU budget: columns, and rows in Markdown."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from copycost.records.columns import SIDES
from copycost.report import study_values
from copycost.report.guests_table import inside_and_outside
from copycost.report.markdown import Column, code, escape, slug
from copycost.report.study_values import Form, cpu_range, curve_name, in_cell, with_variant
from copycost.wording.filters import cpu, gbit, significant, span

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]

_NONE = "---"
_PARTIES = {
    "sender": "sender",
    "receiver": "receiver",
    "sender_guest": "sender's guest",
    "sender_hypervisor": "QEMU, sender's guest",
    "receiver_guest": "receiver's guest",
    "receiver_hypervisor": "QEMU, receiver's guest",
    "host": "whole host",
}
_BASIS = {"line": "the line", "points": "between two points", "least": "the least point"}


def slopes(facts: Facts) -> Table:
    """Return the lines of bitrate over CPU use, a row per curve and side."""
    columns = [
        Column("Where"),
        Column("Whose CPU"),
        Column("Gbit/s per % of a CPU", "right"),
        Column("Gbit/s at no CPU", "right"),
        Column("R²", "right"),
        Column("Linear over", "right"),
    ]
    rows = [
        [curve_name(curve, facts["section"]), _PARTIES.get(party, party), *_line(line)]
        for curve in facts["curves"]
        if curve["points"]
        for party, line in curve["lines"].items()
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


def outside(curve: Facts) -> Table:
    """Return what was used inside and outside the guests of a curve, a row per step and guest."""
    return inside_and_outside(curve, "Offered", lambda point: cpu(point["limit_percent"]))


def outside_id(curve: Facts) -> str:
    """Return the id of the table of a curve's guests."""
    parts = (curve[name] for name in ("testbed", "implementation", "limiter", "n_threads"))
    return f"tbl-budget-outside-{'-'.join(slug(str(part)) for part in parts)}"


def costs(facts: Facts) -> Table:
    """Return what a byte cost each party at the highest bitrate, a column per curve with guests."""
    curves = [curve for curve in facts["curves"] if curve["guests"] and curve["points"]]
    found = [curve["maximum"]["ns_per_byte"] for curve in curves]
    columns = [
        Column("CPU time"),
        *(Column(curve_name(curve, facts["section"]), "right") for curve in curves),
    ]
    rows = [
        [title, *(in_cell(of[party], "significant") if party in of else _NONE for of in found)]
        for party, title in _PARTIES.items()
        if any(party in of for of in found)
    ]
    return columns, rows


def published_outside(facts: Facts) -> Table:
    """Return the published CPU use inside and outside guests, each with that of this host."""
    columns = [
        Column("Scenario"),
        Column("Streams", "right"),
        Column("Inside", "right"),
        Column("here", "right"),
        Column("QEMU outside", "right"),
        Column("here", "right"),
    ]
    rows = [
        [
            escape(row["scenario"]),
            str(row["parallel_streams"]),
            " + ".join(_published_spans(row)),
            "; ".join(_our_spans(row, facts["section"], SIDES)) or "not measured",
            cpu_range({"low": row["qemu_cpu_min_percent"], "high": row["qemu_cpu_max_percent"]}),
            "; ".join(_our_spans(row, facts["section"], ["hypervisor"])) or "not measured",
        ]
        for row in facts["published"]
        if row["qemu_cpu_max_percent"] is not None
    ]
    return columns, rows


def _published_spans(row: Facts) -> Iterator[str]:
    for name in ("client", "server"):
        low, high = row[f"{name}_cpu_min_percent"], row[f"{name}_cpu_max_percent"]
        if high is not None:
            yield cpu_range({"low": low, "high": high})


def _our_spans(row: Facts, section: Facts, parties: Iterable[str]) -> Iterator[str]:
    for curve in row["ours"]:
        if curve["span"]:
            known = (curve["span"].get(party) for party in parties)
            yield with_variant(" + ".join(cpu_range(of) for of in known if of), curve, section)


def plans(facts: Facts) -> Table:
    """Return the number of streams that takes the least CPU, a row per testbed and bitrate."""
    columns = [
        Column("Testbed"),
        Column("Gbit/s", "right"),
        Column("Streams", "right"),
        Column("Sender's CPU", "right"),
        Column("Receiver's CPU", "right"),
        *([Column("QEMU's CPU", "right")] if facts["guests"] else []),
        Column("From"),
    ]
    in_guests = facts["guests"] is not None
    return columns, [_plan(plan, facts["section"], in_guests) for plan in facts["plans"]]


def _plan(plan: Facts, section: Facts, in_guests: bool) -> list[str]:
    start = [code(plan["testbed"]), gbit(plan["bits_per_s"])]
    if plan["basis"] == "beyond":
        most = with_variant(gbit(plan["highest_bits_per_s"]), {"emulated": plan["emulated"]}, {})
        return [*start, *[_NONE] * (4 if in_guests else 3), f"highest measured: {most}"]
    needs = [_need(plan[side], plan["basis"]) for side in SIDES]
    if in_guests:
        outside = [_need(need, plan["basis"]) for need in plan["outside"].values()]
        needs.append(" + ".join(outside) or _NONE)
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
