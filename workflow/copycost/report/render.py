"""Typesets the written report in each format that is asked for."""

import logging
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Literal, get_args

from copycost.build.typesetter import Typesetter, embedded_default, find_typesetter
from copycost.disk import lacks_room
from copycost.errors import CopycostError, in_words
from copycost.records.files import write_bytes_whole, write_json
from copycost.report import embedded, quarto
from copycost.report.quarto import QuartoError

log = logging.getLogger(__name__)

Format = Literal["html", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
TYPESETTERS = "typesetters.json"
"""Beside the report: what typeset each format."""


class NotTypeset(CopycostError):
    """Files of a report that only stand in for it: their names, each with the reason."""

    def __init__(self, missing: dict[str, str]) -> None:
        super().__init__("; ".join(missing.values()))
        self.missing = missing


def render_report(
    qmd: Path, formats: Sequence[Format], typesetter: Typesetter | None = None
) -> list[Path]:
    """Typeset the report beside its Markdown; a file appears only when it is complete.

    Where Quarto fails in a format, the embedded default typesets that one, and a line on stderr
    says so: a broken Quarto must not cost the report. NotTypeset is raised if a format could not be
    typeset; what stands in for it says so, and the others are written.
    """
    first = typesetter or find_typesetter()
    with ThreadPoolExecutor() as pool:  # each format is a process of its own
        made = list(pool.map(lambda kind: _typeset_or_say_why(qmd, kind, first), formats))
    # A PDF of an earlier run beside the page of this one would be read as its copy.
    for kind in FORMATS:
        qmd.with_suffix(f".{kind}").unlink(missing_ok=True)
    outputs = [qmd.with_suffix(f".{kind}") for kind in formats]
    by: dict[str, str] = {}
    missing: dict[str, str] = {}
    for output, kind, (content, used, why) in zip(outputs, formats, made, strict=True):
        write_bytes_whole(content, output)
        log.info("wrote %s (%d bytes)", output, len(content))
        by[kind] = used
        if why:
            missing[output.name] = why
    write_json(by, qmd.with_name(TYPESETTERS))
    if missing:
        raise NotTypeset(missing)
    return outputs


def _typeset_or_say_why(qmd: Path, kind: Format, typesetter: Typesetter) -> tuple[bytes, str, str]:
    """Return a file in one format, what typeset it, and why it only stands in for the report."""
    try:
        content, used = _typeset(qmd, kind, typesetter)
    except Exception as error:  # whatever it is, the other format stands
        if lacks_room(error):
            raise  # the script waits for room and runs again
        log.exception("%s", kind)
        why = in_words(error)
        return _STAND_INS[kind](qmd, why), "copycost itself", why
    return content, used.description, ""


def _plain_page(qmd: Path, reason: str) -> bytes:
    text, why = (escape(part) for part in (qmd.read_text(encoding="utf-8"), reason))
    head = f"<!DOCTYPE html><title>Report</title><p>It could not be typeset: {why}</p>"
    return f"{head}<pre>{text}</pre>".encode()


def _plain_paper(_: Path, reason: str) -> bytes:
    from matplotlib.figure import Figure

    paper, content = Figure(figsize=(8.3, 11.7)), BytesIO()
    paper.text(0.1, 0.9, fill(f"This report could not be typeset: {reason}", 80), va="top")
    paper.savefig(content, format="pdf", metadata={"CreationDate": None})
    return content.getvalue()


_STAND_INS: dict[Format, Callable[[Path, str], bytes]] = {"html": _plain_page, "pdf": _plain_paper}


def _typeset(qmd: Path, kind: Format, typesetter: Typesetter) -> tuple[bytes, Typesetter]:
    """Return the report in one format, and what typeset it."""
    if typesetter.quarto is not None:
        try:
            return quarto.render(
                qmd, Path(typesetter.quarto), typesetter.description, kind
            ), typesetter
        except (QuartoError, OSError, ValueError) as error:
            typesetter = embedded_default(f"{typesetter.description} failed")
            output = qmd.with_suffix(f".{kind}").name
            said = f"{in_words(error)}; {typesetter.description} typesets {output}"
            log.warning("%s", said)
            print(f"copycost: {said}", file=sys.stderr)
    render = embedded.render_html if kind == "html" else embedded.render_pdf
    return render(qmd, typesetter.description), typesetter
