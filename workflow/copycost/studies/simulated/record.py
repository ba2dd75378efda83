"""The record of a simulated cell: its shape, how it is checked, read and written."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict

from copycost.build.checkout import SCHEMAS
from copycost.errors import CopycostError, DataError
from copycost.grid.variants import PLAIN
from copycost.records.kind import RecordKind
from copycost.records.record import Status

SCHEMA_PATH = SCHEMAS / "simulated.schema.yaml"
SCHEMA_VERSION = 2


class SimulatedRecord(TypedDict):
    """One cell; keys as in `simulated.schema.yaml`, which describes each with its unit.

    From `guest` on they are None unless `status` is measured, and `receiver` where nobody receives.
    There are no times in it, so that two runs write the same file.
    """

    schema_version: int
    study: str
    cell: dict[str, Any]
    status: Status
    reason: str | None
    remedy: str | None
    settings: dict[str, Any]
    guest: dict[str, Any] | None
    assumed: dict[str, list[str]] | None
    sender: dict[str, Any] | None
    receiver: dict[str, Any] | None
    counted: dict[str, Any] | None


# see `RecordKind`
_SIMULATED: RecordKind[SimulatedRecord] = RecordKind(
    SCHEMA_PATH, "a record of simulated counts", "that cell"
)
read_simulated, write_simulated = _SIMULATED.read, _SIMULATED.write


def simulated_problem(path: Path) -> str | None:
    """Return what is wrong with a record, None where nothing is."""
    try:
        read_simulated(path)
    except CopycostError as error:
        return str(error)
    return None


def machine_of(paths: Iterable[Path]) -> dict[str, Any] | None:
    """Return what counted the cells with nothing changed: `caches`, `guest` and `assumed`.

    None where none was counted.

    Raises
    ------
    DataError
        If not all of these cells were counted by the same.
    """
    found = None
    for path in paths:
        record = read_simulated(path)
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
