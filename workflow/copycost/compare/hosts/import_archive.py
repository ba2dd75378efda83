"""The results of one host as somebody hands them on: read as data, checked to the last value.

They lie in a folder, or in a zip archive that is never unpacked. No link is followed and no file is
taken for larger than it may be; names are compared with those that an export has, so that none
leads elsewhere.
"""

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, TypeVar, cast

from copycost.compare.hosts.host_results import EXPORT, FACTS, STUDIES, records_in
from copycost.compare.hosts.privacy import (
    SECTIONS,
    name_of,
    peers_of,
    require_name,
    shown,
    without_private,
)
from copycost.config.strategy_capabilities import RECEIVERS
from copycost.config.testbeds import TESTBEDS, kind_of
from copycost.config.yaml_loader import parse_yaml
from copycost.errors import CopycostError, DataError
from copycost.records.json_schema import RecordKind
from copycost.records.record import Record, cell_of, host_digest
from copycost.studies.memory.record import MEMORY, MemoryRecord
from copycost.studies.round_trips.table import row_of_grid

_R = TypeVar("_R", bound=Mapping[str, Any])
_Open = Callable[[str], IO[bytes]]

LARGEST_FILE = 1 << 24
"""Of the records of a job, the host's facts, ... [bytes]."""

MOST_FILES = 20_000
_MOST_BYTES = 1 << 29
"""Of one host, all files together [bytes]."""

_LONGEST_END = 22 + 0xFFFF
"""Of an archive: the record at its end, and a comment [bytes]."""

_LONGEST_ENTRY = 512
"""In an archive's list of files; those of an export have about 250 [bytes]."""

_N_SHOWN = 5
_LONGEST_NAME = 64
# No file of ours has these, and a terminal would obey them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u00[01189][0-9a-f]|u007f|u20[26][0-9a-e]|[bfr])", re.I)

_KINDS: Mapping[str, RecordKind[Any]] = {
    "host.json": FACTS, "config.json": FACTS, "export.json": EXPORT, "memory.json": MEMORY.kind,
}  # fmt: skip
"""What an export holds beside records; a run has config.yaml instead of its configuration."""


@dataclass(frozen=True)
class Parcel:
    """The results of one host, without what is private; `source` is for sentences.

    The name is ``given`` by whoever reads them, ``told`` by what was read, or ``made`` of what the
    host is, which two machines may share. The configuration is in the words of config.yaml, and
    empty where it is not told. Records of streams and round trips are sorted by start; those of
    another state of the host, `n_elsewhere`, were left out.
    """

    source: str
    name: str
    naming: Literal["given", "told", "made"]
    host: Mapping[str, Any]
    config: Mapping[str, Any]
    memory: MemoryRecord | None
    records: Sequence[Record]
    n_elsewhere: int


def read_parcel(path: Path, name: str | None = None) -> Parcel:
    """Read an export, or the results of a run, and check all that is in it.

    The host is called as it shall be by `name`, else by what the export says, else by what it is.
    """
    found, records = _read(path)
    host, told = found["host.json"], found.get("config.json") or found.get("config.yaml") or {}
    kept = [one for one in records if one["host_digest"] == host_digest(host)]
    if not any(one["study"] == "streams" and one["status"] == "measured" for one in kept):
        raise DataError(
            f"{path}: no stream was measured on the host that host.json describes; expected "
            "throughputs of two ways to send at least"
        )
    peers = peers_of(told, kept)
    clean = without_private(dict(host), peers)
    digest = host_digest(clean)
    made = name_of(clean["identity"])
    said = found.get("export.json", {}).get("name") or (told.get("hosts") or {}).get("alias")
    said = require_name(said, str(path)) if isinstance(said, str) and said != "auto" else made
    return Parcel(
        source=str(path),
        name=name or said,
        naming="given" if name else "made" if said == made else "told",
        host=clean,
        config=without_private({key: told[key] for key in SECTIONS if key in told}, peers),
        memory=_handed_on(memory, peers, digest) if (memory := found.get("memory.json")) else None,
        records=[_handed_on(one, peers, digest) for one in kept],
        n_elsewhere=len(records) - len(kept),
    )


def _handed_on(record: _R, peers: Sequence[str], digest: str) -> _R:
    clean = dict(without_private(record, peers)) | {"host_digest": digest}
    return cast("_R", clean)


