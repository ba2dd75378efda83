"""Fills the templates: from facts and tables to the report in Markdown."""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context

from copycost.errors import in_words
from copycost.report.context import Sources, build_context
from copycost.report.environment import make_environment
from copycost.wording.markdown import code, escape
from copycost.wording.number_sources import (
    marked,
    noting,
    number_of,
    sources_by_text,
    without_marks,
    write_numbers,
)

log = logging.getLogger(__name__)

NUMBERS = "numbers.csv"
"""Beside the report: what is printed of which value, and where that stands."""


def write_report(sources: Sources, templates: Path, title: str, qmd: Path) -> dict[str, str]:
    """Write the report in the Markdown that Quarto and the embedded default share.

    It shows files of the folder ``assets`` next to it; beside it, ``numbers.csv`` tells where its
    numbers come from, and the page that of a number under the pointer. A chapter that cannot be
    written leaves a box that says so; return the names of such chapters, each with the reason.
    """
    environment = make_environment(templates)
    environment.add_extension(_MarkedTemplates)
    environment.filters["length"] = number_of
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    with noting() as notes:
        filled, missing = fill_report(environment, build_context(sources, title))
    text = without_marks(filled, notes)
    qmd.write_text(text + _hover(sources_by_text(notes)), encoding="utf-8")
    write_numbers(notes, qmd.with_name(NUMBERS))
    log.info("wrote %s (%d characters)", qmd, len(text))
    return missing


class _MarkedTemplates(Extension):
    """Mark the numbers that templates themselves say, as those that are printed are."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for lineno, kind, value in stream:
            yield Token(lineno, kind, marked(value) if kind == "data" else value)


def _hover(sources: Mapping[str, Sequence[str]]) -> str:
    """Return what the page's script reads: where each printed number comes from."""
    listed = json.dumps(sources, ensure_ascii=False).replace("</", "<\\/")
    return f'\n```{{=html}}\n<script type="application/json" id="numbers">{listed}</script>\n```\n'


def fill_report(environment: Environment, context: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the report, and the names of the chapters that are missing, each with the reason."""
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
    return _without_dead_references(text) if missing else text, missing


_BOX = """
::: {{.callout-warning title="A part of the report is missing"}}
{name} could not be written: {reason}
:::
"""
_ID = r"(?:fig|tbl|sec)-[a-z0-9-]*[a-z0-9]"


def _without_dead_references(text: str) -> str:
    """Return the text with words in place of references into chapters that are missing."""
    known = set(re.findall(rf"\{{#({_ID})", text))
    return re.sub(
        rf"(?<![\w\\])@({_ID})", lambda it: it[0] if it[1] in known else "a missing part", text
    )
