"""The embedded default: Pandoc and Typst from the Python environment typeset the report."""

import logging
import subprocess
from pathlib import Path

from copycost.errors import CopycostError, HostError

log = logging.getLogger(__name__)

_TIMEOUT_S = 300
_TOC_DEPTH = 2
_MISSING = (
    "report: there is neither Quarto 1.9 or newer on the PATH nor the Python package {}; "
    "install one of them (`./run` does) and run again: nothing will be measured again"
)


def render_html(qmd: Path, style: Path, typesetter: str) -> bytes:
    """Return the report as one HTML file that holds its figures and needs nothing else.

    Parameters
    ----------
    qmd
        The report; paths in it are relative to its folder.
    style
        Folder with the templates and the filter, ``report/embedded``; what it shares with Quarto
        is in ``report/shared`` next to it.
    typesetter
        What the last page prints as the program that typeset it.
    """
    return _pandoc(
        qmd, style, typesetter, ["--to=html5", "--mathml", "--embed-resources"], "template.html"
    )


def render_pdf(qmd: Path, style: Path, typesetter: str) -> bytes:
    """Return the report as a PDF. Parameters as for `render_html`.

    Only the fonts that come with Typst are used, and no date is written: the same report gives
    the same file on every machine.
    """
    try:
        import typst
    except ImportError as error:
        raise HostError(_MISSING.format("typst")) from error
    source = _pandoc(qmd, style, typesetter, ["--to=typst"], "template.typ")
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


def _pandoc(qmd: Path, style: Path, typesetter: str, options: list[str], template: str) -> bytes:
    """Run Pandoc; its warnings (a missing picture, an id used twice) are errors."""
    try:
        import pypandoc  # type: ignore[import-untyped]
    except ImportError as error:
        raise HostError(_MISSING.format("pypandoc")) from error
    style = style.resolve()
    command = [
        pypandoc.get_pandoc_path(),
        qmd.name,
        "--from=markdown",
        *options,
        "--standalone",
        f"--data-dir={style}",
        f"--template={style / template}",
        f"--lua-filter={style.with_name('shared') / 'page.lua'}",
        f"--lua-filter={style / 'crossref.lua'}",
        f"--metadata=typesetter:{typesetter}",
        "--number-sections",
        "--toc",
        f"--toc-depth={_TOC_DEPTH}",
        "--syntax-highlighting=none",
        "--fail-if-warnings",
    ]
    log.info("running %s", " ".join(command))
    result = subprocess.run(
        command, cwd=qmd.parent, capture_output=True, timeout=_TIMEOUT_S, check=False
    )
    if result.returncode != 0:
        said = " ".join(result.stderr.decode(errors="replace").split())
        raise CopycostError(
            f"report: Pandoc cannot typeset {qmd} (exit status {result.returncode}): {said}"
        )
    return result.stdout
