"""The embedded default: Pandoc and Typst from the Python environment typeset the report."""

import logging
import subprocess
from pathlib import Path

from copycost.errors import CopycostError, HostError

log = logging.getLogger(__name__)

_TIMEOUT_S = 300
_MISSING = (
    "report: there is neither Quarto 1.9 or newer on the PATH nor the Python package {}; "
    "install one of them (`./run` does) and run again: nothing will be measured again"
)


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
        pypandoc.get_pandoc_path(),
        qmd.name,
        "--from=markdown",
        *options,
        "--standalone",
        f"--template=assets/{template}",
        "--lua-filter=assets/page.lua",
        "--lua-filter=assets/embedded.lua",
        "--lua-filter=assets/boxes.lua",
        f"--metadata=typesetter:{typesetter}",
        "--syntax-highlighting=none",
        "--fail-if-warnings",
    ]
    log.info("running %s", " ".join(command))
    try:
        result = subprocess.run(
            command, cwd=qmd.parent, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CopycostError(f"report: Pandoc cannot typeset {qmd}: {error}") from error
    if result.returncode != 0:
        said = " ".join(result.stderr.decode(errors="replace").split())
        raise CopycostError(
            f"report: Pandoc cannot typeset {qmd} (exit status {result.returncode}): {said}"
        )
    return result.stdout
