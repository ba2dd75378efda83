"""Many records are read at once; one that cannot be used costs itself alone."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.errors import CopycostError, DataError
from copycost.records.files import LOST, keep_aside, reason_of
from copycost.records.json_schema import RecordKind
from copycost.records.record import RECORD, SCHEMA_VERSION, Record

R = TypeVar("R")
T = TypeVar("T")

UNUSABLE = (CopycostError, OSError, ArithmeticError, KeyError, TypeError, ValueError)
"""What comes of a record that cannot be used; a schema leaves open what a program's options are."""

ELSEWHERE = "it is of another host, or another state of this one"
REMEDY = "run again: it is measured again"
_NO_HOST = "0" * 64
_MOST_TRIES = 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Readable(Generic[R]):
    """How records of a kind are read, and what takes the place of one that cannot be.

    `state_of` returns what all of a table must have alike, such as the host; None where any will
    do. `lost` returns the record of what failed since it was lost, from its path, why, and a record
    of the same table, if any is left.
    """

    kind: RecordKind[R]
    state_of: Callable[[R], object]
    lost: Callable[[Path, str, R | None], R]

    def read(self, path: Path) -> list[R]:
        """Return the records in a file; one of `UNUSABLE` where one is none of this place."""
        records = self.kind.read_all(path)
        for number, record in enumerate(records):
            _require_place(path, cast("Mapping[str, Any]", record), number)
        return records

    def replace(self, path: Path, why: str, like: R | None = None) -> R:
        """Set a file aside, and return the failed record that lies in its place from now on."""
        _log.warning("%s: set aside: %s", path, why)
        if path.exists():
            keep_aside(path, why)
        record = self.lost(path, LOST + why, like)
        self.kind.write(record, path)
        return record

    def measured(self, path: Path, measure: Callable[[], R], check: Callable[[R], object]) -> R:
        """Measure until the record, which will lie at a path, can be used, a few times at most.

        `check` fails with one of `UNUSABLE` where no row can be made of it: what a job has measured
        is checked by that job, as those will that make tables of it. If none can be used, the
        record is that of a failed repetition.
        """
        for _ in range(_MOST_TRIES):
            record = measure()
            try:
                check(record)
                self.kind.text(record, path)  # a number may be none that JSON has
                return record
            except UNUSABLE as error:
                why = reason_of(error, path)
                _log.warning("what was measured cannot be used: %s", why)
        return self.lost(path, f"{_MOST_TRIES} tries gave nothing of use: {why}", record)


def _require_place(path: Path, record: Mapping[str, Any], number: int) -> None:
    """Refuse a record of another study, cell or repetition than its path says, from 0 in a file."""
    cell = dict(record.get("cell", {}))
    if "rep" in cell:
        cell["rep"] -= number
    words = [f"{name}={value}" for name, value in cell.items()]
    words += [record["study"]] if words else []
    folders = path.with_suffix("").parts
    if other := [word for word in words if word not in folders]:
        raise DataError(f"{path}: it is of another repetition ({', '.join(other)})")


def read_all(
    paths: Iterable[Path], make: Callable[[R], T], kind: "Readable[R] | None" = None
) -> list[T]:
    """Return what `make` makes of each record, by default of repetitions, file by file.

    Of a file that cannot be read, is of another cell than its path says, is of another state of
    the host than most, or of which `make` refuses a record, it is what `make` makes of the failed
    record in its place.
    """
    readable: Readable[Any] = kind or REPETITIONS
    made: dict[Path, list[T]] = {}
    states: dict[Path, object] = {}
    lost: dict[Path, str] = {}
    like = None
    for path in paths:
        made[path] = []  # in this order
        try:
            records = readable.read(path)
            made[path] = [make(record) for record in records]
            states[path] = readable.state_of(records[0])
            like = records[0]
        except UNUSABLE as error:
            lost[path] = reason_of(error, path)
    known = Counter(state for state in states.values() if state is not None)
    usual = known.most_common(1)[0][0] if known else None
    lost |= {path: ELSEWHERE for path, state in states.items() if state not in (None, usual)}
    for path, why in lost.items():
        made[path] = [make(readable.replace(path, why, like))]
    return [one for of_file in made.values() for one in of_file]


def foreign_files(raw: Path) -> list[str]:
    """Log, and return, a sentence per file below `raw` that is no record, and is not looked at.

    Records that are not asked for are left from a larger grid, which may grow back.
    """
    sentences = []
    for path in sorted(raw.rglob("*")):
        try:
            Cell.from_path(str(path))
        except DataError:
            if path.is_file():
                sentences.append(f"{path}: not a record of copycost; ignored, move it elsewhere")
                _log.warning(sentences[-1])
    return sentences


NO_STAMPS: dict[str, Any] = {
    **{"host_digest": _NO_HOST, "commit": None, "boot_id": "unknown", "started_at": "unknown"},
    **{"start_ns": 0, "end_ns": 0, "lock_wait_s": 0.0, "wall_s": 0.0, "warnings": []},
}
"""What a record says of when and where, if nobody knows."""


def _state_of(record: Record) -> str | None:
    return None if record["host_digest"] == _NO_HOST else record["host_digest"]


def _lost(path: Path, reason: str, like: Record | None) -> Record:
    cell = Cell.from_path(str(path))
    settings = Settings(0.0, 1.0, congestion_control="").as_params() | {"ring_bytes": None}
    unknown = {"schema_version": SCHEMA_VERSION, "settings": settings, **NO_STAMPS}
    found = cast("Record", dict(like or unknown))
    found |= {"study": cell.study, "cell": cell.key, "status": "failed", "reason": reason}
    found |= {"remedy": REMEDY, "testbed": None, "driver": None, "window": None, "observed": {}}
    return found | {"undisturbed": None, "warnings": []}


REPETITIONS = Readable(RECORD, _state_of, _lost)
"""Records of repetitions, of all studies but simulated ones."""
