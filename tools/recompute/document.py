"""A report's text taken apart: sentences and tables' rows, each with where it stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

NUMBER = re.compile(r"(?<![\w.\-/#])[+\u2212]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w/]|\.\d|-\w)")
"""A number that stands by itself: no part of a name, a path or a reference."""

_HEADING = re.compile(r"(#+) .*?(?:\{#(?P<id>[\w-]+)[^}]*\})?$")
_SKIPPED = re.compile(r"!\[.*\]\(.*\)|:::|---$|\{\{<")
_CAPTION = re.compile(r": (?P<text>.*) \{#(?P<id>[\w-]+)[^}]*\}$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\*{0,2}\s+(?=[A-Z0-9`*@])")
_REFERENCES = re.compile(r" ?\((?:@[\w-]+(?:, | and )?)+\)|@[\w-]+")


@dataclass(frozen=True)
class Sentence:
    """A sentence, the conditions named so far in its paragraph, and the sentences before it."""

    section: str
    line: int
    text: str
    named: str | None
    before: str


@dataclass(frozen=True)
class Table:
    """A table: its caption, the titles of its columns, and its rows with where they stand.

    Empty fields at the start of a row are those of the row above.
    """

    section: str
    id: str
    caption: str
    columns: list[str]
    rows: list[list[str]]
    line: int


def parts(markdown: str) -> Iterator[Sentence | Table]:
    """Yield the sentences and tables of a report, without its front matter, code and figures."""
    lines = markdown.replace("\u00a0", " ").split("\n")
    section, in_code, start = "", False, 0
    block: list[str] = []
    first = lines.index("---", 1) + 1
    table: Table | None = None
    named: str | None = None
    for number, line in enumerate([*lines[first:], ""], start=first + 1):
        if line.startswith("```"):
            in_code = not in_code
        heading = _HEADING.match(line)
        if in_code or line.startswith("```") or _SKIPPED.match(line):
            continue
        if line.strip() and not heading:
            start = start if block else number
            block.append(line)
            continue
        caption = _CAPTION.match(block[0]) if block else None
        if caption and table:
            yield replace(table, id=caption["id"], caption=caption["text"])
        elif block and block[0].startswith("|"):
            table = _table(section, block, start)
        else:
            for text in re.split(r"\n(?=- )", "\n".join(block)):
                # what a list is about stands in the paragraph before it
                named = named if text.startswith("- ") else None
                for sentence in _sentences(section, text.removeprefix("- "), start, named):
                    named = sentence.named
                    yield sentence
        block = []
        if heading:
            named = None
            section = heading["id"] or section


def _sentences(section: str, text: str, line: int, named: str | None = None) -> Iterator[Sentence]:
    plain = _REFERENCES.sub("", " ".join(text.split()))
    if not plain:
        return
    before = ""
    for sentence in _SENTENCE_END.split(plain):
        found = re.match(r"(?:\*\*.*\*\* )?\*{0,2}On `([\w-]+)`", sentence)
        named = found[1] if found else named
        yield Sentence(section, line, sentence, named, before)
        before = f"{before} {sentence}".strip()


def _table(section: str, block: list[str], line: int) -> Table:
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in block]
    rows: list[list[str]] = []
    for row in cells[2:]:
        for i, cell in enumerate(row):
            if cell or not rows:
                break
            row[i] = rows[-1][i]
        rows.append(row)
    return Table(section, "", "", _distinct(cells[0]), rows, line)


def _distinct(titles: list[str]) -> list[str]:
    """Return the titles of columns; one that comes again has the column before it in front."""
    return [
        f"{titles[i - 1]}, {title}" if title in titles[:i] else title
        for i, title in enumerate(titles)
    ]
