"""Typesets the written report in each format that is asked for."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from copycost.report import embedded, quarto
from copycost.report.typesetter import Typesetter

log = logging.getLogger(__name__)

Format = Literal["html", "pdf"]


def render_report(
    qmd: Path, outputs: Mapping[Format, Path], style: Path, typesetter: Typesetter
) -> None:
    """Typeset the report; a file appears only when it is complete.

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
    """
    log.info("typeset by %s", typesetter.description)
    for kind, output in outputs.items():
        if typesetter.quarto is not None:
            content = quarto.render(qmd, typesetter.quarto, typesetter.description, kind)
        elif kind == "html":
            content = embedded.render_html(qmd, style, typesetter.description)
        else:
            content = embedded.render_pdf(qmd, style, typesetter.description)
        half = output.with_name(f".{output.name}.part")
        half.write_bytes(content)
        half.replace(output)
        log.info("wrote %s (%d bytes)", output, len(content))
    # A PDF of an earlier run beside the page of this one would be read as its copy.
    for suffix in {".html", ".pdf"} - {output.suffix for output in outputs.values()}:
        qmd.with_suffix(suffix).unlink(missing_ok=True)
