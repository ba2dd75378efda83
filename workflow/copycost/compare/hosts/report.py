"""Writes and typesets the report over hosts, by the templates and typesetters of a run's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.compare.audit.report import typeset
from copycost.compare.audit.wording import fill, lines_of
from copycost.compare.hosts.facts import HOLDS_FOR, fleet_facts
from copycost.compare.hosts.figures import NAMED_MOST, draw_forest, metric_words
from copycost.compare.hosts.gathering import Fleet
from copycost.compare.hosts.meta_analysis import ACROSS_COLUMNS, judge, with_hosts
from copycost.figures.output import save
from copycost.records.files import write_json
from copycost.report.typeset import Format
from copycost.wording.filters import exact_size, percent, ratio, size, sizes, span
from copycost.wording.markdown import code, escape, slug
from copycost.wording.words import plural

TITLE = "What each copy costs, on many hosts"
_LEFT_OUT = {None: "", "older": ", earlier", "one_kernel": ", left out"}
_HELD = ("better", "worse", "depends")
_TOLD = {
    "kernel": "Linux", "processor": "Processor", "CPUs": ">CPUs",
    "last-level cache": ">Last-level cache", "virtualisation": "Virtual",
}  # fmt: skip
"""Facts that the table of hosts has, with the titles of their columns."""

COLUMNS = {
    "across": (
        "On", "Ratio", "Of", ">Size", "Holds for", ">Mean", ">Further host", ">Host to host",
        ">Hosts", "From size",
    ),
    "hosts": ("Host", *_TOLD.values(), ">Measured", ">Disturbed"),
}  # fmt: skip


def write_tables(fleet: Fleet, folder: Path) -> Facts:
    """Write the tables of all hosts and the facts; return these.

    ``tables/cells.parquet`` has a row per repetition, ``ratios.csv`` one per host and cell,
    ``crossovers.csv`` one per host, pair and number of threads, each with the host in front;
    ``across.csv`` is over hosts.
    """
    used = {name: fleet.tables[name] for name in fleet.used}
    ratios, crossovers = with_hosts(used, "ratios"), with_hosts(used, "crossovers")
    found = judge(ratios, crossovers)
    facts = fleet_facts(fleet, found)
    hosts = [
        {"host": one.name, "state_of": one.host, "left_out": fleet.left_out.get(one.name)}
        | {name: said[name] for name in ("n_measured", "n_repetitions", "disturbed")}
        | fleet.tables[one.name].told
        for one, said in zip(fleet.sets, facts["hosts"], strict=True)
    ]
    tables = {
        "ratios": ratios, "crossovers": crossovers, "across": found.cells[list(ACROSS_COLUMNS)],
        "hosts": pd.DataFrame(hosts),
    }  # fmt: skip
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / "tables" / f"{name}.csv", index=False)
    with_hosts(used, "cells").to_parquet(folder / "tables" / "cells.parquet", index=False)
    write_json(facts, folder / "facts.json")
    return facts


def write_report(facts: Facts, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """Draw the figures, write the report and typeset it; return the reports."""
    out = folder / "report"
    drawn = out / "figures" / "across"
    drawn.mkdir(parents=True, exist_ok=True)
    figures: list[Path] = []
    pairs = []
    for pair in facts["pairs"]:
        names = (pair["condition"], pair["implementation"], pair["baseline"])
        trips = ["trips"] if pair["study"] == "round_trips" else []
        pairs.append(pair | {"id": "-".join([*trips, *map(slug, names)])})
        figures.append(drawn / f"{pairs[-1]['id']}.svg")
        save(draw_forest(pair), figures[-1])
    subtitle = plural(facts["n_hosts"], "host")
    return typeset(
        "fleet.qmd.j2", out, figures, formats, title=TITLE, subtitle=subtitle, running=subtitle,
        fleet=facts, columns=COLUMNS, rows=table_rows(facts), pairs=pairs,
    )  # fmt: skip


def table_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows of the report's tables by name, in Markdown."""
    several = Counter(one["host"] for one in facts["hosts"])
    told = [
        (
            (code(pair["condition"]), f"{code(pair['implementation'])} / {code(pair['baseline'])}",
             metric_words(one["metric"])),
            one,
        )
        for pair in facts["pairs"] for one in pair["quantities"]
    ]  # fmt: skip
    return {
        "across": [[*head, *_point(one["point"]), _from_size(one)] for head, one in told],
        "sizes": [
            [*head, *(sizes(held[name]) if held[name] else "" for name in _HELD)]
            for head, one in told if any((held := one["holds"])[name] for name in _HELD)
        ],
        "outliers": [
            [code(host["name"]), *head, ratio(host["ratio"])]
            for head, one in told for host in one["point"]["outliers"]
        ] + [
            [f"{n} more", *head, ""] for head, one in told
            if (n := one["point"]["n_outliers"] - len(one["point"]["outliers"]))
        ],
        "hosts": [
            [code(one["name"]) + _LEFT_OUT[one["left_out"]],
             *(escape(one["told"][name]) for name in _TOLD),
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
            for one in facts["doubted"] for found in one["findings"]
        ],
    }  # fmt: skip


def _point(point: Mapping[str, Any]) -> list[str]:
    """Return the size, what holds, the mean, what is expected, how hosts differ, and how many."""
    spread = point["spread"]
    return [
        exact_size(point["msg_bytes"]),
        HOLDS_FOR[point["verdict"]],
        ratio(point["ratio"]),
        "not known" if point["next_low"] is None else span(point["next_low"], point["next_high"]),
        "not known" if spread is None else percent(spread),
        "/".join(str(point[name]) for name in ("n_better", "n_open", "n_worse")),
    ]


def _from_size(quantity: Mapping[str, Any]) -> str:
    """Return where the middle host turns, and how many hosts do so, and do otherwise."""
    if not quantity["turns"]:
        return ""
    others = dict(quantity["turns"]["outcomes"])
    below, above = quantity["turns"]["middle"]
    n_from = others.pop("from")
    parts = [f"{span(below, above, size)} ({n_from})"] if n_from else []
    parts += [f"{name.replace('_', ' ')}: {n}" for name, n in others.items() if n]
    return "; ".join(parts)


def summary_lines(facts: Facts) -> list[str]:
    """Return what is printed, in lines of at most 80 columns."""
    said = []
    for pair in facts["pairs"]:
        if pair["baseline"] == "two_copy":
            first = pair["quantities"][0]
            at, holds, mean, further, _, hosts = _point(first["point"])
            said.append(
                f"{pair['condition']}, {pair['implementation']} / two_copy, "
                f"{metric_words(first['metric'])} at {at}: {mean}, {holds} (further host: "
                f"{further}); better/open/worse on {hosts} hosts"
                + (f"; from size: {_from_size(first)}" if first["turns"] else "")
            )
    return lines_of(fill("fleet.txt.j2", fleet=facts, lines=said))
