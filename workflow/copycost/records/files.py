"""Write a file whole or not at all; read and write JSON."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from copycost.errors import DataError
from copycost.records.aside import unread


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


def write_whole(text: str, path: Path) -> None:
    """Write a text, all of it or nothing; it has reached the disk before it gets its name."""
    write_bytes_whole(text.encode("utf-8"), path)


def write_bytes_whole(content: bytes, path: Path) -> None:
    """Write any content as `write_whole` does."""
    kept = "what was measured before is kept"
    with replaced_whole(path, "cannot be written", kept) as partial, partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read_json(path: str | Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file that the workflow wrote holds."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        unread.append(Path(path))
        raise


def write_json(content: object, path: str | Path) -> None:
    """Write JSON as `write_whole` does; ValueError if a number is none that JSON has.

    The same content gives the same bytes.
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(text + "\n", Path(path))
