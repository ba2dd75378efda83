"""The hosts of a fleet as they lie on disk: a folder for each state of each host.

``host=NAME`` has ``raw`` as a run's results have it, ``host.json``, ``config.json``, maybe
``memory.json``, and ``set.json``, which says what it is. A later state of the same host, say with
another kernel, is ``host=NAME_2``.
"""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from copycost.config.checkout import SCHEMAS
from copycost.errors import CopycostError, DataError
from copycost.records.json_schema import RecordKind, several
from copycost.records.record import SCHEMA_VERSION, Record, check_record, load_record

STUDIES = ("streams", "round_trips")
"""Whose records are handed on."""

EXPORT: RecordKind[dict[str, Any]] = RecordKind(
    SCHEMAS / "export.schema.yaml", "what ./run export writes"
)
FACTS: RecordKind[dict[str, Any]] = RecordKind(
    SCHEMAS / "foreign_facts.schema.yaml", "facts of a host or a configuration"
)
SET: RecordKind[dict[str, Any]] = RecordKind(
    SCHEMAS / "host_set.schema.yaml", "the description of a set"
)
EXPORT_VERSION = 1
SET_VERSION = 1
FLEET = Path("results/fleet")
_BESIDE = ("host.json", "config.json", "memory.json")
_FOLDER = re.compile(r"host=[a-z0-9-]+(?:_[1-9]\d*)?")


@dataclass(frozen=True)
class HostSet:
    """One state of one host, from 1, and what tells it from the state before.

    `content` is the SHA-256 of all that it holds; `source` is where it was merged from, as an
    absolute path, or None where that is not known.
    """

    fleet: Path
    host: str
    state: int
    changes: tuple[str, ...]
    content: str = ""
    source: str | None = None

    @property
    def name(self) -> str:
        """Return what tables call it."""
        return self.host if self.state == 1 else f"{self.host}_{self.state}"

    @property
    def folder(self) -> Path:
        """Return where it lies."""
        return self.fleet / f"host={self.name}"

    @property
    def records(self) -> list[Path]:
        """Return the paths of all records, sorted."""
        return sorted(
            path for study in STUDIES for path in (self.folder / "raw" / study).rglob("rep=*.json")
        )

    def contents(self) -> tuple[dict[Path, bytes], str]:
        """Return all that it holds by now, and the SHA-256 of that."""
        paths = (*self.records, *(self.folder / name for name in _BESIDE))
        contents = {path: path.read_bytes() for path in paths if path.is_file()}
        digest = hashlib.sha256()
        for path, content in contents.items():
            digest.update(f"{path.relative_to(self.folder)}\n".encode())
            digest.update(hashlib.sha256(content).digest())
        return contents, digest.hexdigest()

    def facts(self) -> dict[str, Any]:
        """Return the facts of the host."""
        return FACTS.read(self.folder / "host.json")

    def read_records(self) -> list[Record]:
        """Return all records; DataError where one of them cannot be used any more.

        That the folder still holds what was merged, and checked then, takes a fraction of the time
        to see that checking every value again would.
        """
        contents, digest = self.contents()
        is_checked = digest == self.content
        try:
            return [
                record
                for path in self.records
                for record in records_in(contents[path], path, is_checked=is_checked)
            ]
        except CopycostError as error:
            raise _to_be_merged_again(error) from None


def records_in(content: bytes, where: str | Path, *, is_checked: bool = False) -> list[Record]:
    """Return the records in a file, checked unless its content was before."""
    data = several(json.loads(content) if is_checked else load_record(content, where))
    for record in data:
        version = record.get("schema_version") if isinstance(record, dict) else None
        if version != SCHEMA_VERSION:
            raise DataError(
                f"{where}: has schema version {version if isinstance(version, int) else 'none'}, "
                f"and this copycost reads {SCHEMA_VERSION}; expected an export of this release"
            )
        record.pop("digest", None)  # of the file
        if not is_checked:
            check_record(record, where)
    return data


def read_sets(fleet: Path) -> tuple[list[HostSet], dict[str, str]]:
    """Return all states of all hosts of a fleet, by name and state, and why others are unreadable.

    The latter is a sentence by the name of the set.
    """
    found, unreadable = [], {}
    for folder in sorted(fleet.glob("host=*")):
        if not _FOLDER.fullmatch(folder.name) or not (folder / "set.json").is_file():
            continue  # half made: the next merge makes it whole
        try:
            found.append(read_set(folder))
        except (CopycostError, OSError) as error:
            unreadable[folder.name.removeprefix("host=")] = str(error)
    return sorted(found, key=lambda one: (one.host, one.state)), unreadable


def read_set(folder: Path) -> HostSet:
    """Return the state of a host that lies in a folder."""
    try:
        said = SET.read(folder / "set.json")
    except CopycostError as error:
        raise _to_be_merged_again(error) from None
    one = HostSet(
        folder.parent, said["host"], said["state"], tuple(said["changes"]), said["content"],
        said.get("source"),
    )  # fmt: skip
    if one.folder != folder:
        raise DataError(
            f"{folder}: set.json describes {one.host}, state {one.state}; a folder of "
            "a fleet is not renamed: merge its export under the other name"
        )
    return one


def _to_be_merged_again(error: CopycostError) -> DataError:
    found = str(error).partition("; expected")[0]
    return DataError(f"{found}; remove the folder and merge what it was made of again")


def state_of_name(name: str) -> tuple[str, int]:
    """Return the host and the number of the state that a set's name tells."""
    host, _, state = name.partition("_")
    return host, int(state or 1)


def describe(one: HostSet) -> HostSet:
    """Write ``set.json`` of all that a set's folder holds by now; it comes last.

    Until it is there, or where it is of another content, the set is not whole.
    """
    _, content = one.contents()
    said = {
        "schema_version": SET_VERSION, "host": one.host, "state": one.state,
        "changes": list(one.changes), "n_records": len(one.records), "content": content,
    } | ({"source": one.source} if one.source else {})  # fmt: skip
    SET.write(said, one.folder / "set.json")
    return replace(one, content=content)
