"""What cannot be used goes out of the way, with a line on why, and costs no more than itself."""

import os
from datetime import UTC, datetime
from pathlib import Path

from copycost.errors import CopycostError

LOST = "its record could not be used: "
"""How the reason of a failed repetition begins whose record was set aside after it was measured."""

_RESULTS = "results"
_README = """\
What could not be used: damaged, of another release, or of another state of this host. Each file
lies here as it lay in results; nothing reads it any more.

"""


def reason_of(error: Exception, path: Path) -> str:
    """Return what an error found in a file, in a few words: without where, and what to do."""
    if isinstance(error, OSError):
        return str(error.strerror)
    if not isinstance(error, CopycostError):
        return f"no row can be made of it ({type(error).__name__}: {error})"
    found, _, _ = str(error).partition("; ")
    return found.removeprefix(str(path)).lstrip(":, ")


def set_aside(path: Path, why: str) -> None:
    """Move a file below `results` to its place below ``results/aside``, and note why."""
    keep_aside(path, why)
    path.unlink()


def keep_aside(path: Path, why: str) -> None:
    """Do the same but leave the file; where the disk is full in between, it can be done again."""
    parts = path.parts
    at = len(parts) - parts[::-1].index(_RESULTS)
    aside, inner = Path(*parts[:at], "aside"), Path(*parts[at:])
    place = aside / inner
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    os.link(path, place)
    notes = aside / "README"
    begins = "" if notes.exists() else _README
    with notes.open("a", encoding="utf-8") as file:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        file.write(f"{begins}{now} {inner}: {why}\n")
