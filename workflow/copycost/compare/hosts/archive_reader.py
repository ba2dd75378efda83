"""Files that somebody else has written, in a folder or a zip archive: read as data, never unpacked.

No link is followed and no file is taken for larger than it may be; names are compared with those
that an export has, so that none leads elsewhere.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from copycost.compare.hosts.host_results import STUDIES
from copycost.compare.hosts.privacy import shown
from copycost.errors import DataError

LARGEST_FILE = 1 << 24
"""Of the records of a job, the host's facts, ... [bytes]."""

MOST_FILES = 20_000
MOST_BYTES = 1 << 29
"""Of one host, all files together [bytes]."""

_LONGEST_END = 22 + 0xFFFF
"""Of an archive: the record at its end, and a comment [bytes]."""

_LONGEST_ENTRY = 512
"""In an archive's list of files; those of an export have about 250 [bytes]."""

_SINGLE = ("export.json", "host.json", "config.json", "config.yaml", "memory.json")


@dataclass(frozen=True)
class Store:
    """The files of an export, or of the results of a run; `open` raises what `read` expects.

    An archive holds nothing else; what else is in a folder is not looked at.
    """

    is_archive: bool
    names: Iterator[str]
    open: Callable[[str], IO[bytes]]

    def read(self, name: str) -> bytes:
        """Return the content of a file; DataError if it cannot be read, or is too large."""
        try:
            with self.open(name) as file:
                content = file.read(LARGEST_FILE + 1)
        except (OSError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(f"{shown(name)} cannot be read ({error})") from error
        if len(content) > LARGEST_FILE:
            raise DataError(
                f"{shown(name)} is larger than {LARGEST_FILE >> 20} MiB, as no record is"
            )
        return content


def open_store(path: Path) -> Store:
    """Return the files of an export, or of the results of a run; DataError if there are none."""
    if path.is_file():
        return _in_archive(path)
    for folder in (path / "results", path):
        if (folder / "raw").is_dir():
            return Store(False, names_in(folder), partial(_open_plain, folder))
    raise DataError(
        f"{path}: has no results of copycost (a folder raw is missing); name the archive that "
        "./run export has written, or the folder of a run's results"
    )


def names_in(folder: Path) -> Iterator[str]:
    """Yield the names of single files and of all records, with `/` between folders."""
    yield from (name for name in _SINGLE if os.path.lexists(folder / name))
    tops = [Path("raw"), *(Path("raw", study) for study in STUDIES)]
    linked = next((top for top in tops if (folder / top).is_symlink()), None)
    if linked is not None:
        yield linked.as_posix()
        return
    for top in tops[1:]:
        for place, inner, files in os.walk(folder / top, followlinks=False):
            links = [name for name in inner if Path(place, name).is_symlink()]
            for name in sorted((*files, *links)):
                if not name.startswith("."):  # half-written ones are hidden
                    yield Path(place, name).relative_to(folder).as_posix()


def _open_plain(folder: Path, name: str) -> IO[bytes]:
    """Open a file of a folder; DataError if it is none, but a link or a pipe."""
    path = folder / name
    if path.is_symlink():
        raise DataError(f"{shown(name)} is a link; expected a plain file")
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise DataError(f"{shown(name)} is no plain file")
    return os.fdopen(number, "rb")


def _in_archive(path: Path) -> Store:
    """Return the files of an archive, once its list of them is one that an export could have."""
    _require_short_list(path)
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DataError(
            f"{path}: cannot be read as an archive ({error}); expected what ./run export writes"
        ) from error
    files = [one for one in archive.infolist() if not one.is_dir()]
    if any(one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for one in files):
        raise DataError(f"{path}: is packed in a way that no export is; expected deflate")
    names = [one.filename for one in files]
    if len(names) > MOST_FILES:
        raise DataError(f"{path}: holds more than {MOST_FILES} files; no export has so many")
    if len(set(names)) < len(names):
        raise DataError(f"{path}: holds two files of one name; no export does")
    return Store(True, iter(names), archive.open)


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
