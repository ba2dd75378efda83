"""The language of the templates: what they call, ask and say with a bar."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from copycost.analysis.finding import of
from copycost.config.capabilities import split_implementation
from copycost.config.testbeds import is_wire
from copycost.errors import DataError, HostError
from copycost.report import (
    answer,
    answer_values,
    conditions,
    cpu_budget_tables,
    datagrams_tables,
    profile_tables,
    questions,
    simulated_tables,
    study_values,
    virtual_tables,
    wire_tables,
)
from copycost.report.answer_values import counted_span
from copycost.report.conditions import place
from copycost.report.decisions import (
    baseline_of,
    decided_conditions,
    decision_columns,
    decision_rows,
    marked_ways,
    tally,
)
from copycost.report.markdown import (
    Column,
    code,
    deeper,
    escape,
    figure,
    figure_of,
    identifier,
    pipe_table,
    slug,
)
from copycost.report.method import cpu_lists, wake_up_marks
from copycost.report.ranking import ranked, ranking_ends
from copycost.report.round_trips import (
    round_trips_compared,
    round_trips_lost,
    round_trips_told,
)
from copycost.report.strategies import strategy_rows, undescribed
from copycost.report.tables import (
    aside_rows,
    commit_only,
    memory_rows,
    missing_rows,
    placement_span,
    placement_table,
    published_rows,
    published_runs,
    ranking_table,
    round_trips_table,
)
from copycost.wording.filters import add_filters, warnings


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
    return pipe_table(titles, rows, caption, identifier)


def _strategy(implementation: str) -> str:
    return split_implementation(implementation)[0]


def _batch(implementation: str) -> int:
    return split_implementation(implementation)[1]


FILTERS: dict[str, Callable[..., Any]] = {
    **study_values.VALUES,
    **answer_values.VALUES,
    **simulated_tables.VALUES,
    "md": escape,
    "code": code,
    "deeper": deeper,
    "slug": slug,
    "commit_only": commit_only,
    "cpu_lists": cpu_lists,
    "part_shares": virtual_tables.part_shares,
    "party_shares": wire_tables.party_shares,
    "dropped": wire_tables.dropped,
    "rate_span": wire_tables.rate_span,
    "place": place,
    "placement_span": placement_span,
    "wake_up_marks": wake_up_marks,
    "strategy": _strategy,
    "baseline_of": baseline_of,
    "decided_conditions": decided_conditions,
    "answer_rows": answer.rows,
    "answer_sentence": answer.sentence,
    "asked": of,
    "decision_columns": decision_columns,
    "decision_rows": decision_rows,
    "marked_ways": marked_ways,
    "tally": tally,
    "ranked": ranked,
    "ranking_ends": ranking_ends,
    "warnings": warnings,
}
"""What templates say with a bar, besides the filters of `wording`: ``{{ name | code }}``."""

TESTS: dict[str, Callable[..., bool]] = {
    **conditions.TESTS,
    "over_wire": is_wire,
    "batched": lambda implementation: _batch(implementation) > 1,
}
"""What they ask: ``{% if t is from_memory %}``."""

FUNCTIONS: dict[str, Any] = {
    "table": _table,
    "counted_span": counted_span,
    "questions": questions,
    "budget_tables": cpu_budget_tables,
    "datagrams_tables": datagrams_tables,
    "profile_tables": profile_tables,
    "virtual_tables": virtual_tables,
    "wire_tables": wire_tables,
    "simulated_tables": simulated_tables,
    "ranking_table": ranking_table,
    "round_trips_table": round_trips_table,
    "round_trips_compared": round_trips_compared,
    "round_trips_lost": round_trips_lost,
    "round_trips_told": round_trips_told,
    "placement_table": placement_table,
    "memory_rows": memory_rows,
    "aside_rows": aside_rows,
    "missing_rows": missing_rows,
    "published_rows": published_rows,
    "published_runs": published_runs,
    "strategy_rows": strategy_rows,
    "undescribed": undescribed,
    "identifier": identifier,
    "losses": study_values.losses,
    "figure": figure,
    "figure_of": figure_of,
}
"""What they call, and modules of which they call functions."""


def make_environment(templates: Path) -> Environment:
    """Return the environment of the templates: strict, and with the filters of the report.

    Raises
    ------
    HostError
        If there is no such folder, as where the package is installed without its checkout.
    """
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
    add_filters(environment)
    environment.filters.update(FILTERS)
    environment.tests.update(TESTS)
    environment.globals.update(FUNCTIONS, answer_columns=answer.COLUMNS)
    return environment


def fill_from(
    environment: Environment, template: str, context: Mapping[str, Any], who: str, what: str
) -> str:
    """Return the text of one template.

    Parameters
    ----------
    who, what
        For the message: which command, and what helps to find the fault.

    Raises
    ------
    DataError
        If it asks for a fact that there is not.
    """
    try:
        return environment.get_template(template).render(context)
    except TemplateError as error:
        where = getattr(error, "name", None) or template
        raise DataError(f"{who}: {where}: {error}; please report {what}") from error
