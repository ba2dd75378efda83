"""The templates of the report over hosts: those of an audit know how to say what it found."""

from jinja2 import TemplateError

from copycost.audit.templates import TEMPLATES, audit_environment
from copycost.errors import DataError

__all__ = ["TEMPLATES", "audit_environment", "fill"]


def fill(template: str, **context: object) -> str:
    """Return the text of a template.

    Raises
    ------
    DataError
        If it asks for a fact that there is not.
    """
    try:
        return audit_environment().get_template(template).render(context)
    except TemplateError as error:
        where = getattr(error, "name", None) or template
        raise DataError(
            f"merge: {where}: {error}; please report this with facts.json of the fleet"
        ) from error
