"""Pieces of Markdown that Quarto and Pandoc read alike."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|@$^~])")
_CODE = re.compile(r"`([^`]*)`")
_WIDEST_TEXT = 44
"""Columns of running text wrap; beyond this many characters they get no further width."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its title (Markdown) and where its cells align."""

    title: str
    align: Literal["left", "right"] = "left"


def escape(text: object) -> str:
    """Return free text, such as an error message, so that no character of it is markup.

    Line ends become spaces, since the result has to fit in a cell of a table.
    """
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def code(text: object) -> str:
    """Return a name, a value or a path as code; backticks in it are dropped."""
    return "`" + " ".join(str(text).replace("`", "").split()) + "`"


def quoted(text: object) -> str:
    """Return a text as the quoted value of an attribute."""
    return '"' + str(text).replace("\\", "").replace('"', "'").replace("`", "") + '"'


def slug(text: object) -> str:
    """Return a name as a part of an id: Quarto's references allow no underscores."""
    return re.sub(r"[^a-z0-9]+", "-", str(text).lower()).strip("-")


def pipe_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    caption: str,
    identifier: str,
    classes: Sequence[str] = (),
) -> str:
    """Return a pipe table whose columns get widths in proportion to what they hold.

    Pandoc gives a pipe table with a long line the whole width of the text, shared out by the
    number of dashes under each title. Dashes by content therefore keep a wide table within the
    page, whichever program typesets it.

    Parameters
    ----------
    columns
        Titles and alignment.
    rows
        Cells in Markdown, as many per row as there are columns.
    caption
        Markdown on one line.
    identifier
        The id for references, ``tbl-`` in front.
    classes
        Classes of the table.
    """
    dashes = [
        _separator(column, [row[index] for row in rows]) for index, column in enumerate(columns)
    ]
    lines = [_row([column.title for column in columns]), _row(dashes)]
    lines += [_row(row) for row in rows]
    attributes = " ".join([f"#{identifier}", *(f".{name}" for name in classes)])
    return "\n".join([*lines, "", f": {caption} {{{attributes}}}"])


def _separator(column: Column, cells: Sequence[str]) -> str:
    title_words = [_visible_length(word) for word in column.title.split()]
    longest = max([*title_words, *(_visible_length(cell) for cell in cells)])
    dashes = "-" * (min(longest, _WIDEST_TEXT) + 2)
    return f"{dashes}:" if column.align == "right" else f":{dashes}"


def _visible_length(markdown: str) -> int:
    # Code is set in a wider face than text.
    code = sum(len(match) for match in _CODE.findall(markdown))
    return len(re.sub(r"[\\`*]", "", markdown)) + round(0.2 * code)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
