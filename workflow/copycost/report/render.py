"""Typesets the written report in each format that is asked for."""

import logging
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, get_args

from copycost.build.typesetter import Typesetter, embedded_default, find_typesetter
from copycost.records.files import write_bytes_whole, write_json
from copycost.report import embedded, quarto
from copycost.report.quarto import QuartoError

log = logging.getLogger(__name__)

Format = Literal["html", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
TYPESETTERS = "typesetters.json"
"""Beside the report: what typeset each format."""


def render_report(
    qmd: Path, formats: Sequence[Format], typesetter: Typesetter | None = None
) -> list[Path]:
    """Typeset the report beside its Markdown; a file appears only when it is complete.

    Where Quarto fails in a format, the embedded default typesets that one, and a line on stderr
    says so: a broken Quarto must not cost the report.

    Parameters
    ----------
    qmd
        The report, with everything that it shows in its folder.
    formats
        Which files to write.
    typesetter
        From `copycost.build.typesetter.find_typesetter`, which is asked if None.

    Returns
    -------
    list of Path
        The files, in the order of `formats`.

    Raises
    ------
    CopycostError
        If it has what no typesetter forgives, such as a reference to nothing.
    """
    first = typesetter or find_typesetter()
    with ThreadPoolExecutor() as pool:  # each format is a process of its own
        made = list(pool.map(lambda kind: _typeset(qmd, kind, first), formats))
    # A PDF of an earlier run beside the page of this one would be read as its copy.
    for kind in FORMATS:
        qmd.with_suffix(f".{kind}").unlink(missing_ok=True)
    outputs = [qmd.with_suffix(f".{kind}") for kind in formats]
    for output, (content, _) in zip(outputs, made, strict=True):
        write_bytes_whole(content, output)
        log.info("wrote %s (%d bytes)", output, len(content))
    by = {kind: used.description for kind, (_, used) in zip(formats, made, strict=True)}
    write_json(by, qmd.with_name(TYPESETTERS))
    return outputs


def _typeset(qmd: Path, kind: Format, typesetter: Typesetter) -> tuple[bytes, Typesetter]:
    """Return the report in one format, and what typeset it."""
    if typesetter.quarto is not None:
        try:
            return quarto.render(qmd, typesetter.quarto, typesetter.description, kind), typesetter
        except QuartoError as error:
            typesetter = embedded_default(f"{typesetter.description} failed")
            said = f"{error}; {typesetter.description} typesets {qmd.with_suffix(f'.{kind}').name}"
            log.warning("%s", said)
            print(f"copycost: {said}", file=sys.stderr)
    render = embedded.render_html if kind == "html" else embedded.render_pdf
    return render(qmd, typesetter.description), typesetter
