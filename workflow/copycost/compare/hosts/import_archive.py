"""The results of one host as somebody hands them on: read, and checked to the last value."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from copycost.compare.hosts.archive_reader import (
    MOST_BYTES,
    MOST_FILES,
    STUDIES,
    Store,
    open_store,
)
from copycost.compare.hosts.host_results import EXPORT, FACTS
from copycost.compare.hosts.names import name_of, require_name, shown
from copycost.compare.hosts.privacy import SECTIONS, peers_of, without_private
from copycost.config.capabilities import RECEIVERS
from copycost.config.testbeds import TESTBEDS, kind_of
from copycost.config.text import parse_yaml
from copycost.errors import CopycostError, DataError
from copycost.records.json_schema import RecordKind, several
from copycost.records.record import (
    SCHEMA_VERSION,
    Record,
    cell_of,
    check_record,
    host_digest,
    load_record,
)
from copycost.studies.memory.record import MEMORY, MemoryRecord
from copycost.studies.round_trips.table import row_of_grid
from copycost.wording.words import agree, plural

_R = TypeVar("_R", Record, MemoryRecord)

_N_SHOWN = 5
_LONGEST_NAME = 64
# No file of ours has these, and a terminal would obey them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u00[01189][0-9a-f]|u007f|u20[26][0-9a-e]|[bfr])", re.I)


_KINDS: Mapping[str, RecordKind[Any]] = {
    "host.json": FACTS, "config.json": FACTS, "export.json": EXPORT, "memory.json": MEMORY.kind,
}  # fmt: skip
"""What an export holds beside records; a run has config.yaml instead of its configuration."""

Naming = Literal["given", "told", "made"]


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
    naming: Naming
    host: Mapping[str, Any]
    config: Mapping[str, Any]
    memory: MemoryRecord | None
    records: Sequence[Record]
    n_elsewhere: int


def read_parcel(path: Path, name: str | None = None) -> Parcel:
    """Read an export, or the results of a run, and check all that is in it.

    Parameters
    ----------
    path
        An archive or a folder.
    name
        What the host shall be called; None for what the export says, or a name made of what it is.
    """
    store = open_store(path)
    names = list(islice(store.names, MOST_FILES + 1))
    if len(names) > MOST_FILES:
        raise DataError(f"{path}: holds more than {MOST_FILES} records; merge a part of it")
    records = [each for each in names if each.startswith("raw")]
    problems: list[str] = []
    found = _beside_records(store, [each for each in names if each not in records], problems)
    host, export = found.get("host.json"), found.get("export.json", {})
    told = found.get("config.json") or found.get("config.yaml") or {}
    needed = ["host.json", "export.json"] if store.is_archive else ["host.json"]
    problems = problems or [f"{each} is missing" for each in needed if each not in found]
    kept, n_elsewhere = _records(store, records, host_digest(host or {}), problems)
    if problems:
        shown_problems = [f"{path}: refused", *problems[:_N_SHOWN]]
        if len(problems) > _N_SHOWN:
            shown_problems.append(f"and {len(problems) - _N_SHOWN} more like these")
        raise DataError("\n  ".join(shown_problems))
    assert host is not None
    if not kept:
        raise DataError(
            f"{path}: no record is of the host that host.json describes; measure there again"
        )
    if not any(one["study"] == "streams" and one["status"] == "measured" for one in kept):
        raise DataError(
            f"{path}: no stream was measured; expected throughputs of two ways to send at least"
        )
    peers = peers_of(told, kept)
    clean = without_private(dict(host), peers)
    digest = host_digest(clean)
    shared = {key: told[key] for key in SECTIONS if key in told}
    made = name_of(clean["identity"])
    said = export.get("name") or (told.get("hosts") or {}).get("alias")
    said = require_name(said, str(path)) if isinstance(said, str) and said != "auto" else None
    return Parcel(
        source=str(path),
        name=name or said or made,
        naming="given" if name else "told" if said not in (None, made) else "made",
        host=clean,
        config=without_private(shared, peers),
        memory=_handed_on(memory, peers, digest) if (memory := found.get("memory.json")) else None,
        records=[_handed_on(one, peers, digest) for one in kept],
        n_elsewhere=n_elsewhere,
    )


def _handed_on(record: _R, peers: Sequence[str], digest: str) -> _R:
    clean = dict(without_private(record, peers)) | {"host_digest": digest}
    return cast("_R", clean)


def _beside_records(store: Store, names: Sequence[str], problems: list[str]) -> dict[str, Any]:
    """Return what the files beside the records hold, by their names."""
    found: dict[str, Any] = {}
    for name in names:
        try:
            if name in _KINDS:
                kind = _KINDS[name]
                found[name] = kind.check(kind.load(_text(store, name), name), name)
            elif not store.is_archive:
                text = _text(store, name).decode("utf-8", errors="replace")
                found[name] = FACTS.check(parse_yaml(text, name), name)
            else:
                problems.append(f"holds {shown(name)}, as no export does")
        except CopycostError as error:
            problems.append(_short(error))
    if "host.json" in found and not isinstance(found["host.json"].get("identity"), dict):
        problems.append("host.json: has no section identity; expected the facts of a host")
        del found["host.json"]
    return found


def _records(
    store: Store, names: Sequence[str], digest: str, problems: list[str]
) -> tuple[list[Record], int]:
    kept: list[Record] = []
    versions: Counter[object] = Counter()
    n_elsewhere = n_bytes = 0
    for name in names:
        try:
            content = _text(store, name)
            n_bytes += len(content)
            if n_bytes > MOST_BYTES:
                problems.append(f"the records are larger than {MOST_BYTES >> 20} MiB together")
                break
            records = []
            for number, found in enumerate(several(load_record(content, shown(name)))):
                version = found.get("schema_version") if isinstance(found, dict) else None
                if version != SCHEMA_VERSION:
                    versions[version if isinstance(version, int) else "none"] += 1
                    continue
                records.append(check_record(found, shown(name)))
                _require_known(records[-1], name, number)
                row_of_grid(records[-1])  # refuses what no machine can give
        except CopycostError as error:
            said = _short(error)
            problems.append(said if said.startswith("raw") else f"{shown(name)}: {said}")
            continue
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            # what a schema leaves open, such as the options of a program, may be anything
            problems.append(f"{shown(name)}: no row can be made of it ({type(error).__name__})")
            continue
        here = [record for record in records if record["host_digest"] == digest]
        kept += here
        n_elsewhere += len(records) - len(here)
    for version, number in versions.items():
        problems.append(
            f"{plural(number, 'record')} {agree(number, 'has')} schema version {version}, and"
            f" this copycost reads {SCHEMA_VERSION}; export with the release that measured them"
        )
    return sorted(kept, key=lambda one: (one["boot_id"], one["start_ns"])), n_elsewhere


def _require_known(record: Record, name: str, number: int) -> None:
    """Refuse a record of another place than its name and number say, or of what is not known."""
    cell = cell_of(record)
    cell = replace(cell, rep=cell.rep - number)
    texts = [text for text in record["cell"].values() if isinstance(text, str)]
    if record["study"] not in STUDIES or cell.path != f"results/{name}":
        raise DataError("holds the record of another repetition")
    if any(len(text) > _LONGEST_NAME for text in texts):
        raise DataError("has a name of more than 64 letters")
    for word, known in ((kind_of(cell.testbed), TESTBEDS), (cell.receiver, RECEIVERS)):
        if word not in known:
            raise DataError(f"{word} is not known to this release; expected {', '.join(known)}")


def _text(store: Store, name: str) -> bytes:
    """Return the content of a file without control characters."""
    content = store.read(name)
    text = content.decode("utf-8", errors="replace")
    if _CONTROL.search(text) or _ESCAPED.search(text):
        raise DataError(f"{shown(name)}: holds control characters, as no file of ours does")
    return content


def _short(error: CopycostError) -> str:
    """Return what was found, without what this run's own user would have to do."""
    return shown(str(error).partition("; expected")[0], 300)
