"""Files in results: written whole or not at all, read, and set aside where they cannot be used."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from copycost.errors import CopycostError, DataError

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


@contextmanager
def replaced_whole(path: Path, failed: str, kept: str) -> Iterator[Path]:
    """Return a block with a hidden file beside the path, which takes its place after the block.

    A crash in between leaves no file that looks whole; DataError where it cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"{path}: {failed} ({error.strerror or error}); free or choose another disk and run"
            f" again: {kept}"
        ) from error


def write_bytes_whole(content: bytes, path: Path) -> None:
    """Write all of it or nothing; it has reached the disk before it gets its name."""
    kept = "what was measured before is kept"
    with replaced_whole(path, "cannot be written", kept) as partial, partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def write_whole(text: str, path: Path) -> None:
    """Write a text as `write_bytes_whole` does."""
    write_bytes_whole(text.encode("utf-8"), path)


def write_json(content: object, path: str | Path) -> None:
    """Write JSON as `write_whole` does; ValueError if a number is none that JSON has.

    The same content gives the same bytes.
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(text + "\n", Path(path))


def read_json(path: str | Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file that the workflow wrote holds."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        unread.append(Path(path))
        raise


def newly_unread() -> list[Path]:
    """Return what steps made and this one could not read, as far as no step met that before.

    One that is made again and is no better is a defect of ours, which must not end a run.
    """
    notes = Path(ASIDE)
    known = notes.read_text(encoding="utf-8") if notes.is_file() else ""
    made = {path for path in unread if path.is_relative_to(_RESULTS)}
    return [path for path in made if f" {path.relative_to(_RESULTS)}: {UNREAD}\n" not in known]


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
