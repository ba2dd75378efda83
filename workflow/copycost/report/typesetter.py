"""Which program typesets the report: Quarto where there is one, else the embedded default."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

from copycost.errors import HostError

OLDEST_QUARTO = (1, 4)
"""Typst output, and its cross-references to figures and tables, came with Quarto 1.4."""


@dataclass(frozen=True, slots=True)
class Typesetter:
    """A program that can typeset the report.

    Attributes
    ----------
    quarto
        Quarto's executable; None for the embedded default.
    description
        What the report's last page prints.
    """

    quarto: Path | None
    description: str

    def as_params(self) -> dict[str, str | None]:
        """Return plain values, which Snakemake stores and compares from run to run."""
        quarto = None if self.quarto is None else str(self.quarto)
        return {"quarto": quarto, "description": self.description}

    @classmethod
    def from_params(cls, params: Mapping[str, str | None]) -> Self:
        """Return the typesetter that `as_params` gave."""
        quarto = params["quarto"]
        return cls(None if quarto is None else Path(quarto), str(params["description"]))


def find_typesetter(path: str | None = None) -> Typesetter:
    """Return Quarto if a recent one is on the PATH, else the embedded default.

    Parameters
    ----------
    path
        Folders to search, as in PATH; the environment's PATH if None.

    Raises
    ------
    HostError
        If there is a Quarto that does not even tell its version.
    """
    found = shutil.which("quarto", path=path)
    if found is None:
        choice = Typesetter(None, f"{_embedded()} (no Quarto on the PATH)")
    else:
        release = quarto_version(Path(found))
        if _numbers(release) >= OLDEST_QUARTO:
            choice = Typesetter(Path(found), f"Quarto {release}")
        else:
            choice = Typesetter(None, f"{_embedded()} (Quarto {release} is older than 1.4)")
    return choice


def quarto_version(program: Path) -> str:
    """Return what ``quarto --version`` prints, such as ``1.9.23``.

    Raises
    ------
    HostError
        If the program fails, hangs, or prints something else.
    """
    remedy = "repair it, or take it off the PATH to use the embedded Pandoc and Typst"
    try:
        result = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"report: {program} --version: {error}; {remedy}") from error
    release = result.stdout.strip()
    if result.returncode != 0 or not re.match(r"\d+\.\d+", release):
        said = (result.stderr.strip() or release).splitlines()
        raise HostError(
            f"report: {program} --version ended with {result.returncode} and said "
            f"{said[-1] if said else 'nothing'!r}; expected a version number; {remedy}"
        )
    return release


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])


def _embedded() -> str:
    # Imported here: whoever has Quarto may do without them.
    import pypandoc  # type: ignore[import-untyped]

    return f"the embedded Pandoc {pypandoc.get_pandoc_version()} and Typst {version('typst')}"
