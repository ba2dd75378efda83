"""What the report says of each strategy: from the comment at the head of its source, and a table.

The header comment is where a strategy states the path of its bytes; the report quotes it, so that
a new strategy is described by whoever wrote it, in one place.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from copycost.report.markdown import code, escape

_HEADER = re.compile(r"\A/\*\n(?P<text>.*?)\*/", re.DOTALL)
_PATH = "Path of the bytes:"
# A word of the comment, a manual page's section among what follows it.
_WORD = re.compile(r"(?P<before>[(\"]*)(?P<name>.*?)(?P<section>\(\d\))?(?P<after>[\")]*[.,;:]*)")
_PAGE = re.compile(r"([\w-]+)\(\d\)")
_CODE = re.compile(r"[\w/.-]*\w_\w[\w/.-]*")


def strategy_notes(
    sources: Iterable[Path], table: Path, diagrams: Iterable[Path]
) -> dict[str, dict[str, Any]]:
    """Return what there is to say of each strategy, by name.

    Parameters
    ----------
    sources
        C files, ``src/strategies/NAME.c``.
    table
        ``report/strategies.yaml``: by name the copies by the sender, the system calls, the oldest
        kernel, and the words for a diagram where there is one.
    diagrams
        ``report/diagrams/NAME.svg``.

    Returns
    -------
    dict
        By name: summary and path (Markdown, None where the header does not say), what the table
        has (None where it has not), and the diagram (its path from the report's folder, or None).
    """
    known = yaml.safe_load(table.read_text(encoding="utf-8"))
    drawn = {path.stem for path in diagrams}
    notes = {path.stem: _notes(path, known.get(path.stem, {})) for path in sources}
    return {
        name: note
        | {"diagram": f"assets/diagrams/{name}.svg" if name in drawn and note["caption"] else None}
        for name, note in notes.items()
    }


def strategy_rows(names: Iterable[str], notes: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Return name, copies, system calls and oldest kernel of the strategies in the table."""
    return [
        [code(name), note["copies"], note["calls"], note["kernel"]]
        for name in names
        if (note := notes.get(name)) and note["copies"]
    ]


def undescribed(names: Iterable[str], notes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the sources of the strategies whose header comment tells no path of the bytes."""
    return [
        f"src/strategies/{name}.c" for name in names if name not in notes or not notes[name]["path"]
    ]


def _notes(path: Path, known: Mapping[str, str]) -> dict[str, Any]:
    summary, route = header_of(path.read_text(encoding="utf-8"))
    return {
        "summary": summary,
        "path": route,
        "copies": known.get("copies"),
        "calls": known.get("calls"),
        "kernel": known.get("kernel"),
        "caption": known.get("caption"),
        "alt": known.get("alt"),
    }


def header_of(source: str) -> tuple[str | None, str | None]:
    """Return, in Markdown, the first line of a header comment and its path of the bytes.

    The first is what follows ``NAME:``; the second is the paragraph that begins with
    ``Path of the bytes:``. Either is None where the comment does not have it.
    """
    found = _HEADER.match(source)
    if found is None:
        return None, None
    lines = [line.strip().removeprefix("*").strip() for line in found["text"].splitlines()]
    paragraphs = [" ".join(part.split("\n")) for part in "\n".join(lines).strip().split("\n\n")]
    _, colon, summary = paragraphs[0].partition(": ")
    routes = [text.removeprefix(_PATH) for text in paragraphs if text.startswith(_PATH)]
    return (
        _markdown(summary) if colon else None,
        _markdown(routes[0]) if routes else None,
    )


def _markdown(text: str) -> str:
    """Return prose of a C comment in which names of code and of manual pages are set as code."""
    pages = set(_PAGE.findall(text))
    return " ".join(_word(word, pages) for word in text.split())


def _word(word: str, pages: set[str]) -> str:
    found = _WORD.fullmatch(word)
    if found is None or not (found["name"] in pages or _CODE.fullmatch(found["name"])):
        return escape(word)
    name = found["name"] + (found["section"] or "")
    return f"{escape(found['before'])}{code(name)}{escape(found['after'])}"
