"""Typesets the written report in each format that is asked for."""

import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from copycost.report import embedded, quarto
from copycost.report.check import check_markdown
from copycost.report.quarto import QuartoError
from copycost.report.typesetter import Typesetter, embedded_default

log = logging.getLogger(__name__)

Format = Literal["html", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render_report(
    qmd: Path, outputs: Mapping[Format, Path], style: Path, typesetter: Typesetter
) -> None:
    """Typeset the report; a file appears only when it is complete.

    Where Quarto fails, the embedded default typesets all formats, and a line on stderr says so: a
    broken Quarto must not cost the report.

    Parameters
    ----------
    qmd
        The report, with everything that it shows in its folder.
    outputs
        The file to write for each format.
    style
        Folder with the templates of the embedded default.
    typesetter
        From `copycost.report.typesetter.find_typesetter`.

    Raises
    ------
    DataError
        If the report has what one of the typesetters would not forgive.
    """
    check_markdown(qmd)
    try:
        contents = {kind: _typeset(qmd, kind, style, typesetter) for kind in outputs}
    except QuartoError as error:
        instead = embedded_default(f"{typesetter.description} failed")
        said = f"{error}; {instead.description} typesets instead"
        log.warning("%s", said)
        print(f"copycost: {said}", file=sys.stderr)
        contents = {kind: _typeset(qmd, kind, style, instead) for kind in outputs}
    for kind, output in outputs.items():
        half = output.with_name(f".{output.name}.part")
        half.write_bytes(contents[kind])
        half.replace(output)
        log.info("wrote %s (%d bytes)", output, len(contents[kind]))
    # A PDF of an earlier run beside the page of this one would be read as its copy.
    for suffix in {".html", ".pdf"} - {output.suffix for output in outputs.values()}:
        qmd.with_suffix(suffix).unlink(missing_ok=True)


def _typeset(qmd: Path, kind: Format, style: Path, typesetter: Typesetter) -> bytes:
    log.info("%s typesets %s", typesetter.description, kind)
    if typesetter.quarto is not None:
        return quarto.render(qmd, typesetter.quarto, typesetter.description, kind)
    render = embedded.render_html if kind == "html" else embedded.render_pdf
    return render(qmd, style, typesetter.description)
