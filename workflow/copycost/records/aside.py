"""What cannot be used goes out of the way, with a line on why, and costs no more than itself."""

import os
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from copycost.errors import CopycostError

LOST = "its record could not be used: "
"""How the reason of a failed repetition begins whose record was set aside after it was measured."""

ASIDE = "results/aside/README"
"""Says of each file that was set aside when, what it is, and why."""

UNREAD = "a step could not read it"
"""Why a file lies aside that a step had made and another one needed."""

unread: list[Path] = []
"""The files that this process, a step, could not read."""

_RESULTS = "results"
_NOTE = re.compile(r"(?P<at>[\d-]{10}T\S+) (?P<file>\S+): (?P<why>.*)")
_MOST_REASONS = 10
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


def newly_unread() -> list[Path]:
    """Return what steps made and this one could not read, as far as no step met that before.

    One that is made again and is no better is a defect of ours, which must not end a run.
    """
    notes = Path(ASIDE)
    known = notes.read_text(encoding="utf-8") if notes.is_file() else ""
    made = {path for path in unread if path.is_relative_to(_RESULTS)}
    return [path for path in made if f" {path.relative_to(_RESULTS)}: {UNREAD}\n" not in known]


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


def aside_facts(notes: Path | None) -> dict[str, Any]:
    """Return what was set aside: `n` files, and the commonest `reasons` with the last file each."""
    text = ""
    if notes and notes.is_file():
        text = notes.read_text(encoding="utf-8", errors="replace")
    found = [note for note in map(_NOTE.fullmatch, text.splitlines()) if note]
    counts = Counter(note["why"] for note in found)
    last = {note["why"]: {"file": note["file"], "at": note["at"]} for note in found}
    reasons = [{"why": why, "n": n, **last[why]} for why, n in counts.most_common(_MOST_REASONS)]
    return {"n": len(found), "reasons": reasons}
