"""Typesetting with Quarto."""

import logging
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from copycost.errors import CopycostError

log = logging.getLogger(__name__)

_TIMEOUT_S = 600
_FORMATS = {"html": "html", "pdf": "typst"}


def render(qmd: Path, quarto: Path, typesetter: str, kind: Literal["html", "pdf"]) -> bytes:
    """Return the report as Quarto typesets it.

    Quarto leaves intermediate files where it works, so it gets a copy of the report's folder.

    Raises
    ------
    CopycostError
        If Quarto fails; the message carries the last line of what it said.
    """
    with tempfile.TemporaryDirectory(prefix="copycost-quarto-") as name:
        folder = Path(name) / "report"
        shutil.copytree(qmd.parent, folder)
        command = [
            str(quarto), "render", qmd.name,
            "--to", _FORMATS[kind],
            "--metadata", f"typesetter:{typesetter}",
        ]  # fmt: skip
        log.info("running %s", " ".join(command))
        try:
            result = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S,
                stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CopycostError(f"report: {quarto}: {error}; {_REMEDY}") from error
        log.info("quarto said:\n%s", result.stderr)
        output = folder / f"{qmd.stem}.{kind}"
        if result.returncode != 0 or not output.is_file():
            said = result.stderr.strip().splitlines()
            raise CopycostError(
                f"report: {typesetter} cannot typeset {qmd} (exit status {result.returncode}), "
                f"it says: {said[-1] if said else 'nothing'}; {_REMEDY}"
            )
        return output.read_bytes()


_REMEDY = (
    "repair it, or take it off the PATH and run again: the embedded Pandoc and Typst then typeset"
)
