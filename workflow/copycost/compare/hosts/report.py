"""Writes and typesets the report over hosts, by the templates and typesetters of a run's."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.audit.report import typeset
from copycost.audit.wording import fill, lines_of
from copycost.compare.hosts.facts import HOLDS_FOR, fleet_facts
from copycost.compare.hosts.figures import NAMED_MOST, draw_forest, draw_sizes, metric_words
from copycost.compare.hosts.gathering import Fleet
from copycost.compare.hosts.meta_analysis import ACROSS_COLUMNS, judge, ratios_of, with_hosts
from copycost.figures.output import save
from copycost.records.files import write_json
from copycost.report.render import Format
from copycost.wording.filters import exact_size, join_and, percent, ratio, size, sizes, span
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

COLUMNS = (
    "On", "Ratio", "Of", ">Size", "Holds for", ">Mean", ">Further host", ">Host to host", ">Hosts",
    "From size",
)  # fmt: skip


def write_tables(fleet: Fleet, folder: Path) -> Facts:
    """Write the tables of all hosts and the facts; return these.

    ``tables/cells.parquet`` has a row per repetition, ``ratios.csv`` one per host and cell,
    ``crossovers.csv`` one per host, pair and number of threads, each with the host in front;
    ``across.csv`` is over hosts.
    """
    used = {name: fleet.tables[name] for name in fleet.used}
    tables = {
        "ratios": ratios_of(used), "crossovers": with_hosts(used, "crossovers"),
    }  # fmt: skip
    found = judge(**tables)
    tables["across"] = found.cells[list(ACROSS_COLUMNS)]
    facts = fleet_facts(fleet, found)
    tables["hosts"] = pd.DataFrame(
        [{"host": one.name, "state_of": one.host, "left_out": fleet.left_out.get(one.name)}
         | {name: said[name] for name in ("n_measured", "n_repetitions", "disturbed")}
         | fleet.tables[one.name].told
         for one, said in zip(fleet.sets, facts["hosts"], strict=True)]
    )  # fmt: skip
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
    shown: dict[str, dict[str, str]] = {}
    for pair in _pairs(facts):
        shown[pair["id"]] = {}
        for kind, draw in (("forest", draw_forest), ("sizes", draw_sizes)):
            svg = drawn / f"{pair['id']}_{kind}.svg"
            save(draw(pair), svg)
            figures.append(svg)
            shown[pair["id"]][kind] = f"assets/across/{svg.name}"
    subtitle = f"{facts['n_hosts']} {'simulated hosts' if facts['simulated'] else 'hosts'}"
    return typeset(
        "fleet.qmd.j2", out, figures, formats, title=TITLE, subtitle=subtitle, running=subtitle,
        fleet=facts, rows=table_rows(facts), pairs=list(_pairs(facts)), figures=shown,
    )  # fmt: skip


def _pairs(facts: Facts) -> Iterator[dict[str, Any]]:
    """Yield all pairs, each with an id for files and references."""
    for study, before in (("conditions", ()), ("round_trips", ("trips",))):
        for condition in facts[study]:
            for pair in condition["pairs"]:
                names = (condition["name"], pair["implementation"], pair["baseline"])
                pair["id"] = "-".join((*before, *map(slug, names)))
                pair["trips"] = bool(before)
                pair["what"] = "round trips" if before else "throughput and CPU time per byte"
                yield pair


def table_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows of the report's tables by name, in Markdown."""
    several = Counter(one["host"] for one in facts["hosts"])
    told = [(pair, one) for pair in _pairs(facts) for one in pair["quantities"]]
    return {
        "columns": COLUMNS,
        "across": [
            [*_head(pair, one), *_point(one["point"]), _from_size(one)] for pair, one in told
        ],
        "sizes": [
            [*_head(pair, one), *(sizes(held[name]) if held[name] else "" for name in _HELD)]
            for pair, one in told if any((held := one["holds"])[name] for name in _HELD)
        ],
        "outliers": [
            [code(host["name"]), *_head(pair, one), ratio(host["ratio"]),
             escape(join_and(host["unlike"])) if host["unlike"] else "nothing compared here"]
            for pair, one in told for host in one["point"]["outliers"]
        ] + [
            [f"{n} more", *_head(pair, one), "", ""] for pair, one in told
            if (n := one["point"]["n_outliers"] - len(one["point"]["outliers"]))
        ],
        "goes_with": [
            [*_head(pair, one), fact["name"], escape(_how(fact))]
            for pair, one in told for fact in one["point"]["goes_with"]
        ],
        "hosts": hosts_table(facts["hosts"]),
        "states": [
            [code(one["name"]), escape("; ".join(one["changes"]) or "the first")]
            for one in facts["hosts"] if several[one["host"]] > 1
        ],
        "doubted": [
            [code(one["name"]), escape(found["subject"]),
             f"{found['kind']} ({found['sureness']})", escape(found["found"])]
            for one in facts["doubted"] for found in one["findings"]
        ],
        "alike": [f"{one['name']} {escape(one['value'])}" for one in facts["alike"]],
    }  # fmt: skip


