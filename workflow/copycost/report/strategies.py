"""What the report says of each strategy: the comment at the head of its source, and its diagram.

The header comment is where a strategy states the path of its bytes; the report quotes it, so that
a new strategy is described by whoever wrote it, in one place.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from copycost.wording.markdown import code, escape

_HEADER = re.compile(r"\A/\*\n(?P<text>.*?)\*/", re.DOTALL)
_ENTRIES = {
    "copies": "Copies:",
    "calls": "System calls:",
    "kernel": "Linux:",
    "path": "Path of the bytes:",
}
# the beginning of a line that begins an entry
_NEXT_ENTRY = re.compile(rf"\n(?={'|'.join(_ENTRIES.values())})")
_SVG = "{http://www.w3.org/2000/svg}"
# A word of the comment, a manual page's section among what follows it.
_WORD = re.compile(r"(?P<before>[(\"]*)(?P<name>.*?)(?P<section>\(\d\))?(?P<after>[\")]*[.,;:]*)")
_PAGE = re.compile(r"([\w-]+)\(\d\)")
_CODE = re.compile(r"[\w/.-]*\w_\w[\w/.-]*")


def strategy_notes(
    sources: Iterable[Path], diagrams: Iterable[Path] = ()
) -> dict[str, dict[str, Any]]:
    """Return what there is to say of each strategy, by name: its header, and its diagram if any."""
    drawn = {path.stem: path for path in diagrams}
    return {
        path.stem: header_of(path.read_text("utf-8", errors="replace"))
        | _diagram(drawn.get(path.stem))
        for path in sources
    }


def strategy_rows(names: Iterable[str], notes: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Return name, copies, system calls and oldest kernel of strategies, in Markdown."""
    return [
        [code(name), *(notes[name][key] or "not stated" for key in ("copies", "calls", "kernel"))]
        for name in names
        if name in notes
    ]


def commit_only(commit: str) -> str:
    """Return a commit's hash without a mark such as ``-dirty`` or ``+changes`` behind it."""
    return commit.split("-")[0].split("+")[0].split(" ")[0]


def _diagram(path: Path | None) -> dict[str, str | None]:
    """Return its path from the report's folder, its title in Markdown, and its description."""
    if path is None:
        return {"diagram": None, "caption": None, "alt": None}
    root = ET.parse(path).getroot()
    words = root.findtext(f"{_SVG}title", "").removeprefix(f"{path.stem}: ")
    return {
        "diagram": f"assets/diagrams/{path.name}",
        "caption": f"{code(path.stem)}: {_markdown(words)}",
        "alt": " ".join(root.findtext(f"{_SVG}desc", "").split()),
    }


def header_of(source: str) -> dict[str, str | None]:
    """Return what a header comment says, in Markdown; None for what it does not say.

    That is its `summary`, which follows ``NAME:`` in its first lines, and what follows each of the
    titles of `_ENTRIES`, up to the next one or the end of the paragraph.
    """
    said: dict[str, str | None] = dict.fromkeys(("summary", *_ENTRIES))
    found = _HEADER.match(source)
    if found is None:
        return said
    lines = [line.strip().removeprefix("*").strip() for line in found["text"].splitlines()]
    first, *others = "\n".join(lines).strip().split("\n\n")
    _, colon, summary = first.partition(": ")
    said["summary"] = _markdown(summary) if colon else None
    for paragraph in others:
        for entry in _NEXT_ENTRY.split(paragraph):
            for key, title in _ENTRIES.items():
                if entry.startswith(title):
                    said[key] = _markdown(entry.removeprefix(title))
    return said


def _markdown(text: str) -> str:
    """Return prose of a C comment in which names of code and of manual pages are set as code."""
    pages = set(_PAGE.findall(text))

    def word(found: re.Match[str]) -> str:
        if not (found["name"] in pages or _CODE.fullmatch(found["name"])):
            return escape(found[0])
        name = found["name"] + (found["section"] or "")
        return f"{escape(found['before'])}{code(name)}{escape(found['after'])}"

    words = map(_WORD.fullmatch, text.split())
    return " ".join(word(found) for found in words if found)
