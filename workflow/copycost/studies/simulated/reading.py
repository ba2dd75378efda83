"""The records of simulated cells are read: each where it lies, and what is wrong told for all."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from copycost.errors import CopycostError, DataError
from copycost.grid.cells import Cell
from copycost.grid.variants import PLAIN
from copycost.records.reading import gather, read_file
from copycost.studies.simulated.counts import LEVELS, SIDES
from copycost.studies.simulated.record import SimulatedRecord, read_simulated

_N_SHOWN = 3


def read_cells(paths: Iterable[Path]) -> list[SimulatedRecord]:
    """Return the record of each path.

    Raises
    ------
    DataError
        If a record breaks its schema, is of another cell than its path says, or its counts
        contradict one another; what is wrong with any is told for all at once.
    """
    return gather(paths, _read_cell)


def simulated_problem(path: Path) -> str | None:
    """Return what is wrong with a record, None where nothing is."""
    try:
        _read_cell(path)
    except CopycostError as error:
        return str(error)
    return None


def machine_of(paths: Iterable[Path]) -> dict[str, Any] | None:
    """Return what counted the cells with nothing changed: `caches`, `guest` and `assumed`.

    None where none was counted.

    Raises
    ------
    DataError
        If not all of these cells were counted by the same, or as of `read_cells`.
    """
    places = list(paths)
    found = None
    for path, record in zip(places, read_cells(places), strict=True):
        if record["counted"] is None or record["cell"]["variant"] != PLAIN:
            continue
        machine = {"caches": record["counted"]["caches"]}
        machine |= {"guest": record["guest"], "assumed": record["assumed"]}
        if found is not None and machine != found:
            raise DataError(
                f"{path}: another guest or other caches than of the cells before it; delete "
                f"{path.parents[4]} to count all again"
            )
        found = machine
    return found


def _read_cell(path: Path) -> SimulatedRecord:
    record = read_file(path, read_simulated)
    if Cell.from_path(str(path)).key != record["cell"]:
        raise DataError(
            f"{path}: holds the cell {record['cell']}, expected the one that its path names; "
            "delete it to count that cell again"
        )
    found = list(_contradictions(record["counted"] or {"functions": {}}))
    if found:
        raise DataError(
            f"{path}: {'; '.join(found[:_N_SHOWN])}; expected no more misses than of the level "
            "before, so the record was damaged: delete it to count that cell again"
        )
    return record


def _contradictions(counted: dict[str, Any]) -> Iterator[str]:
    """Yield where a level misses more than the one before, which alone asks it for lines.

    What a prefetcher fetches is no miss, so that this holds with one too.
    """
    for side in SIDES:
        for row in counted["functions"].get(side, ()):
            for kind in ("load", "store"):
                misses = row[f"{kind}_misses"]
                for near, far in pairwise(LEVELS):
                    if misses[far] > misses[near]:
                        yield (
                            f"{kind}s of the {side}'s {row['name']} miss {far} {misses[far]} "
                            f"times and {near} {misses[near]}"
                        )
