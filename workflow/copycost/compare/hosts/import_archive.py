"""The results of one host as somebody hands them on: read, and checked to the last value."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from copycost.compare.hosts.archive_reader import MOST_BYTES, MOST_FILES, Store, open_store
from copycost.compare.hosts.host_results import EXPORT, FACTS, STUDIES
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

_R = TypeVar("_R", bound=Mapping[str, Any])

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
    store = open_store(path)
    found, records = _read(store, path)
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


def _read(store: Store, path: Path) -> tuple[dict[str, Any], list[Record]]:
    """Return what the files beside the records hold, by name, and the records by their start.

    DataError names the first few problems of all files.
    """
    names = list(islice(store.names, MOST_FILES + 1))
    if len(names) > MOST_FILES:
        raise DataError(f"{path}: holds more than {MOST_FILES} records; merge a part of it")
    beside: dict[str, Any] = {}
    records: list[Record] = []
    problems: list[str] = []
    n_bytes = 0
    for name in names:
        try:
            content = store.read(name)
            n_bytes += len(content)
            if n_bytes > MOST_BYTES:
                problems.append(f"the files are larger than {MOST_BYTES >> 20} MiB together")
                break
            _require_plain(content)
            if name.startswith("raw"):
                records += _records_in(content, name)
            else:
                beside[name] = _facts_in(content, name, store)
        except CopycostError as error:
            said = _short(error)
            problems.append(said if said.startswith(shown(name)) else f"{shown(name)}: {said}")
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            # what a schema leaves open, such as the options of a program, may be anything
            problems.append(f"{shown(name)}: no row can be made of it ({type(error).__name__})")
    needed = {"host.json", "export.json"} if store.is_archive else {"host.json"}
    problems += [f"{name} is missing" for name in sorted(needed.difference(names))]
    if problems:
        more = len(problems) - _N_SHOWN
        rest = [f"and {more} more like these"] if more > 0 else []
        raise DataError("\n  ".join([f"{path}: refused", *problems[:_N_SHOWN], *rest]))
    return beside, sorted(records, key=lambda one: (one["boot_id"], one["start_ns"]))


def _require_plain(content: bytes) -> None:
    text = content.decode("utf-8", errors="replace")
    if _CONTROL.search(text) or _ESCAPED.search(text):
        raise DataError("holds control characters, as no file of ours does")


def _facts_in(content: bytes, name: str, store: Store) -> Any:  # noqa: ANN401 - facts of any kind
    if name in _KINDS:
        found = _KINDS[name].check(_KINDS[name].load(content, name), name)
    elif store.is_archive:
        raise DataError("is in no export")
    else:
        found = FACTS.check(parse_yaml(content.decode("utf-8", errors="replace"), name), name)
    if name == "host.json" and not isinstance(found.get("identity"), dict):
        raise DataError("has no section identity; expected the facts of a host")
    return found


def _records_in(content: bytes, name: str) -> list[Record]:
    """Return the records in a file of that name, each of which is of the cell that it says."""
    records = []
    for number, found in enumerate(several(load_record(content, shown(name)))):
        version = found.get("schema_version") if isinstance(found, dict) else None
        if version != SCHEMA_VERSION:
            raise DataError(
                f"has schema version {version if isinstance(version, int) else 'none'}, and this "
                f"copycost reads {SCHEMA_VERSION}; export with the release that measured it"
            )
        record = check_record(found, shown(name))
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
        records.append(record)
    return records


def _short(error: CopycostError) -> str:
    """Return what was found, without what this run's own user would have to do."""
    return shown(str(error).partition("; expected")[0], 300)
