"""Everything that the templates of the report see."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from copycost.analysis.finding import read_finding
from copycost.checkout import ROOT
from copycost.config.check import normalised
from copycost.config.problems import DEFAULTS
from copycost.config.text import read_sections
from copycost.figures.markers import in_order
from copycost.figures.names import OVERVIEW
from copycost.records.aside import aside_facts
from copycost.records.files import read_json
from copycost.report.assets import shown_figures, worth_showing
from copycost.report.conditions import place
from copycost.report.host_table import (
    counter_rows,
    guest_rows,
    host_rows,
    measured_on,
    uncounted_events,
)
from copycost.report.markdown import code, escape
from copycost.report.results_table import VAGUE_FACTOR, Wording, read_tables, results_table
from copycost.report.strategies import strategy_notes
from copycost.report.tables import commit_only, run_rows
from copycost.wording.sources import with_sources

BASELINE = "two_copy"

CHAPTERS = ("profile", "cpu_budget", "datagrams", "simulated")
"""Further studies, in the order of their chapters.

The template of one is ``report/NAME.qmd.j2``. It is part of the report where its facts are among
the `Sources`, and sees them as the variable NAME (None elsewhere) and its figures as
``figures.NAME``.
"""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files that the report is written from.

    Attributes
    ----------
    facts, summary, ratios, config
        results/facts.json, tables/summary.csv, tables/ratios.csv, config.yaml.
    figures
        SVG files, ``.../{condition}/{figure}.svg``, each with its CSV next to it; those of no
        single condition are in ``all``, those of a further study in a folder of its name.
    published
        results/published/beside.json; None to leave the chapter out.
    chapters
        Facts of further studies by the name of their chapter; see `CHAPTERS`.
    strategies
        C files of strategies, to quote their header comments.
    diagrams
        SVG files by the names of strategies.
    aside
        Notes on what was set aside, if anything was.
    not_simulated
        Why misses are not simulated, and what helps; None where they are, or nobody asked.
    """

    facts: Path
    summary: Path
    ratios: Path
    config: Path
    figures: Sequence[Path]
    published: Path | None = None
    chapters: Mapping[str, Path] = field(default_factory=dict)
    strategies: Sequence[Path] = ()
    diagrams: Sequence[Path] = ()
    aside: Path | None = None
    not_simulated: str | None = None


