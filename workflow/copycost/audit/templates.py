"""The templates of an audit: its filters, its tables, and what it prints."""

from functools import cache

from jinja2 import Environment

from copycost.analysis.json_values import Facts
from copycost.audit.wording import plain_number, quantities, small_percent, tally
from copycost.build.checkout import ROOT
from copycost.report.markdown import code, escape
from copycost.report.write import fill_from, make_environment

TEMPLATES = ROOT / "report"


@cache
def audit_environment() -> Environment:
    """Return the environment of the reports' templates, with the filters of an audit."""
    environment = make_environment(TEMPLATES)
    environment.filters.update(
        quantities=quantities, plain_number=plain_number, small_percent=small_percent, tally=tally
    )
    return environment


def fill(template: str, **context: object) -> str:
    """Return the text of a template; DataError if it asks for a fact that there is not."""
    return fill_from(audit_environment(), template, context, "audit", "this table")


def table_rows(audit: Facts) -> dict[str, list[list[str]]]:
    """Return the rows of the report's tables by name, in Markdown."""
    return {
        "claims": [
            [str(number), escape(claim["title"]), f"**{claim['label']}**"]
            for number, claim in enumerate(audit["claims"], 1)
        ],
        "findings": [
            [escape(finding["subject"]), finding["kind"], finding["sureness"]]
            for finding in audit["findings"]
        ],
        "columns": [
            [
                code(column["column"]),
                *(escape(column[key]) for key in ("meaning", "unit", "filled")),
            ]
            for column in audit["columns"]
        ],
    }
