"""What became of each repetition, by its record.

To read and check a thousand records takes a second or two, and each start asks for all of them. So
what they say is kept with the times and sizes of their files, and those that are as they were are
not read again. Where that is missing or damaged, or after an edit of the package, all of them are.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycost.config import simulated
from copycost.config.cells import RAW_ROOT
from copycost.config.checkout import ROOT
from copycost.errors import DataError
from copycost.records.files import reason_of, write_whole
from copycost.records.reading import REPETITIONS, UNUSABLE, Readable
from copycost.snakefile.dependencies import digest_of_code
from copycost.studies.memory.record import MEMORY
from copycost.studies.profile.folded import folded_path, read_folded
from copycost.studies.profile.grid import STUDY as PROFILE
from copycost.studies.simulated.reading import SIMULATED

MEMORY_PATH = "results/memory.json"

# Status of a file that is no record of ours: cut short by a full disk, say, or changed.
UNREADABLE = "unreadable"

KNOWN_PATH = Path(".snakemake/copycost_records.json")
"""What records said when they were read last, by their paths."""

_SIMULATED = Path(RAW_ROOT, simulated.STUDY)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one repetition, whose record may be that of others of its cell too.

    Status and reason are as the record says, `UNREADABLE` and why where it cannot be used; the
    digest is of the state of the host that it is of, None where the record does not say.
    """

    path: Path
    status: str
    reason: str | None
    host_digest: str | None = None


def outcomes(paths: Iterable[Path]) -> list[Outcome]:
    """Return the outcome of each record that exists."""
    known = _read_known()
    found, n_read = [], 0
    for path in paths:
        name, stamp = str(path), _stamp(path)
        if not stamp or known.get(name, [[]])[0] != stamp:
            try:
                known[name] = [stamp, _read(path)]
                n_read += 1
            except FileNotFoundError:
                continue
            except UNUSABLE as error:
                found.append(Outcome(path, UNREADABLE, reason_of(error, path)))
                continue
        found += [Outcome(path, *said) for said in known[name][1]]
    if n_read:
        with suppress(DataError):  # on a full disk they are read again next time
            write_whole(json.dumps({"package": _package(), "records": known}), KNOWN_PATH)
    return found


def kind_of(path: Path) -> Readable[Any]:
    """Return what kind of record lies at a path: of any study, or the memory floor."""
    if str(path) == MEMORY_PATH:
        return MEMORY
    return SIMULATED if path.is_relative_to(_SIMULATED) else REPETITIONS


def _read(path: Path) -> list[tuple[str, str | None, str | None]]:
    """Return what each record of a file says: status, reason, and digest of the host."""
    records = kind_of(path).read(path)
    if records[0].get("study") == PROFILE and records[0]["status"] == "measured":
        read_folded(folded_path(path))
    return [(one["status"], one["reason"], one.get("host_digest")) for one in records]


def _stamp(path: Path) -> list[int]:
    """Return what changes with the file of a record, or its stacks; nothing where it is gone.

    Not the time of its content, which a program may set.
    """
    files = [path, folded_path(path)] if PROFILE in path.parts else [path]
    try:
        stats = [file.stat() for file in files]
    except OSError:
        return []
    return [number for one in stats for number in (one.st_ctime_ns, one.st_size)]


def _read_known() -> dict[str, list[Any]]:
    """Return by path what is known of records: stamp, status, reason, digest of the host."""
    try:
        kept = json.loads(KNOWN_PATH.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    is_current = isinstance(kept, dict) and kept.get("package") == _package()
    return dict(kept["records"]) if is_current else {}


def _package() -> str:
    """Return what tells one state from another of all that records are checked by."""
    return digest_of_code(ROOT, Path(__file__).relative_to(ROOT))
