"""The templates of the report over hosts: those of an audit know how to say what it found."""

from copycost.audit.templates import TEMPLATES, audit_environment
from copycost.report.write import fill_from

__all__ = ["TEMPLATES", "audit_environment", "fill"]


def fill(template: str, **context: object) -> str:
    """Return the text of a template; DataError if it asks for a fact that there is not."""
    return fill_from(
        audit_environment(), template, context, "merge", "this with facts.json of the fleet"
    )
