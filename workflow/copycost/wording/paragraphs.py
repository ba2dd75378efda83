"""Paragraphs and items of lists of sentences that stand on lines of their own in a template."""

import re


def one_line(text: str) -> str:
    """Return a text on one line: line ends and indentation of a template become single spaces.

    The space between a number and its unit, where a line must not break, stays as it is.
    """
    return re.sub(r"[ \t\n]+", " ", text).strip(" ")


def item(text: str) -> str:
    """Return the sentences of a template as an item of a list, or nothing if there are none."""
    line = one_line(text)
    return f"- {line}\n" if line else ""


def paragraph(text: str) -> str:
    """Return the sentences of a template as a paragraph of its own, or nothing if there are none.

    So a template has a sentence a line, breaks a long one wherever it likes, and may leave out any
    of them: ``{% filter paragraph %}`` ... ``{% endfilter %}``. An item of a list starts with
    ``-``, as in Markdown.
    """
    line = one_line(text)
    return f"\n{line}\n\n" if line else ""
