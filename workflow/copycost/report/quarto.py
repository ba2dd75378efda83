"""Typesetting with Quarto."""

import logging
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from copycost.errors import CopycostError

log = logging.getLogger(__name__)

_TIMEOUT_S = 600
_FORMATS = {"html": "html", "pdf": "typst"}

# Quarto prints `?@fig-name` in place of a reference that leads nowhere, and ends well (1.9.38).
_DEAD_REFERENCE = "Unable to resolve crossref"
# Fonts of this machine would give another PDF than those of the next.
_TYPST = {"TYPST_IGNORE_SYSTEM_FONTS": "true"}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class QuartoError(CopycostError):
    """Quarto cannot typeset the report; the message quotes what it says."""


def render(qmd: Path, quarto: Path, typesetter: str, kind: Literal["html", "pdf"]) -> bytes:
    """Return the report as Quarto typesets it.

    Quarto leaves intermediate files where it works, so it gets a copy of the report's folder. A
    reference that leads nowhere is an error.
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
                command, cwd=folder, capture_output=True, timeout=_TIMEOUT_S,
                stdin=subprocess.DEVNULL, env=os.environ | _TYPST, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise QuartoError(f"report: {quarto}: {error}") from error
        said = _COLOURS.sub("", result.stderr.decode(errors="replace"))
        log.info("quarto said:\n%s", said)
        output = folder / f"{qmd.stem}.{kind}"
        if result.returncode != 0 or _DEAD_REFERENCE in said or not output.is_file():
            raise QuartoError(
                f"report: {typesetter} cannot typeset {qmd} (exit status {result.returncode}), "
                f"it says: {_reason(said)}"
            )
        return output.read_bytes()


def _reason(said: str) -> str:
    """Return the line that tells why: the first error, else what comes closest to one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for word in ("ERROR", _DEAD_REFERENCE):
        for line in lines:
            if word in line:
                return line
    return lines[-1] if lines else "nothing"
