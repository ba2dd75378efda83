"""The templates of a comparison, for the report and for the terminal."""

from functools import cache
from typing import Any

from jinja2 import Environment, TemplateError

from copycost.build.checkout import ROOT
from copycost.errors import DataError
from copycost.report.write import make_environment

TEMPLATES = ROOT / "report"


@cache
def _environment() -> Environment:
    return make_environment(TEMPLATES)


def fill(template: str, **context: Any) -> str:  # noqa: ANN401 - whatever a template asks for
    """Return the text of a template.

    Raises
    ------
    DataError
        If it asks for a fact that there is not.
    """
    try:
        return _environment().get_template(template).render(context)
    except TemplateError as error:
        where = getattr(error, "name", None) or template
        raise DataError(
            f"compare: {where}: {error}; please report this with facts.json of the comparison"
        ) from error
