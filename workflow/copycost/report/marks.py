"""The mark of zero-copy sends that were copied after all, and the note that says so once."""

from collections.abc import Mapping

from copycost.report.markdown import code
from copycost.wording.filters import join_and

MARK = "\N{DAGGER}"

Labels = Mapping[str, str | None]
"""What implementations turned out to be (`copycost.analysis.metrics`); None for the others."""


def marked(implementation: str, labels: Labels) -> str:
    """Return an implementation's name as code, with the mark where there is a label for it."""
    return f"{code(implementation)}{MARK if labels.get(implementation) else ''}"


def note_of(labels: Labels) -> str:
    """Return what the mark means, as the last sentence of a caption; empty without any label."""
    told = {name: label for name, label in labels.items() if label}
    if not told:
        return ""
    if len(set(told.values())) == 1:
        return f" {MARK} {next(iter(told.values()))}."
    return f" {MARK} {join_and(f'{code(name)}: {label}' for name, label in told.items())}."
