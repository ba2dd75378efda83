"""Fills the templates: from facts and tables to the report in Markdown."""

import logging
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from copycost.errors import DataError
from copycost.grid.capabilities import split_implementation
from copycost.report import cpu_budget_tables, datagrams_tables, profile_tables, study_values
from copycost.report.context import Sources, build_context
from copycost.report.labelled import label_sentences
from copycost.report.markdown import Column, code, escape, pipe_table, quoted, slug
from copycost.report.ranking_table import ranking_table
from copycost.report.round_trips_table import round_trips_table
from copycost.report.run_table import commit_only
from copycost.wording.filters import add_filters, one_line

log = logging.getLogger(__name__)


def write_report(sources: Sources, templates: Path, title: str, qmd: Path) -> None:
    """Write the report in the Markdown that Quarto and the embedded default share.

    Parameters
    ----------
    sources
        Facts, tables and figures.
    templates
        Folder with ``report.qmd.j2`` and what it includes.
    title
        Title of the report.
    qmd
        The file to write. It shows files of the folder ``assets`` beside it.

    Raises
    ------
    DataError
        If a template asks for a fact that there is not.
    """
    environment = make_environment(templates)
    try:
        text = environment.get_template("report.qmd.j2").render(build_context(sources, title))
    except TemplateError as error:
        where = getattr(error, "name", None) or "a template"
        raise DataError(
            f"report: {where}: {error}; {sources.facts} must hold every fact that the templates "
            "name, so make it again with the same version of copycost"
        ) from error
    qmd.write_text(text, encoding="utf-8")
    log.info("wrote %s (%d characters)", qmd, len(text))


def make_environment(templates: Path) -> Environment:
    """Return the environment of the templates: strict, and with the filters of the report."""
    environment = Environment(
        loader=FileSystemLoader(templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{# ",  # with the space, since `{#sec-x}` is an id in Markdown
        autoescape=False,  # Markdown, not HTML; free text goes through the filter `md`
    )
    add_filters(environment)
    environment.filters.update(study_values.VALUES)
    environment.filters.update(
        {
            "labelled": label_sentences,
            "md": escape,
            "code": code,
            "slug": slug,
            "quoted": quoted,
            "commit_only": commit_only,
            "cpu_list": _cpu_list,
            "strategy": _strategy,
        }
    )
    environment.tests["batched"] = lambda implementation: _batch(implementation) > 1
    environment.globals["table"] = _table
    environment.globals["budget_tables"] = cpu_budget_tables
    environment.globals["datagrams_tables"] = datagrams_tables
    environment.globals["profile_tables"] = profile_tables
    environment.globals["ranking_table"] = ranking_table
    environment.globals["round_trips_table"] = round_trips_table
    return environment


def _table(
    columns: Sequence[tuple[str, str] | Column],
    rows: Sequence[Sequence[str]],
    caption: str,
    identifier: str,
) -> str:
    titles = [
        column
        if isinstance(column, Column)
        else Column(column[0], "right" if column[1] == "right" else "left")
        for column in columns
    ]
    return pipe_table(titles, rows, one_line(caption), identifier)


def _strategy(implementation: str) -> str:
    return split_implementation(implementation)[0]


def _batch(implementation: str) -> int:
    return split_implementation(implementation)[1]


def _cpu_list(text: str) -> str:
    """Return CPUs as the table has them in words: ``CPU 0``, ``CPUs 0, 2``, ``any CPU``."""
    if text == "any":
        return "any CPU"
    numbers = [part for part in text.replace(";", ",").split(",") if part.strip()]
    return f"{'CPU' if len(numbers) == 1 else 'CPUs'} {', '.join(numbers)}"
