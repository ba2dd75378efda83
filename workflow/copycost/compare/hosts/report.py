"""Writes and typesets the report over hosts, by the templates and typesetters of a run's."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.compare.audit.report import typeset
from copycost.compare.audit.wording import fill, lines_of
from copycost.compare.hosts.facts import fleet_facts
from copycost.compare.hosts.figures import NAMED_MOST, draw_forest, metric_words
from copycost.compare.hosts.fleet import ACROSS_COLUMNS, Fleet, judge
from copycost.figures.output import save
from copycost.records.files import write_json
from copycost.report.typeset import Format
from copycost.wording.filters import exact_size, percent, ratio, size, sizes, span
from copycost.wording.markdown import code, escape
from copycost.wording.words import plural

TITLE = "What each copy costs, on many hosts"
_LEFT_OUT = {None: "", "older": ", earlier", "one_kernel": ", left out"}
_MOST_NAMED = 8
_HELD = ("better", "worse", "depends")
_TOLD = ("kernel", "processor", "CPUs", "last-level cache", "virtualisation")
"""Facts that the table of hosts has."""


def write_tables(fleet: Fleet, folder: Path) -> Facts:
    """Write the tables of all hosts and the facts; return these.

    ``tables/cells.parquet`` has a row per repetition, ``ratios.csv`` one per host and cell,
    ``crossovers.csv`` one per host, pair and number of threads, each with the host in front;
    ``across.csv`` is over hosts.
    """
    ratios, crossovers = fleet.table("ratios"), fleet.table("crossovers")
    found = judge(ratios, crossovers)
    facts = fleet_facts(fleet, found)
    hosts = [
        {"host": one["name"], "state_of": one["host"]}
        | {name: one[name] for name in ("left_out", "n_measured", "n_repetitions", "disturbed")}
        | one["told"]
        for one in facts["hosts"]
    ]
    tables = {
        "ratios": ratios, "crossovers": crossovers, "across": found.cells[list(ACROSS_COLUMNS)],
        "hosts": pd.DataFrame(hosts),
    }  # fmt: skip
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / "tables" / f"{name}.csv", index=False)
    fleet.table("cells").to_parquet(folder / "tables" / "cells.parquet", index=False)
    write_json(facts, folder / "facts.json")
    return facts


def write_report(facts: Facts, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """Draw the figures, write the report and typeset it; return the reports."""
    out = folder / "report"
    drawn = out / "figures" / "across"
    drawn.mkdir(parents=True, exist_ok=True)
    figures: list[Path] = []
    for pair in facts["pairs"]:
        figures.append(drawn / f"{pair['id']}.svg")
        save(draw_forest(pair), figures[-1])
    subtitle = plural(facts["n_hosts"], "host")
    return typeset(
        "fleet.qmd.j2", out, figures, formats, title=TITLE, subtitle=subtitle, running=subtitle,
        fleet=facts, rows=table_rows(facts),
    )  # fmt: skip


def table_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows of the report's tables by name, in Markdown."""
    several = Counter(one["host"] for one in facts["hosts"])
    told = [
        ([code(pair["condition"]), f"{code(pair['implementation'])} / {code(pair['baseline'])}",
          metric_words(one["metric"])], one)
        for pair in facts["pairs"] for one in pair["quantities"]
    ]  # fmt: skip
    return {
        "across": [[*head, *_point(one), _from_size(one)] for head, one in told],
        "sizes": [
            [*head, *held] for head, one in told
            if any(held := [sizes(at) if (at := one["holds"][name]) else "" for name in _HELD])
        ],
        "outliers": [row for head, one in told for row in _outliers(head, one)],
        "hosts": [
            [code(one["name"]) + _LEFT_OUT[one["left_out"]],
             *(_told(name, one["told"][name]) for name in _TOLD),
             f"{one['n_measured']} of {one['n_repetitions']}", percent(one["disturbed"])]
            for one in facts["hosts"][:NAMED_MOST]
        ],
        "states": [
            [code(one["name"]), escape("; ".join(one["changes"]) or "the first")]
            for one in facts["hosts"] if several[one["host"]] > 1
        ],
        "doubted": [
            [code(one["name"]), escape(found["subject"]),
             f"{found['kind']} ({found['sureness']})", escape(found["found"])]
            for one in facts["hosts"] for found in one["doubts"]
        ],
    }  # fmt: skip


def _outliers(head: Sequence[str], quantity: Facts) -> Iterator[list[str]]:
    """Yield a row for each of the first outliers, and one for how many more there are."""
    ratios = {one["host"]: one["ratio"] for one in quantity["hosts"]}
    for host in quantity["outliers"][:_MOST_NAMED]:
        yield [code(host), *head, ratio(ratios[host])]
    if (more := len(quantity["outliers"]) - _MOST_NAMED) > 0:
        yield [f"{more} more", *head, ""]


def _told(name: str, value: str | float | None) -> str:
    if value is None:
        return "not reported"
    is_size = name.endswith("cache") and not isinstance(value, str)
    return escape(exact_size(int(value)) if is_size else value)


def _point(quantity: Facts) -> list[str]:
    """Return the size, what holds, the mean, what is expected, how hosts differ, and how many."""
    point = quantity["point"]
    spread = point["spread"]
    return [
        exact_size(point["msg_bytes"]),
        point["holds_for"],
        ratio(point["ratio"]),
        "not known" if point["next_low"] is None else span(point["next_low"], point["next_high"]),
        "not known" if spread is None else percent(spread),
        "/".join(str(point[name]) for name in ("n_better", "n_open", "n_worse")),
    ]


def _from_size(quantity: Facts) -> str:
    """Return where the middle host turns, and how many hosts do so, and do otherwise."""
    if quantity["turns"] is None:
        return ""
    turns = dict(quantity["turns"])
    below, above = turns.pop("middle")
    n_from = turns.pop("from")
    parts = [f"{span(below, above, size)} ({n_from})"] if n_from else []
    return "; ".join(parts + [f"{name.replace('_', ' ')}: {n}" for name, n in turns.items() if n])


def summary_lines(facts: Facts) -> list[str]:
    """Return what is printed, in lines of at most 80 columns: of each pair the first quantity."""
    said = [
        (pair, metric_words(first["metric"]), _point(first), _from_size(first))
        for pair in facts["pairs"]
        if pair["baseline"] == BASELINE and (first := pair["quantities"][0])
    ]
    return lines_of(fill("fleet.txt.j2", fleet=facts, lines=said))
