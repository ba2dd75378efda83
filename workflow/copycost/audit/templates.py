"""The words of an audit: of its findings and messages, its tables, and what it prints."""

import csv
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Environment, Template

from copycost.analysis.json_values import Facts
from copycost.audit.plausibility.finding import Finding, declared
from copycost.audit.wording import Message, plain_number, quantities, small_percent, tally
from copycost.checkout import ROOT
from copycost.report.environment import fill_from, make_environment
from copycost.wording.markdown import code, escape
from copycost.wording.numbers import NBSP

TEMPLATES = ROOT / "report"


@cache
def audit_environment() -> Environment:
    """Return the environment of the reports' templates, with the filters of an audit."""
    environment = make_environment(TEMPLATES)
    environment.filters.update(
        quantities=quantities, plain_number=plain_number, small_percent=small_percent, tally=tally
    )
    return environment


@cache
def _template(text: str) -> Template:
    return audit_environment().from_string(text)


@cache
def _messages() -> Mapping[str, str]:
    with (TEMPLATES / "audit_messages.csv").open(encoding="utf-8", newline="") as file:
        return dict(csv.reader(file))


def text_of(message: Message) -> str:
    """Return the words of a message, plain."""
    return _template(_messages()[message.code]).render(message.numbers)


def found_by(finding: Finding) -> str:
    """Return what was found, plain, and in how many rows."""
    found = _template(declared()[finding.code].found).render(finding.numbers)
    of_rows = finding.numbers.get("of_rows")
    return f"{found}, in {finding.numbers['n_rows']} of {of_rows} rows" if of_rows else found


def reason_against(finding: Finding) -> str:
    """Return why what was found can hardly be a measurement, plain."""
    return _template(declared()[finding.code].why).render(finding.numbers)


def fill(
    template: str, command: str = "audit", about: str = "this table", **context: object
) -> str:
    """Return the text of a template; DataError if it asks for a fact that there is not."""
    return fill_from(audit_environment(), template, context, command, about)


def lines_of(text: str) -> list[str]:
    """Return what a template says as lines of at most 80 columns, in which no word is broken."""
    lines = []
    for line in text.splitlines():
        wrapped = textwrap.wrap(line, 80, subsequent_indent="  ", break_long_words=False,
                                break_on_hyphens=False)  # fmt: skip
        # a number keeps its unit: only then do the spaces between them become plain ones
        lines += [part.replace(NBSP, " ") for part in wrapped]
    return lines


def table_rows(audit: Facts) -> dict[str, list[list[str]]]:
    """Return the rows of the report's tables by name, in Markdown."""
    return {
        "claims": [
            [str(number), escape(claim["title"]), f"**{claim['label']}**", escape(claim["because"])]
            for number, claim in enumerate(audit["claims"], 1)
        ],
        "evidence": [
            [str(number), escape(line)]
            for number, claim in enumerate(audit["claims"], 1)
            for line in _shown(claim["evidence"])
        ],
        "findings": [
            [
                escape(finding["subject"]),
                f"{finding['kind']} ({finding['sureness']})",
                escape("; ".join([finding["found"], *_shown(finding["cells"])])),
                escape(finding["why"]),
            ]
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


def _shown(lines: Sequence[str], most: int = 6) -> list[str]:
    """Return the first of some lines, and how many more there are."""
    return [*lines[:most], *([f"and {len(lines) - most} more"] if len(lines) > most else [])]
