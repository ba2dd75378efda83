"""What Quarto would not forgive in the written report, found before anything typesets it.

Pandoc alone reads on where Quarto loses a sentence or prints ``?@fig-name``, so that the same file
would give two different reports.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from copycost.errors import DataError

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_CODE = re.compile(r"(`+).*?\1")
_REFERENCE = re.compile(r"(?<![\\\w])@((?:fig|tbl|sec)-[\w-]*\w)")
_IDENTIFIER = re.compile(r"(?<!\\)\{#([^\s}]+)")
_CAPTION = re.compile(r"^: .*\{#tbl-[^}]*\}\s*$")
_FIGURE = re.compile(r"^!\[")
_HEADING = re.compile(r"^#{1,6} ")
_DIV = re.compile(r"^:{3,}(.*)$")
_NAME = re.compile(r"(fig|tbl|sec)-[a-z0-9-]+")


def check_markdown(qmd: Path) -> None:
    """Check the report's Markdown.

    Raises
    ------
    DataError
        With the first few faults, each with its line.
    """
    faults = find_faults(qmd.read_text(encoding="utf-8"))
    if faults:
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        raise DataError(f"report: {qmd}: {'; '.join(faults[:3])}{more}")


def find_faults(text: str) -> list[str]:
    """Return what Quarto would not forgive, a sentence each with its line number."""
    head, lines = _parts(text)
    prose = list(_without_code(lines))
    known = [name for line in prose for name in _IDENTIFIER.findall(line)]
    faults = [
        f"line {number}: @{name} stands in the metadata, where Quarto resolves no reference"
        for number, line in enumerate(head, 1)
        for name in _REFERENCE.findall(line)
    ]
    depth = 0
    for place, line in enumerate(prose):
        where = f"line {len(head) + place + 1}"
        before = prose[place - 1] if place else ""
        after = prose[place + 1] if place + 1 < len(prose) else ""
        faults += [
            f"{where}: @{name} refers to nothing"
            for name in _REFERENCE.findall(line)
            if name not in known
        ]
        faults += [
            f"{where}: the identifier {name} must be fig-, tbl- or sec- and a-z, 0-9 and -"
            for name in _IDENTIFIER.findall(line)
            if not _NAME.fullmatch(name)
        ]
        faults += [f"{where}: {fault}" for fault in _misplaced(before, line, after)]
        if found := _DIV.match(line):
            depth += 1 if found[1].strip() else -1
            if depth < 0:
                faults.append(f"{where}: ends a ::: block that never began")
                depth = 0
    if depth:
        faults.append(f"{depth} ::: blocks do not end")
    twice = sorted({name for name in known if known.count(name) > 1})
    return faults + [f"the identifier {name} is used more than once" for name in twice]


def _parts(text: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the lines of the metadata, with both ``---``, and those of the text."""
    lines = text.splitlines()
    if not lines or lines[0] != "---":
        return [], lines
    end = lines.index("---", 1) + 1
    return lines[:end], lines[end:]


def _without_code(lines: Sequence[str]) -> Iterator[str]:
    """Yield each line without code; a line of a fenced block becomes its fence."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            yield fence
            fence = "" if found and found[1].startswith(fence) else fence
        elif found:
            fence = found[1]
            yield fence
        else:
            yield _CODE.sub("`", line)


def _misplaced(before: str, line: str, after: str) -> Iterator[str]:
    """Yield what is wrong with the lines around a caption, a figure or a heading."""
    if _CAPTION.match(line):
        if before.strip():
            yield "a table's caption needs an empty line before it"
        if after.strip():
            yield "text follows a table's caption without an empty line between"
    if _FIGURE.match(line):
        if not line.rstrip().endswith("}") or "{#fig-" not in line:
            yield "text follows a figure, or it has no identifier"
        if before.strip() or after.strip():
            yield "a figure needs an empty line before and after it"
    if _HEADING.match(line) and before.strip() and not _DIV.match(before):
        yield "a heading needs an empty line before it"
    if "{#fig-" in line and not _FIGURE.match(line):
        yield "a figure stands within a line"
    if "{#tbl-" in line and not _CAPTION.match(line):
        yield "a table's identifier stands outside of a caption's end"