def build_context(sources: Sources, title: str) -> dict[str, Any]:
    """Return the variables of the templates.

    Keys
    ----
    title, subtitle, running
        Plain text; the last stands at the head of every page.
    facts, findings, host
        Content of facts.json, and parts of it.
    implementations
        In the order of every legend and table.
    conditions
        What there is to say of each condition, in the order of the config.
    figures
        By condition (or ``all``, or a further study), the names of the figures that show something.
    results_tables
        By condition and thread count, the full tables in Markdown.
    host_rows, guest_rows, counter_rows, run_rows
        Rows of the tables of these names, in Markdown.
    origin
        Commit and host, told once.
    provenance
        Function of condition and figure: where its numbers are, for the caption.
    uncounted
        perf's names of the events without counts.
    published
        What the chapter on published runs says, None to leave it out.
    vague_factor
        From which width on an interval is not quoted.
    config_text
        What the configuration of the run states beyond the defaults.
    strategies
        What there is to say of each strategy; see `strategy_notes`.
    chapters
        The names of `CHAPTERS` that have facts; each of these is a variable too.
    left_out
        The names of those that could not be made, each with the reason.
    set_aside
        What could not be used; see `aside_facts`.
    not_simulated
        As in `Sources`.
    """
    results = sources.facts.parent
    facts = with_sources(read_json(sources.facts), sources.facts.name)
    slugs = facts["grid"]["conditions"]
    conditions = [facts["conditions"][slug] for slug in slugs]
    none: dict[str, list[str]] = {name: [] for name in (*slugs, OVERVIEW)}
    drawn = none | shown_figures(sources.figures)
    wording = Wording(
        cost_metric=facts["cost"]["column"],
        cost_unit=facts["cost"]["unit"],
        baseline=BASELINE,
        implementations=in_order(facts["grid"]["implementations"]),
    )
    tables = read_tables(sources.summary, sources.ratios, BASELINE)
    origin = origin_of(facts)
    files = dict(sources.chapters) | ({"published": sources.published} if sources.published else {})
    read = {
        name: with_sources(read_json(path), os.path.relpath(path, results))
        for name, path in files.items()
    }
    parts = {name: one for name, one in read.items() if "left_out" not in one}
    return {
        "title": title,
        "subtitle": _subtitle(facts),
        "running": _host(facts),
        "facts": facts,
        "findings": [read_finding(found) for found in facts["findings"]],
        "host": facts["host"],
        "implementations": list(in_order(facts["grid"]["implementations"])),
        "conditions": conditions,
        "drawn": drawn,
        "figures": worth_showing(drawn, facts["conditions"]),
        "results_tables": {
            condition["slug"]: results_table(
                tables,
                condition["slug"],
                replace(
                    wording,
                    cost_metric=condition["cost_column"],
                    place=place(condition),
                ),
                condition["labels"],
            )
            for condition in conditions
        },
        "host_rows": host_rows(facts["host"]),
        "guest_rows": guest_rows(made) if (made := _made(facts)) else [],
        "counter_rows": counter_rows(facts["counters"]),
        "run_rows": run_rows(facts),
        "uncounted": uncounted_events(facts["counters"]),
        "vague_factor": f"{VAGUE_FACTOR:.0f}",
        "origin": origin,
        "provenance": _provenance,
        "published": parts.get("published"),
        "config_text": _beyond_defaults(sources.config.read_text(encoding="utf-8")),
        "strategies": strategy_notes(sources.strategies, sources.diagrams),
        "chapters": [name for name in CHAPTERS if name in sources.chapters],
        "left_out": {name: one["left_out"] for name, one in read.items() if "left_out" in one},
        "set_aside": with_sources(aside_facts(sources.aside), "aside/README"),
        "not_simulated": sources.not_simulated,
    } | {name: parts.get(name) for name in CHAPTERS}


def _made(facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what guests were made of; None without any."""
    virtual = facts["virtual"]
    return virtual["made"] if virtual else None


def origin_of(facts: Mapping[str, Any]) -> str:
    """Return commit and host in a few words, in Markdown."""
    commits = facts["run"]["commits"]
    if len(commits) == 1:
        commit = f"commit {code(commit_only(commits[0])[:12])}"
        if commits[0] != commit_only(commits[0]):
            commit += " with changes"
    else:
        commit = f"{len(commits)} commits" if commits else "no commit known"
    return f"{commit}; {escape(_host(facts))}"


def _beyond_defaults(config: str) -> str:
    """Return what a configuration states that the defaults do not, each list on one line."""
    said = _differing(yaml.safe_load(config), normalised(read_sections(ROOT / DEFAULTS)))
    return yaml.safe_dump(said, sort_keys=False, default_flow_style=None, width=76).strip()


def _differing(tree: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in tree.items():
        default = defaults.get(key)
        if isinstance(value, Mapping) and isinstance(default, Mapping):
            if below := _differing(value, default):
                found[key] = below
        elif value != default:
            found[key] = value
    return found


def _provenance(condition: str, figure: str) -> str:
    return f"Source: `results/figures/{condition}/{figure}.csv`."


def _subtitle(facts: Mapping[str, Any]) -> str:
    """Return the machine and the date in one line."""
    return measured_on(facts["host"], facts["run"], facts["virtual"], facts["wire"])


def _host(facts: Mapping[str, Any]) -> str:
    host = facts["host"]
    return f"{host['cpu']['model'] or 'unknown processor'}, Linux {host['kernel']['release']}"
