"""Many records are read at once, and what is wrong with any is told for all."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from copycost.errors import CopycostError, DataError
from copycost.records.consistency import require_place
from copycost.records.contradictions import require_possible_machines
from copycost.records.derive import derive_row
from copycost.records.record import Record, read_record

_N_SHOWN = 5
_OF_CELLS = ("streams", "round_trips")
_T = TypeVar("_T")


def read_all(paths: Iterable[Path], make: Callable[[Record], _T]) -> list[_T]:
    """Return what `make` makes of each record; what is wrong with any is told for all at once.

    Raises
    ------
    DataError
        If a record cannot be read, is of another cell than its path says, tells of machines what
        cannot be, or `make` refuses it.
    """
    return gather(paths, lambda path: _read_one(path, make))


def gather(paths: Iterable[Path], read: Callable[[Path], _T]) -> list[_T]:
    """Return what `read` makes of each file; what is wrong with any is told for all at once.

    Raises
    ------
    DataError
        If `read` refuses a file.
    """
    made = []
    problems = []
    for path in paths:
        try:
            made.append(read(path))
        except CopycostError as error:
            problems.append(str(error))
    if problems:
        more = len(problems) - _N_SHOWN
        raise DataError(
            "\n".join(
                [
                    *problems[:_N_SHOWN],
                    *([f"and {more} more records like these"] if more > 0 else []),
                    "./run retry-failed measures just these again",
                ]
            )
        )
    return made


def read_file(path: Path, read: Callable[[Path], _T]) -> _T:
    """Return what `read` makes of a file.

    Raises
    ------
    DataError
        If there is no such file, or no right to read it.
    """
    try:
        return read(path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}); expected a record, so run again to "
            "measure what it is of"
        ) from error


def problem_of(path: Path) -> str | None:
    """Return what is wrong with a record, None where a row can be made of it."""
    try:
        _read_one(path, _row_if_any)
    except CopycostError as error:
        return str(error)
    return None


def _row_if_any(record: Record) -> object:
    """Return the row of a record whose table is that of cells; others have tables of their own."""
    return derive_row(record) if record["study"] in _OF_CELLS else None


def _read_one(path: Path, make: Callable[[Record], _T]) -> _T:
    record = read_file(path, read_record)
    require_place(path, record)
    try:
        require_possible_machines(record)
        return make(record)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
