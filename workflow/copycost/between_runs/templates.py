"""The templates of a comparison, for the report and for the terminal."""

from functools import cache
from typing import Any

from jinja2 import Environment

from copycost.build.checkout import ROOT
from copycost.report.write import fill_from, make_environment

TEMPLATES = ROOT / "report"


@cache
def _environment() -> Environment:
    return make_environment(TEMPLATES)


def fill(template: str, **context: Any) -> str:  # noqa: ANN401 - whatever a template asks for
    """Return the text of a template; DataError if it asks for a fact that there is not."""
    return fill_from(
        _environment(), template, context, "compare", "this with facts.json of the comparison"
    )
