"""Everything that the templates of the report see."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from copycost.analysis.finding import read_finding
from copycost.figures.markers import in_order
from copycost.figures.names import OVERVIEW
from copycost.records.files import aside_facts, read_json
from copycost.report.assets import shown_figures, worth_showing
from copycost.report.host_table import measured_on, processor_and_kernel
from copycost.report.strategies import strategy_notes
from copycost.wording.number_sources import with_sources

CHAPTERS = ("profile", "cpu_budget", "datagrams", "simulated")
"""Further studies, in the order of their chapters.

The template of one is ``report/NAME.qmd.j2``. It is part of the report where its facts are among
the `Sources`, and sees them as the variable NAME (None elsewhere) and its figures as
``figures.NAME``.
"""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files that the report is written from."""

    facts: Path
    figures: Sequence[Path]
    """.../{condition}/{figure}.svg, each with its CSV next to it; those of no single condition are
    in `all`, those of a further study in a folder of its name."""
    published: Path | None = None
    """results/published/beside.json; None to leave the chapter out."""
    chapters: Mapping[str, Path] = field(default_factory=dict)
    """Facts of further studies by the name of their chapter, see `CHAPTERS`."""
    strategies: Sequence[Path] = ()
    """C files, whose header comments are quoted, like the SVG files below of the same names."""
    diagrams: Sequence[Path] = ()
    aside: Path | None = None
    """Notes on what was set aside."""
    not_simulated: str | None = None
    """Why misses are not simulated, and what helps; None where they are, or nobody asked."""


def build_context(sources: Sources, title: str) -> dict[str, Any]:
    """Return the variables of the templates."""
    results = sources.facts.parent
    facts = with_sources(read_json(sources.facts), sources.facts.name)
    slugs = facts["grid"]["conditions"]
    conditions = [facts["conditions"][slug] for slug in slugs]
    implementations = in_order(facts["grid"]["implementations"])
    drawn = {name: list[str]() for name in (*slugs, OVERVIEW)} | shown_figures(sources.figures)
    files = dict(sources.chapters) | ({"published": sources.published} if sources.published else {})
    read = {
        name: with_sources(read_json(path), os.path.relpath(path, results))
        for name, path in files.items()
    }
    # what could not be made says why
    left_out = {name: one["left_out"] for name, one in read.items() if "left_out" in one}
    studies = {name: read[name] for name in read if name not in left_out}
    host = facts["host"]
    return {
        "title": title,
        "subtitle": measured_on(host, facts["run"], facts["virtual"], facts["wire"]),
        "running": processor_and_kernel(host),  # at the head of every page
        "facts": facts,
        "findings": [read_finding(found) for found in facts["findings"]],
        "host": host,
        "implementations": list(implementations),
        "conditions": conditions,
        # by condition, `OVERVIEW` or study
        # a chapter whose figures could not be drawn has its texts and tables
        "figures": defaultdict(list, worth_showing(drawn, facts["conditions"])),
        "provenance": _provenance,
        "strategies": strategy_notes(sources.strategies, sources.diagrams),
        "chapters": [name for name in CHAPTERS if name in sources.chapters],
        "details": [f"{name}_details" for name in CHAPTERS if studies.get(name)],
        "left_out": left_out,
        "set_aside": with_sources(aside_facts(sources.aside), "aside/README"),
        "not_simulated": sources.not_simulated,
    } | {name: studies.get(name) for name in (*CHAPTERS, "published")}


def _provenance(condition: str, figure: str) -> str:
    return f"Source: `results/figures/{condition}/{figure}.csv`."
