"""Files that somebody else has written, in a folder or a zip archive: read as data, never unpacked.

No link is followed and no file is taken for larger than it may be; names are compared with those
that an export has, so that none leads elsewhere.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from copycost.compare.hosts.names import shown
from copycost.errors import DataError

LARGEST_FILE = 1 << 24
"""Of the records of a job, the host's facts, ... [bytes]."""

MOST_FILES = 20_000
MOST_BYTES = 1 << 29
"""Of one host, all files together [bytes]."""

STUDIES = ("streams", "round_trips")
"""Whose records are handed on."""

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_LONGEST_END = 22 + 0xFFFF
"""Of an archive: the record at its end, and a comment [bytes]."""

_LONGEST_ENTRY = 512
"""In an archive's list of files; those of an export have about 250 [bytes]."""

SINGLE = ("export.json", "host.json", "config.json", "config.yaml", "memory.json")


def open_store(path: Path) -> "FolderStore | ZipStore":
    """Return the files of an export, or of the results of a run; DataError if there are none."""
    if path.is_file():
        return ZipStore(path)
    for folder in (path / "results", path):
        if (folder / "raw").is_dir():
            return FolderStore(folder)
    raise DataError(
        f"{path}: has no results of copycost (a folder raw is missing); name the archive that "
        "./run export has written, or the folder of a run's results"
    )


class FolderStore:
    """Results as they lie in a folder; what else is there is not looked at."""

    def __init__(self, folder: Path) -> None:
        """Look at the folder that holds ``raw``."""
        self._folder = folder

    def names(self) -> Iterator[str]:
        """Yield the names of single files and of all records, with `/` between folders."""
        yield from (name for name in SINGLE if os.path.lexists(self._folder / name))
        if (self._folder / "raw").is_symlink():
            yield "raw"
            return
        for study in STUDIES:
            if (self._folder / "raw" / study).is_symlink():
                yield f"raw/{study}"
                continue
            for folder, inner, files in os.walk(self._folder / "raw" / study, followlinks=False):
                place = Path(folder)
                linked = [name for name in inner if (place / name).is_symlink()]
                for name in sorted((*files, *linked)):
                    if not name.startswith("."):  # half-written ones are hidden
                        yield (place / name).relative_to(self._folder).as_posix()

    def read(self, name: str) -> bytes:
        """Return the content of a file; DataError if it is no plain file, or too large."""
        path = self._folder / name
        try:
            number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            why = "is a link" if path.is_symlink() else error.strerror
            raise DataError(f"{shown(name)} {why}; expected a plain file") from error
        with os.fdopen(number, "rb") as file:
            found = os.fstat(number)
            if not stat.S_ISREG(found.st_mode):
                raise DataError(f"{shown(name)} is no plain file")
            return _bounded(file.read(LARGEST_FILE + 1), name)


class ZipStore:
    """An archive that ``./run export`` has written; it holds nothing else."""

    def __init__(self, path: Path) -> None:
        """Read the list of what an archive holds."""
        _require_short_list(path)
        try:
            self._archive = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise DataError(
                f"{path}: cannot be read as an archive ({error}); expected what ./run export writes"
            ) from error
        files = self._archive.infolist()
        if len(files) > MOST_FILES:
            raise DataError(f"{path}: holds more than {MOST_FILES} files; no export has so many")
        if len({one.filename for one in files}) < len(files):
            raise DataError(f"{path}: holds two files of one name; no export does")
        if any(one.compress_type not in _PACKED for one in files):
            raise DataError(f"{path}: is packed in a way that no export is; expected deflate")

    def names(self) -> Iterator[str]:
        """Yield the names of all files."""
        yield from (one.filename for one in self._archive.infolist() if not one.is_dir())

    def read(self, name: str) -> bytes:
        """Return the content of a file; DataError if it cannot be read, or is too large."""
        try:
            with self._archive.open(name) as file:
                return _bounded(file.read(LARGEST_FILE + 1), name)
        except (OSError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(f"{shown(name)} cannot be read ({error})") from error


def _require_short_list(path: Path) -> None:
    """Refuse an archive whose list of files would fill the memory.

    Source: PKWARE's APPNOTE, 4.3.15 and 4.3.16: the record at the end tells how long the list is;
    one of more than 65535 files has a further record, which no export needs.
    """
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _LONGEST_END, 0))
        end = file.read()
    begin = end.rfind(b"PK\5\6")
    list_bytes = int.from_bytes(end[begin + 12 : begin + 16], "little") if begin >= 0 else 0
    if b"PK\6\7" in end or list_bytes > MOST_FILES * _LONGEST_ENTRY:
        raise DataError(f"{path}: holds more than {MOST_FILES} files; no export has so many")


def _bounded(content: bytes, name: str) -> bytes:
    if len(content) > LARGEST_FILE:
        raise DataError(f"{shown(name)} is larger than {LARGEST_FILE >> 20} MiB, as no record is")
    return content


Store = FolderStore | ZipStore
