"""Which program typesets the report: Quarto where there is one, else the embedded default."""

import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version

_TIMEOUT_S = 20

OLDEST_QUARTO = "1.9"
"""The report's pages are made for this Quarto and the Typst that comes with it."""


@dataclass(frozen=True, slots=True)
class Typesetter:
    """A program that can typeset the report: Quarto's executable, or None for the embedded default.

    The description is what the report's last page prints; where there is a Quarto that cannot be
    used (`faulty`), it says why.
    """

    quarto: str | None
    description: str
    faulty: bool = False


def find_typesetter(path: str | None = None) -> Typesetter:
    """Return Quarto if a recent one that works is on the PATH, else the embedded default.

    Never fails: it is asked before anything is measured, and a broken Quarto must not keep anybody
    from measuring.
    """
    found = shutil.which("quarto", path=path)
    if found is None:
        return embedded_default("no Quarto on the PATH")
    release = _quarto_version(found)
    if release is None:
        return embedded_default("the Quarto on the PATH tells no version", faulty=True)
    if _numbers(release) < _numbers(OLDEST_QUARTO):
        return embedded_default(f"Quarto {release} is older than {OLDEST_QUARTO}", faulty=True)
    return Typesetter(found, f"Quarto {release}")


def embedded_default(reason: str, *, faulty: bool = False) -> Typesetter:
    """Return the embedded default, which says why it is not Quarto."""
    name = "the embedded Pandoc and Typst"
    # Imported here: whoever has Quarto may do without them. Rendering then says what is missing.
    with suppress(ImportError, OSError):
        import pypandoc  # type: ignore[import-untyped]

        name = f"the embedded Pandoc {pypandoc.get_pandoc_version()} and Typst {version('typst')}"
    return Typesetter(None, f"{name} ({reason})", faulty)


def _quarto_version(program: str) -> str | None:
    try:
        result = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    release = result.stdout.strip()
    return release if result.returncode == 0 and re.match(r"\d+\.\d+", release) else None


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])