def _read(path: Path) -> tuple[dict[str, Any], list[Record]]:
    """Return what the files beside the records hold, by name, and the records by their start.

    DataError names the first few problems of all files.
    """
    files, opened = _open(path)
    names = list(islice(files, MOST_FILES + 1))
    if len(names) > MOST_FILES:
        raise DataError(f"{path}: holds more than {MOST_FILES} files; merge a part of it")
    if len(set(names)) < len(names):
        raise DataError(f"{path}: holds two files of one name; no export does")
    beside: dict[str, Any] = {}
    records: list[Record] = []
    problems: list[str] = []
    n_bytes = 0
    for name in names:
        try:
            content = _content(opened, name)
            n_bytes += len(content)
            if n_bytes > _MOST_BYTES:
                problems.append(f"the files are larger than {_MOST_BYTES >> 20} MiB together")
                break
            if name.startswith("raw"):
                records += _records_in(content, name)
            else:
                beside[name] = _facts_in(content, name, is_archive=path.is_file())
        except CopycostError as error:
            # without what this run's own user would have to do
            said = shown(str(error).partition("; expected")[0], 300)
            problems.append(said if said.startswith(shown(name)) else f"{shown(name)}: {said}")
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            # what a schema leaves open, such as the options of a program, may be anything
            problems.append(f"{shown(name)}: no row can be made of it ({type(error).__name__})")
    needed = {"host.json", "export.json"} if path.is_file() else {"host.json"}
    problems += [f"{name} is missing" for name in sorted(needed.difference(names))]
    if problems:
        more = len(problems) - _N_SHOWN
        rest = [f"and {more} more like these"] if more > 0 else []
        raise DataError("\n  ".join([f"{path}: refused", *problems[:_N_SHOWN], *rest]))
    return beside, sorted(records, key=lambda one: (one["boot_id"], one["start_ns"]))


def _open(path: Path) -> tuple[Iterator[str], _Open]:
    """Return the names of the files of an export, or of a run's results, and what opens one.

    An archive holds nothing else; what else is in a folder is not looked at.
    """
    if path.is_file():
        archive = _archive(path)
        return (one.filename for one in archive.infolist() if not one.is_dir()), archive.open
    for folder in (path / "results", path):
        if (folder / "raw").is_dir():
            return _names_in(folder), partial(_open_plain, folder)
    raise DataError(
        f"{path}: has no results of copycost (a folder raw is missing); name the archive that "
        "./run export has written, or the folder of a run's results"
    )


def _content(opened: _Open, name: str) -> bytes:
    """Return the content of a file; DataError if it cannot be read, or is none of ours."""
    try:
        with opened(name) as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{shown(name)} cannot be read ({error})") from error
    if len(content) > LARGEST_FILE:
        raise DataError(f"is larger than {LARGEST_FILE >> 20} MiB, as no record is")
    text = content.decode("utf-8", errors="replace")
    if _CONTROL.search(text) or _ESCAPED.search(text):
        raise DataError("holds control characters, as no file of ours does")
    return content


def _names_in(folder: Path) -> Iterator[str]:
    """Yield the names of single files and of all records, with `/` between folders.

    Those of links are among them, and are refused when they are opened.
    """
    tops = [f"raw/{study}" for study in STUDIES]
    yield from (name for name in (*_KINDS, "config.yaml") if os.path.lexists(folder / name))
    yield from (name for name in ("raw", *tops) if (folder / name).is_symlink())
    for top in tops:
        for place, inner, files in os.walk(folder / top):
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


def _archive(path: Path) -> zipfile.ZipFile:
    """Open an archive, if its list of files is one that an export could have.

    A longer list would fill the memory. Source: PKWARE's APPNOTE, 4.3.15 and 4.3.16: the record at
    the end tells how long it is; one of more than 65535 files has a further record, which no export
    needs.
    """
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _LONGEST_END, 0))
        end = file.read()
    begin = end.rfind(b"PK\5\6")
    list_bytes = int.from_bytes(end[begin + 12 : begin + 16], "little") if begin >= 0 else 0
    if b"PK\6\7" in end or list_bytes > MOST_FILES * _LONGEST_ENTRY:
        raise DataError(f"{path}: holds more than {MOST_FILES} files; no export has so many")
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DataError(
            f"{path}: cannot be read as an archive ({error}); expected what ./run export writes"
        ) from error
    packed = {one.compress_type for one in archive.infolist()}
    if not packed <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise DataError(f"{path}: is packed in a way that no export is; expected deflate")
    return archive


def _facts_in(content: bytes, name: str, *, is_archive: bool) -> dict[str, Any]:
    """Return what a file beside the records holds."""
    found: dict[str, Any]
    if name in _KINDS:
        found = _KINDS[name].check(_KINDS[name].load(content, name), name)
    elif is_archive:
        raise DataError("is in no export")
    else:
        found = FACTS.check(parse_yaml(content.decode("utf-8", errors="replace"), name), name)
    if name == "host.json" and not isinstance(found.get("identity"), dict):
        raise DataError("has no section identity; expected the facts of a host")
    return found


def _records_in(content: bytes, name: str) -> list[Record]:
    """Return the records in a file of that name, each of which is of the cell that it says."""
    records = records_in(content, shown(name))
    for number, record in enumerate(records):
        cell = cell_of(record)
        in_file = replace(cell, rep=cell.rep - number)
        if record["study"] not in STUDIES or in_file.path != f"results/{name}":
            raise DataError("holds the record of another repetition")
        if any(len(str(value)) > _LONGEST_NAME for value in record["cell"].values()):
            raise DataError(f"has a name of more than {_LONGEST_NAME} letters")
        for word, known in ((kind_of(cell.testbed), TESTBEDS), (cell.receiver, RECEIVERS)):
            if word not in known:
                raise DataError(f"{word} is not known to this release; expected {', '.join(known)}")
        row_of_grid(record)  # refuses what no machine can give
    return records
