"""The language of the templates: what they call, ask and say with a bar."""

import re
from collections.abc import Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, pass_context
from jinja2.runtime import Context

from copycost.analysis.finding import of
from copycost.config.conditions import COLD
from copycost.config.strategy_capabilities import split_implementation
from copycost.config.testbeds import is_wire
from copycost.errors import DataError, HostError
from copycost.report import decisions, machines, questions, tables
from copycost.report.strategies import commit_only, strategy_rows
from copycost.studies import shared_tables
from copycost.studies.cpu_budget import chapter as budget_chapter
from copycost.studies.datagrams import chapter as datagrams_chapter
from copycost.studies.profile import chapter as profile_chapter
from copycost.studies.round_trips import chapter as round_trips_chapter
from copycost.studies.simulated import chapter as simulated_chapter
from copycost.wording import filters, values
from copycost.wording.markdown import Table, code, deeper, escape, figure, identifier, pipe_table
from copycost.wording.words import item, party


def _items(text: str) -> str:
    """Return paragraphs of a template as the items of a list; those without a word vanish."""
    return "".join(item(part) for part in re.split(r"\n\s*\n", text)) + "\n"


def _captioned(form: Callable[..., str]) -> Callable[..., str]:
    """Let the caption be the body of a block: ``{% call table(...) %}caption{% endcall %}``."""

    @wraps(form)
    def captioned(*arguments: Any, caller: Callable[[], str] | None = None, **more: Any) -> str:  # noqa: ANN401
        if caller is None:
            return form(*arguments, **more)
        # Jinja drops the end of the line behind the block.
        return form(*arguments, caption=caller(), **more) + "\n"

    return captioned


@_captioned
def _table(content: Table, identifier: str, caption: str) -> str:
    """Return a table, or nothing where it has no rows.

    It is grouped if a row begins with an empty cell: what is as in the row above stands once.
    """
    titles, rows = content
    classes = ("grouped",) if any(not row[0] for row in rows) else ()
    return pipe_table(titles, rows, caption, identifier, classes) if rows else ""


@_captioned
@pass_context
def _figure_of(context: Context, folder: str, name: str, *, caption: str) -> str:
    """Return a figure of a condition or a study with its source, or nothing where there is none."""
    if name not in context["figures"].get(folder, ()):
        return ""
    told = f"{caption} {context['provenance'](folder, name)}"
    return figure(f"assets/{folder}/{name}.svg", identifier("fig", folder, name), caption, told)


def _from_memory(condition: values.Facts) -> bool:
    """Tell whether messages were read from memory: from a ring larger than the last-level cache."""
    multiple = condition["quantities"]["ring_per_llc"]
    return condition["working_set"] == COLD and multiple is not None and multiple >= 1.0


FILTERS: dict[str, Callable[..., Any]] = {
    form.__name__: form
    for form in (
        code, commit_only, deeper, filters.warnings, party,
        decisions.answer_sentence, decisions.baseline_of, decisions.decided_conditions,
        decisions.marked_ways, machines.dropped,
        shared_tables.cell_name, shared_tables.load_name, shared_tables.where,
        tables.lost, tables.part_shares, tables.placement_span,
        values.all_of, values.cache, values.cpu_lists, values.gbit_span, values.ns_per_kib,
        values.place, values.rate_span, values.wake_up_marks,
    )
} | {
    **filters.FILTERS,
    **simulated_chapter.VALUES,
    "md": escape,
    "items": _items,
    "asked": of,
    "strategy": lambda implementation: split_implementation(implementation)[0],
}  # fmt: skip
"""What templates say with a bar: ``{{ name | code }}``."""

TESTS: dict[str, Callable[..., bool]] = {
    "batched": lambda implementation: split_implementation(implementation)[1] > 1,
    "from_memory": _from_memory,
    "over_wire": is_wire,
}
"""What they ask: ``{% if t is from_memory %}``."""

FUNCTIONS: dict[str, Any] = {
    "table": _table,
    "figure": _captioned(figure),
    "figure_of": _figure_of,
    "identifier": identifier,
    "losses": tables.losses,
    "note_of": values.note_of,
    "counted_span": values.counted_span,
    "size_span": partial(filters.span, form=filters.size),
    "percent_span": partial(filters.span, form=filters.percent),
    "strategy_rows": strategy_rows,
    "budget_tables": budget_chapter,
    "datagrams_tables": datagrams_chapter,
    "decisions": decisions,
    "machines": machines,
    "profile_tables": profile_chapter,
    "questions": questions,
    "round_trips": round_trips_chapter,
    "shared_tables": shared_tables,
    "simulated_tables": simulated_chapter,
    "tables": tables,
}
"""What they call, and modules of which they call functions."""


def make_environment(templates: Path) -> Environment:
    """Return the environment of the templates: strict, with `FILTERS`, `TESTS` and `FUNCTIONS`."""
    if not templates.is_dir():
        raise HostError(
            f"{templates}: not found; the report's templates are in a clone of copycost: use ./run "
            "there, or install the package from it with pip install --editable"
        )
    environment = Environment(
        loader=FileSystemLoader(templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{# ",  # with the space, since `{#sec-x}` is an id in Markdown
        autoescape=False,  # Markdown, not HTML; free text goes through the filter `md`
    )
    environment.filters.update(FILTERS)
    environment.tests.update(TESTS)
    environment.globals.update(FUNCTIONS)
    return environment


def fill_from(
    environment: Environment, template: str, context: Mapping[str, Any], who: str, what: str
) -> str:
    """Return the text of one template; DataError if it asks for a fact that there is not.

    The message says which command it was (`who`), and `what` helps to find the fault.
    """
    try:
        return environment.get_template(template).render(context)
    except TemplateError as error:
        where = getattr(error, "name", None) or template
        raise DataError(f"{who}: {where}: {error}; please report {what}") from error
