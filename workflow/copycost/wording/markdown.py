"""Pieces of Markdown that Quarto and Pandoc read alike."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import TypeVar

from copycost.wording.words import one_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|@$^~\"']|-(?=-)|\.(?=\.))")
"""What Markdown reads as more than itself, including dashes and dots that it would join."""
_CODE = re.compile(r"`([^`]*)`")
_FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
_LINE = 100
"""Characters of table type that fit side by side on a page."""

_PADDING = 3
"""Characters that the space next to a column takes."""


Row = TypeVar("Row")
Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Titles and rows in Markdown; ``>`` in front of a title aligns its column to the right."""


def tabulate(rows: Iterable[Row], columns: Mapping[str, Callable[[Row], str]]) -> Table:
    """Return a table of columns, each a title and what it says of a row, without empty ones."""
    cells = [[cell(row) for cell in columns.values()] for row in rows]
    said = [any(column) for column in zip(*cells, strict=True)]
    return list(compress(columns, said)), [list(compress(row, said)) for row in cells]


def listing(values: Iterable[tuple[str, str]]) -> Table:
    """Return a table of things and their values, without those that have none."""
    return ["What", "Value"], [[what, value] for what, value in values if value]


def grouped(table: Table) -> Table:
    """Return a table in which the first cell of a row is empty where it is as in the row above."""
    titles, rows = table
    before = ["", *(row[0] for row in rows)]
    return titles, [
        ["" if row[0] == above else row[0], *row[1:]]
        for row, above in zip(rows, before, strict=False)
    ]


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


def identifier(*parts: object) -> str:
    """Return the id of a section, table or figure: (tbl, veth_udp, t1) is ``tbl-veth-udp-t1``."""
    return "-".join(map(slug, parts))


def deeper(markdown: str) -> str:
    """Return Markdown with every heading one level lower, for a chapter that becomes a section."""
    return "".join(
        part if part.startswith("```") else re.sub(r"^#", "##", part, flags=re.MULTILINE)
        for part in _FENCED.split(markdown)
    )


def figure(path: str, identifier: str, alt: str, caption: str, width: str | None = None) -> str:
    """Return a figure with its caption, its text for those who do not see it, and its id.

    Unless it is a diagram, the page links to the CSV next to it, too. The path is from the report's
    folder, the width a share of the text's, such as ``64%``.
    """
    attributes = [f"#{identifier}", *([f"width={width}"] if width else [])]
    attributes.append(f"fig-alt={quoted(one_line(alt))}")
    kinds = ("svg",) if path.startswith("assets/diagrams/") else ("svg", "csv")
    files = ", ".join(f"[{kind.upper()}]({path.removesuffix('svg')}{kind})" for kind in kinds)
    links = f'[{files}]{{.content-visible when-format="html"}}'
    return f"![{one_line(caption)} {links}]({path}){{{' '.join(attributes)}}}"


def pipe_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    identifier: str,
    classes: Sequence[str] = (),
) -> str:
    """Return a pipe table whose columns get widths in proportion to what they hold.

    Pandoc gives a pipe table with a long line the whole width of the text, shared out by the
    number of dashes under each title. Dashes by content therefore keep a wide table within the
    page, whichever program typesets it.
    """
    names = [title.removeprefix(">") for title in titles]
    widths = _widths([[name, *(row[i] for row in rows)] for i, name in enumerate(names)])
    dashes = [
        "-" * width + ":" if title.startswith(">") else ":" + "-" * width
        for title, width in zip(titles, widths, strict=True)
    ]
    lines = [_row(names), _row(dashes), *map(_row, rows)]
    attributes = " ".join([f"#{identifier}", *(f".{name}" for name in classes)])
    return "\n".join([*lines, "", f": {one_line(caption)} {{{attributes}}}"])


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column, title first, in characters.

    No word is broken. Where not every cell fits on one line, columns of running text share what
    the others leave, in proportion to their lack.
    """
    natural = [max(map(_visible_length, cells)) + _PADDING for cells in columns]
    if sum(natural) <= _LINE:
        return natural
    least = [
        max(_visible_length(word) for cell in cells for word in cell.split(" ")) + _PADDING
        for cells in columns
    ]
    # Titles may wrap, before any cell has to.
    full = [
        max(low, *(_visible_length(cell) + _PADDING for cell in cells[1:]))
        for low, cells in zip(least, columns, strict=True)
    ]
    lack = sum(full) - sum(least)
    if sum(full) <= _LINE or lack == 0:
        return full
    spare = max(_LINE - sum(least), 0)
    return [low + round(spare * (high - low) / lack) for low, high in zip(least, full, strict=True)]


def _visible_length(markdown: str) -> int:
    # Code is set in a wider face than text.
    code = sum(len(match) for match in _CODE.findall(markdown))
    return len(re.sub(r"[\\`*]", "", markdown)) + round(0.2 * code)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
