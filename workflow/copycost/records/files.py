"""Write a file whole or not at all; read and write JSON."""

import json
import os
from pathlib import Path
from typing import Any

from copycost.errors import DataError


def write_whole(text: str, path: Path) -> None:
    """Write a text, all of it or nothing.

    It goes to a hidden file beside the path, reaches the disk, and only then gets the name; a crash
    in between leaves no file that looks whole.

    Raises
    ------
    DataError
        If it cannot be written (disk full, no right).
    """
    write_bytes_whole(text.encode("utf-8"), path)


def write_bytes_whole(content: bytes, path: Path) -> None:
    """Write any content as `write_whole` does."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); free or choose another disk"
            " and run again: what was measured before is kept"
        ) from error


def read_json(path: str | Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file that the workflow wrote holds."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write_json(content: object, path: str | Path) -> None:
    """Write JSON as `write_whole` does; the same content gives the same bytes.

    Raises
    ------
    ValueError
        If a number is none that JSON has.
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(text + "\n", Path(path))
