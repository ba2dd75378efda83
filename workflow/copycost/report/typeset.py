"""Typesets the written report: with Quarto, or with Pandoc and Typst of the Python environment."""

import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Literal, get_args

from copycost.build.typesetter import Typesetter, embedded_default, find_typesetter
from copycost.errors import CopycostError, HostError, in_words
from copycost.records.disk import lacks_room
from copycost.records.files import write_bytes_whole, write_json

log = logging.getLogger(__name__)

Format = Literal["html", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
TYPESETTERS = "typesetters.json"
"""Beside the report: what typeset each format."""

_TIMEOUT_S = 600
_MISSING = (
    "report: there is neither Quarto 1.9 or newer on the PATH nor the Python package {}; "
    "install one of them (`./run` does) and run again: nothing will be measured again"
)
# Quarto prints `?@fig-name` in place of a reference that leads nowhere, and ends well (1.9.38).
_DEAD_REFERENCE = "Unable to resolve crossref"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


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
        made = list(pool.map(lambda kind: _typeset(qmd, kind, first), formats))
    # A PDF of an earlier run beside the page of this one would be read as its copy.
    for kind in FORMATS:
        qmd.with_suffix(f".{kind}").unlink(missing_ok=True)
    outputs = [qmd.with_suffix(f".{kind}") for kind in formats]
    for output, (content, _, _) in zip(outputs, made, strict=True):
        write_bytes_whole(content, output)
        log.info("wrote %s (%d bytes)", output, len(content))
    used = {kind: by for kind, (_, by, _) in zip(formats, made, strict=True)}
    write_json(used, qmd.with_name(TYPESETTERS))
    missing = {output.name: why for output, (_, _, why) in zip(outputs, made, strict=True) if why}
    if missing:
        raise NotTypeset(missing)
    return outputs


def _typeset(qmd: Path, kind: Format, typesetter: Typesetter) -> tuple[bytes, str, str]:
    """Return a file in one format, what typeset it, and why it only stands in for the report."""
    try:
        if typesetter.quarto is not None:
            try:
                page = render_with_quarto(
                    qmd, Path(typesetter.quarto), typesetter.description, kind
                )
            except (CopycostError, OSError, ValueError) as error:
                typesetter = embedded_default(f"{typesetter.description} failed")
                output = qmd.with_suffix(f".{kind}").name
                said = f"{in_words(error)}; {typesetter.description} typesets {output}"
                log.warning("%s", said)
                print(f"copycost: {said}", file=sys.stderr)
            else:
                return page, typesetter.description, ""
        render = render_html if kind == "html" else render_pdf
        return render(qmd, typesetter.description), typesetter.description, ""
    except Exception as error:  # whatever it is, the other format stands
        if lacks_room(error):
            raise  # the script waits for room and runs again
        log.exception("%s", kind)
        why = in_words(error)
        stand_in = _plain_page(qmd, why) if kind == "html" else _plain_paper(why)
        return stand_in, "copycost itself", why


def _plain_page(qmd: Path, reason: str) -> bytes:
    text, why = (escape(part) for part in (qmd.read_text(encoding="utf-8"), reason))
    head = f"<!DOCTYPE html><title>Report</title><p>It could not be typeset: {why}</p>"
    return f"{head}<pre>{text}</pre>".encode()


def _plain_paper(reason: str) -> bytes:
    from matplotlib.figure import Figure

    paper, content = Figure(figsize=(8.3, 11.7)), BytesIO()
    paper.text(0.1, 0.9, fill(f"This report could not be typeset: {reason}", 80), va="top")
    paper.savefig(content, format="pdf", metadata={"CreationDate": None})
    return content.getvalue()


def render_html(qmd: Path, typesetter: str) -> bytes:
    """Return the report as one HTML file that holds its figures and needs nothing else.

    Paths in it are relative to its folder, whose ``assets`` hold the templates; its last page
    prints the `typesetter`.
    """
    options = ("--to=html5", "--mathml", "--embed-resources", "--toc", "--toc-depth=2")
    return _pandoc(qmd, typesetter, "page.html", *options)


def render_pdf(qmd: Path, typesetter: str) -> bytes:
    """Return the report as a PDF.

    Only the fonts that come with Typst are used, and no date is written: the same report gives
    the same file on every machine.
    """
    try:
        import typst
    except ImportError as error:
        raise HostError(_MISSING.format("typst")) from error
    source = _pandoc(qmd, typesetter, "page.typ", "--to=typst")
    # Typst resolves paths from the place of its input, so that must lie beside the figures.
    typ = qmd.with_name(f".{qmd.stem}.typ")
    typ.write_bytes(source)
    try:
        pdf, warnings = typst.compile_with_warnings(
            str(typ), root=str(qmd.parent), format="pdf", ignore_system_fonts=True
        )
    except typst.TypstError as error:
        raise CopycostError(f"report: Typst cannot typeset {qmd}: {error}") from error
    finally:
        typ.unlink()
    if warnings:
        problems = "; ".join(str(warning) for warning in warnings)
        raise CopycostError(f"report: Typst warns about {qmd}, expected none: {problems}")
    assert isinstance(pdf, bytes)
    return pdf


def _pandoc(qmd: Path, typesetter: str, template: str, *options: str) -> bytes:
    """Run Pandoc; its warnings (a missing picture, an id used twice) are errors."""
    try:
        import pypandoc  # type: ignore[import-untyped]
    except ImportError as error:
        raise HostError(_MISSING.format("pypandoc")) from error
    command = [
        pypandoc.get_pandoc_path(), qmd.name, "--from=markdown", *options, "--standalone",
        f"--template=assets/{template}",
        *(f"--lua-filter=assets/{name}.lua" for name in ("page", "embedded", "boxes")),
        f"--metadata=typesetter:{typesetter}", "--syntax-highlighting=none", "--fail-if-warnings",
    ]  # fmt: skip
    done = _run(command, qmd.parent)
    if done.returncode != 0:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise CopycostError(
            f"report: Pandoc cannot typeset {qmd} (exit status {done.returncode}): {said}"
        )
    return done.stdout


def render_with_quarto(qmd: Path, quarto: Path, typesetter: str, kind: Format) -> bytes:
    """Return the report as Quarto typesets it; a reference that leads nowhere is an error.

    Quarto leaves intermediate files where it works, so it gets a copy of the report's folder.
    """
    with tempfile.TemporaryDirectory(prefix="copycost-quarto-") as name:
        folder = Path(name) / "report"
        shutil.copytree(qmd.parent, folder)
        to = "typst" if kind == "pdf" else kind
        command = [str(quarto), "render", qmd.name, "--to", to,
                   "--metadata", f"typesetter:{typesetter}"]  # fmt: skip
        # Fonts of this machine would give another PDF than those of the next.
        done = _run(command, folder, TYPST_IGNORE_SYSTEM_FONTS="true")
        said = _COLOURS.sub("", done.stderr.decode(errors="replace"))
        log.info("quarto said:\n%s", said)
        output = folder / f"{qmd.stem}.{kind}"
        if done.returncode == 0 and _DEAD_REFERENCE not in said and output.is_file():
            return output.read_bytes()
    # the line that tells why, or what comes closest to it
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["nothing"]
    errors = [line for word in ("ERROR", _DEAD_REFERENCE) for line in lines if word in line]
    raise CopycostError(
        f"report: {typesetter} cannot typeset {qmd} (exit status {done.returncode}), "
        f"it says: {[*errors, lines[-1]][0]}"
    )


def _run(command: Sequence[str], folder: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program in a folder, with `more` in its environment."""
    log.info("running %s", " ".join(command))
    environment: Mapping[str, str] = os.environ | more
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, timeout=_TIMEOUT_S,
            stdin=subprocess.DEVNULL, env=environment, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CopycostError(f"report: {command[0]}: {error}") from error