def _head(pair: Mapping[str, Any], quantity: Mapping[str, Any]) -> tuple[str, str, str]:
    names = f"{code(pair['implementation'])} / {code(pair['baseline'])}"
    return code(pair["condition"]), names, metric_words(quantity["metric"])


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
    turns = quantity["turns"]
    if not turns:
        return ""
    parts = []
    if turns["n_from"]:
        parts = [f"{span(turns['middle_below'], turns['middle_above'], size)} ({turns['n_from']})"]
    others = {name: n for name, n in turns["outcomes"].items() if n and name != "from"}
    return "; ".join([*parts, *(f"{name.replace('_', ' ')}: {n}" for name, n in others.items())])


def _how(fact: Mapping[str, Any]) -> str:
    """Return how a fact goes with a ratio: the mean with each value, or which way it changes."""
    if fact["groups"]:
        return "; ".join(
            f"{group['value']}: {ratio(group['ratio'])} ({plural(group['n'], 'host')})"
            for group in fact["groups"]
        )
    way = "higher" if fact["sign"] > 0 else "lower"
    return f"the more of it, the {way} the ratio, over {plural(fact['n'], 'host')}"


def hosts_table(hosts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return columns and rows of the table of hosts, without what all of them share.

    A row per host; where those would be too many, a row per kind of host, and how many there are.
    """
    told = [
        name for name in _TOLD if len({one["told"][name] for one in hosts}) > 1
    ] or ["kernel"]  # fmt: skip
    of_kinds = len(hosts) > NAMED_MOST
    kinds: dict[Any, list[Mapping[str, Any]]] = {}
    for one in hosts:
        what = tuple(one["told"][name] for name in told)
        kinds.setdefault((*what, one["left_out"]) if of_kinds else one["name"], []).append(one)
    rows = []
    for of in sorted(kinds.values(), key=len, reverse=True) if of_kinds else kinds.values():
        first, shares = of[0], [one["disturbed"] for one in of]
        head = code(first["name"]) if not of_kinds else str(len(of))
        n_measured, n = (sum(one[key] for one in of) for key in ("n_measured", "n_repetitions"))
        disturbed = span(min(shares), max(shares), percent) if of_kinds else percent(shares[0])
        facts = (escape(first["told"][name]) for name in told)
        rows.append(
            [head + _LEFT_OUT[first["left_out"]], *facts, f"{n_measured} of {n}", disturbed]
        )
    columns = [
        ">Hosts" if of_kinds else "Host",
        *(_TOLD[name] for name in told),
        ">Measured",
        ">Disturbed",
    ]
    return {"columns": columns, "rows": rows, "of_kinds": of_kinds}


def summary_lines(facts: Facts) -> list[str]:
    """Return what is printed, in lines of at most 80 columns."""
    said = []
    for pair in _pairs(facts):
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
