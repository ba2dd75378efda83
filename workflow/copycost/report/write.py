"""Writes the report in Markdown: fills the templates with facts and figures."""

import json
import logging
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context

from copycost.analysis.finding import read_finding
from copycost.errors import in_words
from copycost.figures import OVERVIEW
from copycost.figures.markers import in_order
from copycost.records.files import aside_facts, read_json
from copycost.report.assets import shown_figures, worth_showing
from copycost.report.environment import make_environment
from copycost.report.machines import measured_on, processor_and_kernel
from copycost.report.strategies import strategy_notes
from copycost.wording.markdown import code, escape
from copycost.wording.number_sources import (
    marked,
    noting,
    number_of,
    sources_by_text,
    with_sources,
    without_marks,
    write_numbers,
)

log = logging.getLogger(__name__)

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


def write_report(sources: Sources, templates: Path, title: str, qmd: Path) -> dict[str, str]:
    """Write the report in the Markdown that Quarto and the embedded default share.

    It shows files of the folder ``assets`` next to it; beside it, ``numbers.csv`` tells what is
    printed of which value and where that stands, and the page that of a number under the pointer. A
    chapter that cannot be written leaves a box that says so; return the names of such chapters,
    each with the reason.
    """
    environment = make_environment(templates)
    environment.add_extension(_MarkedTemplates)
    environment.filters["length"] = number_of
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    with noting() as notes:
        filled, missing = fill_report(environment, build_context(sources, title))
    text = without_marks(filled, notes)
    # what the page's script reads
    listed = json.dumps(sources_by_text(notes), ensure_ascii=False).replace("</", "<\\/")
    script = f'<script type="application/json" id="numbers">{listed}</script>'
    qmd.write_text(f"{text}\n```{{=html}}\n{script}\n```\n", encoding="utf-8")
    write_numbers(notes, qmd.with_name("numbers.csv"))
    log.info("wrote %s (%d characters)", qmd, len(text))
    return missing


class _MarkedTemplates(Extension):
    """Mark the numbers that templates themselves say, as those that are printed are."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for lineno, kind, value in stream:
            yield Token(lineno, kind, marked(value) if kind == "data" else value)


def build_context(sources: Sources, title: str) -> dict[str, Any]:
    """Return the variables of the templates."""
    results = sources.facts.parent
    facts = with_sources(read_json(sources.facts), sources.facts.name)
    slugs = facts["grid"]["conditions"]
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
        "implementations": list(in_order(facts["grid"]["implementations"])),
        "conditions": [facts["conditions"][slug] for slug in slugs],
        # by condition, `OVERVIEW` or study
        # a chapter whose figures could not be drawn has its texts and tables
        "figures": defaultdict(list, worth_showing(drawn, facts["conditions"])),
        "provenance": lambda folder, figure: f"Source: `results/figures/{folder}/{figure}.csv`.",
        "strategies": strategy_notes(sources.strategies, sources.diagrams),
        "chapters": [name for name in CHAPTERS if name in sources.chapters],
        "details": [f"{name}_details" for name in CHAPTERS if studies.get(name)],
        "left_out": left_out,
        "set_aside": with_sources(aside_facts(sources.aside), "aside/README"),
        "not_simulated": sources.not_simulated,
    } | {name: studies.get(name) for name in (*CHAPTERS, "published")}


_BOX = """
::: {{.callout-warning title="A part of the report is missing"}}
{name} could not be written: {reason}
:::
"""
_ID = r"(?:fig|tbl|sec)-[a-z0-9-]*[a-z0-9]"


def fill_report(environment: Environment, context: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the report, and the names of the chapters that are missing, each with the reason.

    Words stand in place of references into these.
    """
    missing: dict[str, str] = dict(context["left_out"])

    @pass_context
    def chapter(context: Context, name: str) -> str:
        try:
            if name not in missing:
                return environment.get_template(f"{name}.qmd.j2").render(context.get_all())
        except Exception as error:  # whatever it is, the other chapters stand
            log.exception("chapter %s", name)
            missing[name] = in_words(error)
        return _BOX.format(name=code(name), reason=escape(missing[name]))

    text = environment.get_template("report.qmd.j2").render({**context, "chapter": chapter})
    if missing:
        known = set(re.findall(rf"\{{#({_ID})", text))
        text = re.sub(
            rf"(?<![\w\\])@({_ID})", lambda it: it[0] if it[1] in known else "a missing part", text
        )
    return text, missing
